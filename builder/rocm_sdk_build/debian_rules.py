"""What Debian's ROCm consists of: data, a row per line."""

from __future__ import annotations

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


# Files below /usr that are no part of the tree; the terms of copyright are in the wheels.
SKIPPED = "share/doc/**"

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
