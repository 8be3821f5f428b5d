"""Situations: files that are damaged, gone, or something else."""

import base64
import hashlib
import os
from pathlib import Path

from sample_site import CORE, LIBRARIES
from sdk_environment import POINTER, Environment
from situations import (
    BLAS,
    HIP,
    HSA,
    METADATA,
    Situation,
    by_hand,
    compile_to,
    extracted_tree,
    flip,
    link_to,
    on,
    remove,
    renamed,
    replace_by,
)

_DATA = f"{LIBRARIES}/lib/rocblas/library/kernels_1.co"
_COMGR = f"{CORE}/lib/libamd_comgr.so.3"
_FACTS = "rocm_sdk_core/_dist_info.py"
_RAND = f"{CORE}/lib/librocrand.so.1"
_UNUSED = f"{CORE}/lib/librocm_smi64.so.7"


def _zeros(environment: Environment, name: str, begin: int, size: int) -> None:
    path = environment.site / name
    data = bytearray(path.read_bytes())
    data[begin : begin + size] = bytes(size)
    path.write_bytes(data)


def _exchange(environment: Environment) -> None:
    one, other = ((environment.site / name).read_bytes() for name in (HSA, HIP))
    (environment.site / HSA).write_bytes(other)
    (environment.site / HIP).write_bytes(one)


def _another_version(environment: Environment) -> None:
    path = environment.site / _FACTS
    path.write_text(path.read_text().replace("7.10.0", "7.10.1"))


def _record_of_others(environment: Environment) -> None:
    (environment.site / "numpy").mkdir()
    (environment.site / "numpy/core.py").touch()
    with (environment.site / METADATA["core"] / "RECORD").open("a", encoding="utf-8") as record:
        record.write("numpy,sha256=abc,3\n")


def _let_write(directory: Path, mode: int = 0o777) -> None:
    for path in (directory, *directory.rglob("*")):
        if not path.is_symlink():
            path.chmod(mode)


def _as_built(environment: Environment, name: str, package: str = "core") -> None:
    """Let RECORD have the digest of a file, as if the wheel had been made so."""
    data = (environment.site / name).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    record = environment.site / METADATA[package] / "RECORD"
    lines = [line for line in record.read_text().splitlines() if not line.startswith(f"{name},")]
    record.write_text("\n".join([*lines, f"{name},sha256={digest},{len(data)}", ""]))


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


