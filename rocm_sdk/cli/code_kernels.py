"""`rocm-sdk code FILE... --kernels`: the kernels of code objects."""

from __future__ import annotations

import json
import sys
import tempfile

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.rewriting.kernels import Kernel, kernels_in

from .output import complain, tell

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes
# What is told of a kernel: the key of its metadata, and a word.
_FACTS = (
    (".vgpr_count", "VGPRs"),
    (".sgpr_count", "SGPRs"),
    (".group_segment_fixed_size", "bytes of LDS"),
    (".private_segment_fixed_size", "bytes of scratch"),
)


def print_kernels(names: list[str], for_programs: bool) -> int:
    """Prints the kernels of each file; status 1 if one cannot be read, or none has any."""
    found: list[dict[str, object]] = []
    count, failed = 0, False
    for name in names:
        kernels: list[dict[str, object]] = []
        try:
            for kernel in kernels_in(name, tempfile.gettempdir()):
                count += 1
                if for_programs:
                    kernels.append(kernel._asdict())
                else:
                    tell(f"{name}   {_line(kernel)}")
        except RocmSdkError as error:
            complain(f"{error.message} [{error.code}]", error.fix)
            failed = True
        except OSError as error:
            complain(f"{error.filename or name}: {error.strerror}")
            failed = True
        found.append({"path": name, "kernels": kernels})
    if for_programs:
        json.dump({"schema": _SCHEMA, "files": found}, sys.stdout, indent=2, default=str)
        sys.stdout.write("\n")
    elif not count and not failed:
        complain("no file has kernels")
    return 0 if count and not failed else 1


def _line(kernel: Kernel) -> str:
    facts = [f"{kernel.metadata[key]} {word}" for key, word in _FACTS if key in kernel.metadata]
    return f"{kernel.target}   {kernel.name}{'   ' if facts else ''}{', '.join(facts)}"
