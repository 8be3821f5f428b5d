"""For which GPUs a library holds device code, as the loader's reader finds it."""

from __future__ import annotations

import re
from pathlib import Path

from rocm_sdk import RocmSdkError, device_code
from rocm_sdk_build.errors import PackagingError

_PROCESSOR = re.compile(r"gfx[0-9a-f]+")


def read_offload_targets(path: Path) -> frozenset[str]:
    """Base targets (`gfx90a`, without `:xnack-`) of all its code; empty if the library has no device code."""
    try:
        targets = device_code(path).targets
    except RocmSdkError as error:
        raise PackagingError(f"{path}: {error.detail}") from error
    processors = {each.target.partition(":")[0] for each in targets}
    return frozenset(name for name in processors if _PROCESSOR.fullmatch(name))


def in_hardware_order(targets: frozenset[str]) -> list[str]:
    """Sorts as versions: gfx90a before gfx1030. The last two digits are minor version and stepping."""
    return sorted(targets, key=lambda target: (len(target), target))
