"""What an SDK's wheels are called, and where their libraries lie and look for others: data, a row per line."""

from __future__ import annotations

from typing import NamedTuple


class Wheel(NamedTuple):
    """One wheel: its name in other tables, its distribution name, what it is."""

    logical_name: str
    distribution: str
    summary: str

    @property
    def pure_module(self) -> str:
        """The importable module that tells the version."""
        return self.distribution.replace("-", "_")

    @property
    def platform_directory(self) -> str:
        """The directory in site-packages with the files for this platform."""
        return f"_{self.pure_module}"


# fmt: off
WHEELS = {
    "core":      Wheel("core",      "rocm-sdk-core",      "ROCm SDK: runtime libraries"),
    "libraries": Wheel("libraries", "rocm-sdk-libraries", "ROCm SDK: math libraries"),
    "devel":     Wheel("devel",     "rocm-sdk-devel",     "ROCm SDK: headers, CMake packages, build tools"),
}

# Wheels whose platform directory pip installs; that of the development wheel is made from an archive in it.
RUNTIME_WHEELS = ("core", "libraries")

# Wheel -> directories of the core wheel where its libraries look for what they need, in this order, after their own.
CORE_SEARCH_DIRECTORIES = {
    "core":      ("lib/llvm/lib", "lib/rocm_sysdeps/lib"),
    "libraries": ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib"),
}
# fmt: on

LIBRARY_DIRECTORY = "lib"
DEVELOPMENT_ARCHIVE = "_devel.tar.xz"
HOST_LIBRARY_DIRECTORY = "lib/rocm_sysdeps/lib"

# SONAME patterns of what every glibc system with a C++ runtime has: never part of an SDK.
BASE_LIBRARIES = (
    "ld-linux*.so.*",
    "ld64.so.*",
    "libanl.so.1",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libmvec.so.1",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libstdc++.so.6",
    "libutil.so.1",
)
