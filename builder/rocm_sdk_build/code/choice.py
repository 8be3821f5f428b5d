"""The choice of a bundle's code that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rocm_sdk import EmptySelectionError, gpus, targets
from rocm_sdk.installed.readers import compatibility

if TYPE_CHECKING:
    from rocm_sdk import DeviceImage

_OWN = ("exact", "compatible")
_GENERIC = "generic"
_COMPILED = "SPIR-V"
_UNOFFICIAL = "unofficial"


def chosen_gpus(selection: str, option: str) -> tuple[str, ...]:
    """Return the targets of a list, or of this machine.

    The targets of the machine have no features, since its modes can change. `option` is the option that has the list.
    Raise EmptySelectionError if no GPU of the machine is known, and UnknownTargetError for a word that is no target.
    """
    if selection != "machine":
        targets.refuse_no_target(option, selection)
        return targets.expand(selection)
    names = tuple(dict.fromkeys(gpu.processor for gpu in gpus() if gpu.processor != "unknown"))
    if not names:
        raise EmptySelectionError("no GPU of this machine is known", f"name the targets: {option} gfx942")
    return names


def choose_images(
    images: Sequence[DeviceImage], gpus: Sequence[str], unofficial: bool, exact: bool = False
) -> list[DeviceImage]:
    """Return the images that one of the GPUs runs, in their order.

    SPIR-V counts if a GPU has no other code. Code that only patched runtimes try counts with `unofficial`. With
    `exact`, generic code does not count for a GPU that has code of its own.
    """
    versions = [(image.target, image.generic_version if image.format == "code object" else None) for image in images]
    kept = _choose(versions, gpus, unofficial, exact)
    return [image for i, image in enumerate(images) if i in kept]


def choose_targets(targets: Sequence[str], gpus: Sequence[str], unofficial: bool, exact: bool = False) -> list[str]:
    """Return the targets that one of the GPUs runs, chosen as by `choose_images`, without a look at the code."""
    kept = _choose([(target, None) for target in targets], gpus, unofficial, exact)
    return [target for i, target in enumerate(targets) if i in kept]


def _choose(versions: Sequence[tuple[str, int | None]], gpus: Sequence[str], unofficial: bool, exact: bool) -> set[int]:
    """Return the indices of the versions that are kept.

    `versions` are targets, with the generic versions of code objects.
    """
    kept: set[int] = set()
    for gpu in gpus:
        fits = [_fit(target, gpu, version, unofficial) for target, version in versions]
        own = {i for i, fit in enumerate(fits) if fit in _OWN}
        ready = own if own and exact else own | {i for i, fit in enumerate(fits) if fit == _GENERIC}
        kept |= ready or {i for i, fit in enumerate(fits) if fit == _COMPILED}
        kept |= {i for i, fit in enumerate(fits) if fit == _UNOFFICIAL}
    return kept


@lru_cache(1 << 12)
def _fit(target: str, gpu: str, version: int | None, unofficial: bool) -> str:
    """Return how code of a target fits a GPU; the results are cached, since thousands of images share a few targets."""
    return compatibility(target, gpu, version, unofficial).fit
