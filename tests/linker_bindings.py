"""The bindings of the dynamic linker, as it tells them: the judge of rocm_sdk.bindings."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

Key = tuple[str, str, str | None]  # library, symbol, version

_LINE = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: \w+ symbol `([^']+)'(?: \[(\S+)\])?")


class MismatchError(Exception):
    """The error for a finder and a linker that do not agree."""


def debugging(told: Path) -> dict[str, str]:
    """Return the variables with which a process tells its bindings, in files whose names begin with `told`."""
    return {"LD_DEBUG": "bindings", "LD_BIND_NOW": "1", "LD_DEBUG_OUTPUT": str(told)}


def linker_bindings(told: Path) -> dict[Key, set[str]]:
    """Return the files that answered each reference, by their real paths."""
    found: dict[Key, set[str]] = defaultdict(set)
    real = cache(os.path.realpath)  # thousands of references name a few dozen files
    for path in told.parent.glob(f"{told.name}.*"):
        for library, bound, symbol, version in _LINE.findall(path.read_text()):
            found[real(library), symbol, version or None].add(real(bound))
    return found


def compare(
    what: str, references: Iterable[tuple[str, str, str | None, str | None, str]], linker: Mapping[Key, set[str]]
) -> Counter[str]:
    """Count the compared references; raise MismatchError at the first one that the linker bound otherwise.

    `references` have library, symbol, version, bound to, verdict. Bindings that no reference tells are counted as
    `without relocation`: dlsym, and the linker's own look-ups.
    """
    ours: dict[Key, set[str]] = defaultdict(set)
    real = cache(os.path.realpath)
    for library, symbol, version, bound_to, verdict in references:
        ours[real(library), symbol, version].add(real(bound_to) if bound_to else verdict)
    counts: Counter[str] = Counter()
    for key, bound in ours.items():
        if bound & {"unknown", "lazy"}:
            counts["not known"] += 1
            continue
        expected = linker.get(key, {"nothing"})
        if bound != expected:
            raise MismatchError(
                f"{what}: {key} is said to bind to {sorted(bound)}; the linker bound {sorted(expected)}"
            )
        counts["compared"] += 1
    libraries = {library for library, _, _ in ours}
    counts["without relocation"] = sum(key[0] in libraries and key not in ours for key in linker)
    return counts