# fmt: off
ROWS = (
    Situation("every user may write everywhere", "W-FILE-010", "every user of this machine may replace files of the SDK", lambda e: _let_write(e.site)),
    Situation("every user may write to HIP", "W-FILE-010", "libamdhip64.so.7 is writable by all", on(HIP, os.chmod, 0o666)),
    Situation("a directory of libraries is writable by all, as /tmp is", None, "", on(f"{CORE}/lib", os.chmod, 0o1777)),
    Situation("a group may write everywhere", None, "", lambda e: _let_write(e.site, 0o775)),
    Situation("zeros in the tables of HIP", "E-LIB-006", "libamdhip64.so.7 is damaged", lambda e: _zeros(e, HIP, 64, 600)),
    Situation("a byte of code of HIP", "E-FILE-003", "libamdhip64.so.7", on(HIP, flip), words="--deep"),
    Situation("a constructor of HIP was changed", "E-FILE-002", "libamdhip64.so.7", lambda e: compile_to(e.site / HIP, "__attribute__((constructor)) static void f(void) { __builtin_trap(); }", "libamdhip64.so.7")),
    Situation("a library of the package needs what no library has", "E-LIB-020", "does not fit what it needs", lambda e: compile_to(e.site / _RAND, "extern int nowhere(void); int f(void) { return nowhere(); }", "librocrand.so.1")),
    Situation("HIP is shorter", "E-LIB-006", "libamdhip64.so.7", on(HIP, os.truncate, 1000)),
    Situation("HSA is gone", "E-FILE-001", "libhsa-runtime64.so.1", on(HSA, remove)),
    Situation("comgr is gone", "E-FILE-001", "libamd_comgr.so.3", on(_COMGR, remove)),
    Situation("comgr is a link to /dev/null", "E-FILE-009", "a device", on(_COMGR, link_to, "/dev/null")),
    Situation("the directory lib of core was renamed", "E-FILE-008", "/lib64 has them all", renamed(f"{CORE}/lib", f"{CORE}/lib64")),
    Situation("the directory of libraries was renamed", "E-FILE-008", "_rocm_sdk_librarie has them all", renamed(LIBRARIES, LIBRARIES[:-1])),
    Situation("the directory lib of core is a link to nothing", "E-FILE-009", "a link to /nowhere/lib, which is not there, and RECORD lists files in it", on(f"{CORE}/lib", link_to, "/nowhere/lib")),
    Situation("the directory of core was renamed", "E-FILE-008", "_rocm_sdk_core.old has them all", renamed(CORE, f"{CORE}.old")),
    Situation("the facts of core are empty", "E-FILE-002", "rocm_sdk_core/_dist_info.py", on(_FACTS, os.truncate, 0)),
    Situation("the facts of core say another version", "E-FILE-003", "rocm_sdk_core/_dist_info.py", _another_version),
    Situation("HSA is a FIFO", "E-FILE-009", "FIFO", on(HSA, replace_by, os.mkfifo)),
    Situation("rocm_smi64 is a link to /dev/null, and the tree has a link to it", "E-FILE-009", "a device", lambda e: (extracted_tree(e), link_to(e.site / _UNUSED, "/dev/null"))),
    Situation("HSA is a directory", "E-FILE-009", "a directory", on(HSA, replace_by, os.mkdir)),
    by_hand("RECORD lists a directory of another package as a file", "E-FILE-009", "RECORD does not say whose the files in it are", _record_of_others),
    Situation("HSA is a link to nothing", "E-FILE-009", "which is not there", on(HSA, link_to, "nowhere")),
    Situation("HSA is a link to itself", "E-FILE-009", "leads back", on(HSA, replace_by, lambda path: path.symlink_to(path.name))),
    Situation("three files are gone", "E-FILE-008", "3 files", lambda e: [(e.site / LIBRARIES / f"lib/rocblas/library/kernels_{n}.co").unlink() for n in range(3)]),
    Situation("a directory is gone", "E-FILE-008", "files", on(f"{LIBRARIES}/lib", remove)),
    Situation("two libraries were exchanged", "E-FILE-002", "and 1 more", _exchange),
    Situation("two libraries are cut off", "E-LIB-006", "and 1 more", lambda e: [_cut(e.site / n) for n in (HSA, HIP)]),
    Situation("a library has no rights", "E-FILE-004", "libamdhip64", on(HIP, Path.chmod, 0)),
    Situation("a program may not be executed", "E-FILE-005", "rocm-smi", on(f"{CORE}/bin/rocm-smi", Path.chmod, 0o644)),
    Situation("a program is gone", "E-FILE-001", "rocm-smi", on(f"{CORE}/bin/rocm-smi", remove)),
    Situation("a script is gone", "E-FILE-001", "rocm-smi", lambda e: (e.root / "bin/rocm-smi").unlink()),
    by_hand("HSA was packaged damaged", "E-LIB-006", "Install another version of rocm-sdk-core, and tell its makers: ", lambda e: (_zeros(e, HSA, 64, 600), _as_built(e, HSA))),
    by_hand("BLAS was packaged damaged", "E-LIB-006", "Install another version of rocm-sdk-libraries, and tell its makers: ", lambda e: (_zeros(e, BLAS, 64, 600), _as_built(e, BLAS, "libraries"))),
    by_hand("HSA was packaged as a pointer of Git LFS", "E-FILE-006", "Install another version of rocm-sdk-core, and tell its makers: ", lambda e: ((e.site / HSA).write_text(POINTER), _as_built(e, HSA))),
    Situation("HSA is a pointer of Git LFS", "E-FILE-006", "Git LFS", on(HSA, Path.write_text, POINTER)),
    Situation("HSA is for another machine", "E-LIB-012", "libhsa", lambda e: _zeros(e, HSA, 18, 1)),
    Situation("data has another size", "E-FILE-002", "kernels_1", on(_DATA, Path.write_text, "other")),
    Situation("data has other contents", "E-FILE-003", "kernels_1", on(_DATA, flip), words="--deep"),
    by_hand("a file of the user lies among the SDK's", "W-PKG-019", "rm ", lambda e: (e.site / CORE / "lib/mine").touch()),
)
# fmt: on
