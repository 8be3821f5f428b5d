"""The maker of a sample SDK of tiny libraries that are compiled from C.

The SDK has names, needs and layout of Debian's ROCm, and none of its content. The sample replaces the real SDK if there
is no apt, or if a run has to be quick.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.processes import run
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.building import prefix
from rocm_sdk_build.building.wheel_maker import make_site, make_wheels
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.packages.assignment import Assignment
from rocm_sdk_build.packages.wish import Wish

VERSION = "5.2.3"

_EMPTY = "static const int nothing __attribute__((used)) = 0;"
# Each library has the function that names it.
_COMGR = "int amd_comgr_get_version(void) { return 0; }"
_HIP = """
int hipRuntimeGetVersion(int *version) { return *version = 50200000, 0; }
int hipGetDeviceCount(void) { return 1; }
"""
_HIPRAND = """
int hiprandGetVersion(int *version) { return *version = 200000, 0; }
int hiprandCreateGenerator(void) { return 1; }
"""
_HIPSPARSE = "int hipsparseCreate(void) { return 1; }"
_ROCRAND = "int rocrand_create_generator(void) { return 1; }"
_ROCSPARSE = "int rocsparse_create_handle(void) { return 1; }"
_SMI = "int rsmi_init(void) { return 1; }"


class SampleLibrary(NamedTuple):
    """A library with its SONAME, the root of the prefix that has it, its needs, and its source."""

    soname: str
    root: str
    needed: tuple[str, ...]
    source: str


# Each library comes after the libraries that it needs.
# fmt: off
LIBRARIES = (
    SampleLibrary("libsamplehost.so.1",      "host", (),                                        _EMPTY),
    SampleLibrary("libamd_comgr.so.2",       "rocm", ("libsamplehost.so.1",),                   _COMGR),
    SampleLibrary("libhsakmt.so.1",          "rocm", ("libsamplehost.so.1",),                   _EMPTY),
    SampleLibrary("libhsa-runtime64.so.1",   "rocm", ("libhsakmt.so.1",),                       _EMPTY),
    SampleLibrary("libamdhip64.so.5",        "rocm", ("libhsa-runtime64.so.1",),                _HIP),
    SampleLibrary("libhiprtc-builtins.so.5", "rocm", (),                                        _EMPTY),
    SampleLibrary("librocm_smi64.so.1",      "rocm", (),                                        _SMI),
    SampleLibrary("librocrand.so.1",         "rocm", ("libamdhip64.so.5",),                     _ROCRAND),
    SampleLibrary("libhiprand.so.1",         "rocm", ("librocrand.so.1", "libamdhip64.so.5"),   _HIPRAND),
    SampleLibrary("librocsparse.so.0",       "rocm", ("libamdhip64.so.5",),                     _ROCSPARSE),
    SampleLibrary("libhipsparse.so.0",       "rocm", ("librocsparse.so.0", "libamdhip64.so.5"), _HIPSPARSE),
)
# fmt: on

# Path in the prefix -> content. Programs begin with `#!`.
FILES = {
    "bin/hipdemangleatp": "#!/bin/sh\n",
    "include/hip/hip_runtime.h": "int hipRuntimeGetVersion(int *version);\n",
    "lib/cmake/hip/hip-config.cmake": "set(hip_FOUND TRUE)\n",
    "lib/llvm/amdgcn/bitcode/ocml.bc": "",
}
_LINKS = {"lib/libamdhip64.so": "libamdhip64.so.5"}


def write_sample_site(shape: Shape, site: Path) -> None:
    """Write the sample SDK as pip installs it into the new directory `site`.

    Raise PackagingError if there is no compiler.
    """
    _build(Wish((), site.parent, VERSION, shape=shape, is_checked=False), partial(make_site, site=site))


def write_sample_wheels(shape: Shape, output: Path) -> list[Path]:
    """Write the sample SDK's packages into the directory `output`; return their files.

    Raise PackagingError if there is no compiler.
    """
    output.mkdir(parents=True, exist_ok=True)
    return _build(Wish((), output, VERSION, deflate=False, shape=shape, dist=output, is_checked=False))


def _build(wish: Wish, make: Callable[[Assignment], list[Path]] = make_wheels) -> list[Path]:
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=wish.output) as partial:
        rocm, host = Path(partial, "rocm"), Path(partial, "host")
        _write_prefix(Path(partial))
        wish = wish._replace(artifacts=(rocm, host))
        return prefix.build(prefix.PrefixWish(wish, is_complete=True), make=make)


def _write_prefix(directory: Path) -> None:
    for library in LIBRARIES:
        _compile(library, directory)
    rocm = directory / "rocm"
    for name, text in FILES.items():
        path = rocm / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    for name, target in _LINKS.items():
        (rocm / name).symlink_to(target)


def _compile(library: SampleLibrary, directory: Path) -> None:
    path = directory / library.root / "lib" / library.soname
    path.parent.mkdir(parents=True, exist_ok=True)
    roots = {other.soname: other.root for other in LIBRARIES}
    command = ["cc", "-shared", "-fPIC", "-nostdlib", f"-Wl,--no-as-needed,-soname,{library.soname}"]
    command += ["-Wl,--allow-shlib-undefined", "-x", "c", "-", "-x", "none"]
    command += [*(str(directory / roots[name] / "lib" / name) for name in library.needed), "-o", str(path)]
    try:
        result = run(command, given=library.source)
    except FileNotFoundError as error:
        raise PackagingError(
            "cc: not found on PATH",
            "install a C compiler: `apt-get install gcc` (Debian, Ubuntu), `dnf install gcc` (Fedora)",
        ) from error
    if result.returncode:
        raise PackagingError(f"{library.soname}: cc failed: {result.stderr.strip()}")
