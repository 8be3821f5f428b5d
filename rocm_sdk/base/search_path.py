"""Search paths as the dynamic linker reads them: that of LD_LIBRARY_PATH, and those of libraries."""

from __future__ import annotations

import os
import re

_ORIGIN = re.compile(r"\$(?:ORIGIN|\{ORIGIN\})")


def entries_of(library_path: str) -> list[str]:
    """The entries of a value of LD_LIBRARY_PATH, without empty ones. A semicolon separates them, too."""
    return [entry for entry in re.split("[:;]", library_path) if entry]


def expanded(entry: str, library: str) -> str | None:
    """An entry of DT_RPATH or DT_RUNPATH with the directory of its library for $ORIGIN, not normalised.

    library: its path. None if the entry names what only the linker knows: $LIB, $PLATFORM.
    """
    if "$" in _ORIGIN.sub("", entry):
        return None
    return _ORIGIN.sub(lambda _: os.path.dirname(library), entry)
