"""What Debian's ROCm consists of: data, a row per line."""

from __future__ import annotations

import re
from typing import NamedTuple


class RocmLibrary(NamedTuple):
    """A library that Debian builds: its binary package, its name without version, the wheel it belongs to."""

    package: str
    linker_name: str
    wheel: str


# fmt: off
ROCM_LIBRARIES = (
    RocmLibrary("libamd-comgr2",      "libamd_comgr.so",       "core"),
    RocmLibrary("libamdhip64-5",      "libamdhip64.so",        "core"),
    RocmLibrary("libhiprtc-builtins5", "libhiprtc-builtins.so", "core"),
    RocmLibrary("libhsa-runtime64-1", "libhsa-runtime64.so",   "core"),
    RocmLibrary("libhsakmt1",         "libhsakmt.so",          "core"),
    RocmLibrary("librocm-smi64-1",    "librocm_smi64.so",      "core"),
    RocmLibrary("libhiprand1",        "libhiprand.so",         "libraries"),
    RocmLibrary("libhipsparse0",      "libhipsparse.so",       "libraries"),
    RocmLibrary("librocrand1",        "librocrand.so",         "libraries"),
    RocmLibrary("librocsparse0",      "librocsparse.so",       "libraries"),
)
# fmt: on

# Their headers, CMake packages, bitcode and tools are the development tree; what they depend on is not taken.
DEVELOPMENT_PACKAGES = (
    "hipcc",
    "libamd-comgr-dev",
    "libamdhip64-dev",
    "libhiprand-dev",
    "libhsa-runtime-dev",
    "libhsakmt-dev",
    "librocrand-dev",
    "rocm-cmake",
    "rocm-device-libs",
)


class Place(NamedTuple):
    """Where Debian has files (a regular expression, below /usr), and where the tree has them."""

    debian: str
    tree: str


class Rewrite(NamedTuple):
    """What files of the tree must say instead: which files (a pattern), a regular expression, its replacement."""

    files: str
    pattern: str
    replacement: str


# The first that fits applies; what none fits stays where it is.
# fmt: off
PLACES = (
    Place(r"share/(doc|lintian|man)/",    ""),  # skipped
    Place(r"lib/[^/]+-linux-gnu/amdgcn/", "lib/llvm/amdgcn/"),
    Place(r"lib/[^/]+-linux-gnu/",        "lib/"),
    Place(r"share/rocm/cmake/",           "lib/cmake/rocm/"),
)

# Debian's files count directories from lib/<architecture>/cmake/<package> up to /usr; here there is one less.
_UP = r'get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)'
REWRITES = (
    Rewrite("*.cmake",                  r"lib/[a-z0-9_]+-linux-gnu/amdgcn", "lib/llvm/amdgcn"),
    Rewrite("*.cmake",                  r"lib/[a-z0-9_]+-linux-gnu",        "lib"),
    Rewrite("*-config.cmake",           r"DIR(|_REAL)\}/(\.\./){4}",        r"DIR\1}/../../../"),
    Rewrite("*argets.cmake",            rf"({re.escape(_UP)}\n){{4}}",       f"{_UP}\n" * 3),
    Rewrite("*/hip*/hip*-config.cmake", r"set\(ROCM_PATH /usr\)",           'set(ROCM_PATH "${PACKAGE_PREFIX_DIR}")'),
    Rewrite("*.cmake",                  r"(cmake_minimum_required\(VERSION 3\.\d+)\)", r"\1...3.25)"),  # for CMake 4
    Rewrite("*.pc",                     r"prefix=/usr\n",                   "prefix=${pcfiledir}/../..\n"),
    Rewrite("*.pc",                     r"lib/[a-z0-9_]+-linux-gnu",        "lib"),
    Rewrite("*.pc",                     r"/include/rocm",                   "/include"),
    Rewrite("bin/hipvars.pm",           r'"/opt/rocm"',                     '"$HIP_PATH"'),
    Rewrite("bin/hipvars.pm",           r'"\$ROCM_PATH/bin"',               '"/usr/bin"'),  # the compiler is Debian's
)
# fmt: on

# The package whose upstream version is the version of the SDK: HIP answers hipRuntimeGetVersion().
VERSION_PACKAGE = "libamdhip64-5"

# Their files are the base libraries of sdk_rules.
BASE_PACKAGES = ("libc6", "libgcc-s1", "libstdc++6")

# Shortnames that an SDK from Debian lacks; hiprtc is inside amdhip64 there, and LLVM is a host library.
ABSENT_LIBRARIES = (
    "LLVM",
    "OpenCL",
    "amd_smi",
    "amdocl64",
    "clang",
    "hipblas",
    "hipblaslt",
    "hipdnn",
    "hipfft",
    "hipfile",
    "hiprtc",
    "hipsolver",
    "hipsparselt",
    "hsa-amd-aqlprofile64",
    "miopen",
    "origami",
    "rccl",
    "rocblas",
    "rocdecode",
    "rocdxg",
    "rocfft",
    "rocjpeg",
    "rocm-openblas",
    "rocm_kpack",
    "rocm_sysdeps_liblzma",
    "rocprofiler-register",
    "rocprofiler-sdk",
    "rocprofiler-sdk-roctx",
    "rocsolver",
    "roctracer64",
    "roctx64",
    "rpp",
)
