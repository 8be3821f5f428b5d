"""The command `rocm-sdk code FILE... --kernels`, which prints the kernels of code objects, under their target.

Where there are many, all kernels of one template or one generator are a line.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from rocm_sdk import _native
from rocm_sdk.base.value_text import counted
from rocm_sdk.terminal.output import attempt, complain, tell, tell_wrapped
from rocm_sdk.terminal.output_options import given

from .demangled import demangled

_MOST = 20  # kernels of a target that are shown each
_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
# The facts about a kernel that are shown: the key in its metadata, and a label.
_FACTS = (
    (".vgpr_count", "VGPRs"),
    (".sgpr_count", "SGPRs"),
    (".group_segment_fixed_size", "bytes of LDS"),
    (".private_segment_fixed_size", "bytes of scratch"),
)


def print_kernels(names: list[str], for_programs: bool) -> int:
    """Print the kernels of each file. Return status 1 if a file cannot be read, or none has any."""
    found: dict[str, list[dict[str, object]]] = {name: [] for name in names}
    statuses = [attempt(name, partial(_take_kernels, name, found[name], for_programs)) for name in names]
    has_any = any(found.values())
    if for_programs:
        files = [{"path": name, "kernels": kernels} for name, kernels in found.items()]
        json.dump({"schema": _SCHEMA, "files": files}, sys.stdout, indent=2, default=str)
        sys.stdout.write("\n")
    elif not any(statuses) and not has_any:
        complain("no file has kernels")
    return max(statuses) or int(not has_any)


def _take_kernels(name: str, found: list[dict[str, object]], for_programs: bool) -> None:
    kernels = list(kernels_in(name, tempfile.gettempdir()))
    sources = demangled(kernel.name for kernel in kernels)
    if sources is None:
        complain(f"{name}: the names are as the compiler has made them: libstdc++.so.6 cannot be asked for others")
    shown: dict[str, list[tuple[str, Kernel]]] = {}
    for kernel in kernels:
        source = (sources or {}).get(kernel.name)
        found.append({**kernel._asdict(), "demangled": source})
        shown.setdefault(kernel.target, []).append((source or kernel.name, kernel))
    if not for_programs:
        for target, rows in shown.items():
            tell(f"{name}   {target}   {counted(len(rows), 'kernel')}")
            for line in _lines(rows):
                tell_wrapped(line, "  ")


def _lines(rows: list[tuple[str, Kernel]]) -> Iterator[str]:
    """Yield a line for each kernel; of many, a line for kernels whose names begin alike, with their largest numbers."""
    groups: dict[str, list[tuple[str, Kernel]]] = {}
    for row in rows:
        groups.setdefault(row[0] if len(rows) <= _MOST or given.verbose else _beginning(row[0]), []).append(row)
    for beginning, group in groups.items():
        facts = _facts([kernel for _, kernel in group])
        name = group[0][0] if len(group) == 1 else f"{beginning}...   {counted(len(group), 'kernel')}"
        yield f"{name}{'   ' if facts else ''}{facts}"


def _beginning(name: str) -> str:
    """Return the beginning of a kernel's name that all kernels of its template or generator have.

    The beginning ends before the first argument or number.
    """
    return re.split(r"(?<=\w)[<(]|\d", name, maxsplit=1)[0] or name


def _facts(kernels: list[Kernel]) -> str:
    """Return the facts of kernels; of several with different numbers the least and the most."""
    said = []
    for key, word in _FACTS:
        values = [kernel.metadata[key] for kernel in kernels if isinstance(kernel.metadata.get(key), int)]
        if values:
            least, most = min(values), max(values)
            said.append(f"{least} {word}" if least == most else f"{least} to {most} {word}")
    return ", ".join(said)


class Kernel(NamedTuple):
    """A kernel of a code object."""

    target: str
    bundle: int  # number of its bundle in the file
    name: str  # as the compiler writes it: mangled, if it is C++
    metadata: dict[str | int, Any]  # the kernel's description: ".vgpr_count", ".args", ...; {} in version 2


def kernels_in(path: str, directory: str) -> list[Kernel]:
    """Return the kernels of each code object of a file, in their order.

    directory: the place for content that has to be decompressed. Raises BadLibraryError for a file or a code object
    that is damaged, the other errors of `device_code`, and OSError.
    """
    with tempfile.TemporaryFile(dir=directory, buffering=0) as scratch:
        return [Kernel(*each) for each in _native.kernels(path, scratch.fileno())]
