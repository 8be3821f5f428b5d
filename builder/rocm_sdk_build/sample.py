"""Makes a sample SDK of tiny libraries compiled from C: names, needs and layout of Debian's ROCm, none of its content.

It replaces the real one where there is no apt, and where a run has to be quick.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from .debian_development import plan_development
from .debian_rules import ABSENT_LIBRARIES
from .errors import PackagingError
from .plan import DevelopmentFile, FoundLibrary, SdkPlan, add_host_libraries, plan_library
from .sdk_rules import WHEELS
from .shared_object import read_shared_object
from .site_tree import Shape, dist_info_name, write_site_tree
from .wheels import recorded_members, wheel_tag, write_wheel

VERSION = "5.2.3"
_PACKAGE = "sample"

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
    """A library: its SONAME, its wheel (of a host library "": it goes where it is needed), its needs, its source."""

    soname: str
    wheel: str
    needed: tuple[str, ...]
    source: str


# Each after those that it needs.
# fmt: off
LIBRARIES = (
    SampleLibrary("libsamplehost.so.1",      "",          (),                                        _EMPTY),
    SampleLibrary("libamd_comgr.so.2",       "core",      ("libsamplehost.so.1",),                   _COMGR),
    SampleLibrary("libhsakmt.so.1",          "core",      ("libsamplehost.so.1",),                   _EMPTY),
    SampleLibrary("libhsa-runtime64.so.1",   "core",      ("libhsakmt.so.1",),                       _EMPTY),
    SampleLibrary("libamdhip64.so.5",        "core",      ("libhsa-runtime64.so.1",),                _HIP),
    SampleLibrary("libhiprtc-builtins.so.5", "core",      (),                                        _EMPTY),
    SampleLibrary("librocm_smi64.so.1",      "core",      (),                                        _SMI),
    SampleLibrary("librocrand.so.1",         "libraries", ("libamdhip64.so.5",),                     _ROCRAND),
    SampleLibrary("libhiprand.so.1",         "libraries", ("librocrand.so.1", "libamdhip64.so.5"),   _HIPRAND),
    SampleLibrary("librocsparse.so.0",       "libraries", ("libamdhip64.so.5",),                     _ROCSPARSE),
    SampleLibrary("libhipsparse.so.0",       "libraries", ("librocsparse.so.0", "libamdhip64.so.5"), _HIPSPARSE),
)
# fmt: on


DEVELOPMENT_FILES = (
    DevelopmentFile(PurePosixPath("bin/hipconfig"), b"#!/bin/sh\necho 5.2.3\n", is_program=True),
    DevelopmentFile(PurePosixPath("include/hip/hip_runtime.h"), b"int hipRuntimeGetVersion(int *version);\n"),
    DevelopmentFile(PurePosixPath("lib/cmake/hip/hip-config.cmake"), b"set(hip_FOUND TRUE)\n"),
    DevelopmentFile(PurePosixPath("lib/libamdhip64.so"), link="libamdhip64.so.5"),
    DevelopmentFile(PurePosixPath("lib/llvm/amdgcn/bitcode/ocml.bc")),
)


def write_sample_site(shape: Shape, site: Path) -> None:
    """Writes the sample SDK as pip would install it into the new directory `site`; PackagingError without a compiler.

    Its libraries are made in the same file system, since the tree holds hard links to them.
    """
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=site.parent) as partial:
        compiled = Path(partial, "compiled")
        compiled.mkdir()
        found = {library.soname: _compile(library, compiled) for library in LIBRARIES}
        rocm = [plan_library(found[library.soname], library.wheel) for library in LIBRARIES if library.wheel]
        libraries = tuple(add_host_libraries(rocm, found.values()))
        development = (*DEVELOPMENT_FILES, *plan_development([], libraries))
        plan = SdkPlan(VERSION, libraries, ABSENT_LIBRARIES, development, {})
        write_site_tree(plan, shape, Path(partial, "site"))
        Path(partial, "site").rename(site)


def write_sample_wheels(shape: Shape, output: Path) -> list[Path]:
    """Writes the sample SDK's wheels into the directory `output`; errors as of write_sample_site."""
    output.mkdir(parents=True, exist_ok=True)
    wheels = []
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=output) as partial:
        site = Path(partial, "site")
        write_sample_site(shape, site)
        for row in WHEELS.values():
            dist_info = dist_info_name(row, VERSION)
            wheels.append(output / f"{dist_info.removesuffix('.dist-info')}-{wheel_tag()}.whl")
            write_wheel(wheels[-1], recorded_members(site, dist_info), dist_info)
    return wheels


def _compile(library: SampleLibrary, directory: Path) -> FoundLibrary:
    path = directory / library.soname
    command = ["cc", "-shared", "-fPIC", "-nostdlib", f"-Wl,--no-as-needed,-soname,{library.soname}"]
    command += ["-Wl,--allow-shlib-undefined", "-x", "c", "-", "-x", "none"]
    command += [*(str(directory / name) for name in library.needed), "-o", str(path)]
    try:
        result = subprocess.run(command, input=library.source, text=True, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise PackagingError(
            "cc: not found on PATH",
            "install a C compiler: `apt-get install gcc` (Debian, Ubuntu), `dnf install gcc` (Fedora)",
        ) from error
    if result.returncode:
        raise PackagingError(f"{library.soname}: cc failed: {result.stderr.strip()}")
    return FoundLibrary(_PACKAGE, path, read_shared_object(path))
