"""The images of AOTriton: kernels for attention, in a directory for each kind of GPU.

An example is `aotriton.images/amd-gfx11xx`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from rocm_sdk.installed.directory_walk import walk

DIRECTORY = "aotriton.images"
_NAME = re.compile(r"amd-(gfx[0-9a-fx]+)")


def image_kinds(directories: Iterable[str]) -> tuple[str, ...] | None:
    """Return the kinds of GPU ("gfx90a", "gfx11xx") for which there are images below directories.

    The result is None without AOTriton.
    """
    kinds: list[str] = []
    is_there = False
    for directory in directories:
        for parent, names, _ in walk(directory):
            if os.path.basename(parent) == DIRECTORY:
                is_there = True
                kinds += filter(None, map(image_kind, sorted(names)))
    return tuple(dict.fromkeys(kinds)) if is_there else None


def image_kind(name: str) -> str | None:
    """Return the kind of GPU that a directory of images is for; None if it is for no kind.

    The kind of "amd-gfx11xx" is "gfx11xx".
    """
    found = _NAME.fullmatch(name)
    return found[1] if found else None


def serves(kinds: Iterable[str], gpu: str) -> bool:
    """Return whether one of the kinds includes the GPU: an x stands for any digit."""
    processor = gpu.partition(":")[0]
    return any(re.fullmatch(kind.replace("x", "[0-9a-f]").replace("gf[0-9a-f]", "gfx", 1), processor) for kind in kinds)


def remarks(kinds: tuple[str, ...] | None, gpu: str) -> Iterator[str]:
    """Yield the remarks of a line on a GPU."""
    if kinds is not None and not serves(kinds, gpu):
        listed = ", ".join(kinds) or "it has none at all"
        yield f"AOTriton has no images for it ({listed}): attention takes slower kernels"
