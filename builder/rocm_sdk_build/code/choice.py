"""Which code of a bundle is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rocm_sdk.tooling import compatibility

if TYPE_CHECKING:
    from rocm_sdk import DeviceImage

_RUNS = ("exact", "compatible", "generic")
_COMPILED = "SPIR-V"
_UNOFFICIAL = "unofficial"


def choose_images(images: Sequence[DeviceImage], gpus: Sequence[str], unofficial: bool) -> list[DeviceImage]:
    """The images that one of the GPUs runs, in their order.

    SPIR-V counts if a GPU has no other code. Code that only patched runtimes try counts if it is asked for.
    """
    kept: set[int] = set()
    for gpu in gpus:
        fits = [_fit(image, gpu, unofficial) for image in images]
        ready = {i for i, fit in enumerate(fits) if fit in _RUNS}
        kept |= ready or {i for i, fit in enumerate(fits) if fit == _COMPILED}
        kept |= {i for i, fit in enumerate(fits) if fit == _UNOFFICIAL}
    return [image for i, image in enumerate(images) if i in kept]


def _fit(image: DeviceImage, gpu: str, unofficial: bool) -> str:
    version = image.generic_version if image.format == "code object" else None
    return compatibility(image.target, gpu, version, unofficial).fit
