"""The fix for two different files of one name, which an index cannot have."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from .extras import SELECTOR, IndexedFile, unmet

LEAVE_OUT = "leave one of them out"


def fix_of(directory: Path, clashing: tuple[IndexedFile, IndexedFile], files: Sequence[IndexedFile]) -> str:
    """Return the fix that makes an index of `directory` possible.

    The fix is an index for each of the two files if all their requirements are there; otherwise one selector in place
    of two. `files` are all files in the directory and directly below it.
    """
    below = sorted({each.path.parent for each in files} - {directory})
    own = [each for each in files if each.path.parent == directory]
    places = [each.path.parent for each in clashing]
    if all(place in below for place in places):
        for roots in ([directory], []):
            groups = [_index_of(place, own if roots else [], files) for place in places]
            if all(map(_is_complete, groups)):
                words = ["rocm-sdk-build", "index", str(places[1]), *(["--root", str(directory)] if roots else [])]
                return f"an index for each: {shlex.join(words)}"
    if all(each.project == SELECTOR for each in clashing):
        one = "rocm-sdk-build artifacts --only rocm with --linux-amdgpu-families and --windows-amdgpu-families of both"
        return f"make one selector for all packages, in place of these: {one}"
    return LEAVE_OUT


def _index_of(place: Path, others: Iterable[IndexedFile], files: Iterable[IndexedFile]) -> list[IndexedFile]:
    return [*(each for each in files if each.path.parent == place), *others]


def _is_complete(files: Sequence[IndexedFile]) -> bool:
    """Return whether the files can be an index.

    Each file must have a name of its own, and the requirements of our packages must be there.
    """
    names = {each.path.name: each.sha256 for each in files}
    return all(names[each.path.name] == each.sha256 for each in files) and not any(
        each.is_ours and each.is_certain for each in unmet(files)
    )
