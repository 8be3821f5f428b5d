"""`rocm-sdk code FILE... --kernels`: the kernels of code objects."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial

from rocm_sdk.gpu_code.kernels import Kernel, kernels_in
from rocm_sdk.terminal.output import attempt, complain, tell

from .demangled import demangled

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
# What is shown of a kernel: the key in its metadata, and a label.
_FACTS = (
    (".vgpr_count", "VGPRs"),
    (".sgpr_count", "SGPRs"),
    (".group_segment_fixed_size", "bytes of LDS"),
    (".private_segment_fixed_size", "bytes of scratch"),
)


def print_kernels(names: list[str], for_programs: bool) -> int:
    """Prints the kernels of each file; status 1 if one cannot be read, or none has any."""
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
    for kernel in kernels:
        source = (sources or {}).get(kernel.name)
        found.append({**kernel._asdict(), "demangled": source})
        if not for_programs:
            tell(f"{name}   {_line(kernel, source or kernel.name)}")


def _line(kernel: Kernel, name: str) -> str:
    facts = [f"{kernel.metadata[key]} {word}" for key, word in _FACTS if key in kernel.metadata]
    return f"{kernel.target}   {name}{'   ' if facts else ''}{', '.join(facts)}"
