"""The GPUs for which a library holds device code, as the loader's reader finds it."""

from __future__ import annotations

import re
from pathlib import Path

from rocm_sdk import RocmSdkError, device_code
from rocm_sdk_build.errors import PackagingError

_PROCESSOR = re.compile(r"gfx[0-9a-f]+")


def read_offload_targets(path: Path) -> frozenset[str]:
    """Return the base targets (`gfx90a`, without `:xnack-`) of a library's device code; empty if there is no code.

    Raise PackagingError if the library cannot be read.
    """
    try:
        targets = device_code(path).targets
    except RocmSdkError as error:
        raise PackagingError(f"{path}: {error.detail}") from error
    processors = {each.target.partition(":")[0] for each in targets}
    return frozenset(name for name in processors if _PROCESSOR.fullmatch(name))


def in_hardware_order(targets: frozenset[str]) -> list[str]:
    """Return the targets sorted as versions: gfx90a before gfx1030.

    The last two digits are minor version and stepping.
    """
    return sorted(targets, key=lambda target: (len(target), target))
