"""The lists in variables, and search paths of libraries, as the dynamic linker reads them."""

from __future__ import annotations

import os

_FURTHER_SEPARATORS = {"LD_LIBRARY_PATH": ";", "LD_PRELOAD": " "}  # beside the colon


def entries_of(variable: str, value: str) -> list[str]:
    """Return the entries of the list that a variable has, without empty ones."""
    other = _FURTHER_SEPARATORS.get(variable, ":")
    return [entry for entry in value.replace(other, ":").split(":") if entry]


def expanded(entry: str, library: str) -> str | None:
    """Return an entry of DT_RPATH or DT_RUNPATH with the directory of its library for $ORIGIN, not normalised.

    library: the path of the library. The result is None if the entry names what only the linker knows: $LIB, $PLATFORM.
    """
    parts = entry.replace("${ORIGIN}", "$ORIGIN").split("$ORIGIN")
    return None if any("$" in part for part in parts) else os.path.dirname(library).join(parts)
