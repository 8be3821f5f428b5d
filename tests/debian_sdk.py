"""The SDK of Debian's ROCm packages, laid out as pip installs its wheels: made once per machine, below build/debian.

A row of RELEASES has what tests expect of the ROCm of one Debian release. A test that asks for it is skipped on others.
"""

import platform
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from rocm_sdk_build.building.debian import Source, build_site
from rocm_sdk_build.code.patchelf import Shape

BUILD = Path(__file__).resolve().parents[1] / "build"


class Rocm(NamedTuple):
    """The facts of a release, seen with the tools of the release when the row was written."""

    packages: tuple[str, ...]  # that the SDK is made of; (): all
    version: str  # of the core package, which is HIP's
    hip_version: str  # as hipRuntimeGetVersion says it
    rocrand_version: str
    llvm: str  # the SONAME of LLVM that comes with comgr
    clang: int  # the version that the device libraries are made with
    clang_libraries: tuple[str, ...]  # the packages with its libraries, and with its run-time library where CMake asks
    shortnames: frozenset[str]  # of the libraries
    targets: tuple[str, ...]  # of the code in each math library, in its order
    bundles: dict[str, int]  # library -> how many bundles of code it has
    hip_opens_comgr: bool  # by its name; else a DT_NEEDED entry names it
    rocm_smi_calls_by_name: bool  # its own functions, so that another library's can take their place
    comgr_is_patched: bool
    comgr_translates_spirv: bool

    @property
    def processors(self) -> list[str]:
        """The targets without their features, each once."""
        return list(dict.fromkeys(each.partition(":")[0] for each in self.targets))

    def targets_of(self, *processors: str) -> list[str]:
        """Return the targets for these processors, in the order of the libraries."""
        return [each for each in self.targets if each.partition(":")[0] in processors]


_SHORTNAMES = frozenset(
    (
        *("amd_comgr", "amdhip64", "hiprand", "hiprtc-builtins", "hipsparse"),
        *("hsa-runtime64", "rocm_smi64", "rocrand", "rocsparse"),
    )
)
_BOOKWORM = Rocm(
    packages=(),
    version="5.2.3",
    hip_version="50221153",
    rocrand_version="201009",
    llvm="libLLVM-15.so.1",
    clang=15,
    clang_libraries=("libllvm15", "libclang-cpp15"),
    shortnames=_SHORTNAMES,
    targets=("gfx803", "gfx900:xnack-", "gfx906:xnack-", "gfx908:xnack-", "gfx90a:xnack+", "gfx90a:xnack-", "gfx1030"),
    bundles={"librocsparse.so.0": 111, "librocrand.so.1": 1},
    hip_opens_comgr=True,
    rocm_smi_calls_by_name=True,
    comgr_is_patched=False,
    comgr_translates_spirv=False,
)
# Without rocBLAS, rocSOLVER and what needs them, for three SDKs of them take 8 GB: tests/generations uses them.
_TRIXIE = Rocm(
    packages=(
        *("libamdhip64", "libhiprtc-builtins", "libamd-comgr", "libhsa-runtime64", "libhsakmt", "librocm-smi64"),
        *("liboam", "rocminfo", "rocm-smi", "librocrand", "libhiprand", "librocsparse", "libhipsparse"),
    ),
    version="5.7.1",
    hip_version="50731921",
    rocrand_version="201017",
    llvm="libLLVM-17.so.1",
    clang=17,
    clang_libraries=("libllvm17t64", "libclang-cpp17t64", "libclang-rt-17-dev"),
    shortnames=_SHORTNAMES,
    targets=(
        *("gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"),
        *("gfx1010", "gfx1030", "gfx1100", "gfx1101", "gfx1102"),
    ),
    bundles={"librocsparse.so.0": 122, "librocrand.so.1": 1},
    hip_opens_comgr=False,
    rocm_smi_calls_by_name=False,
    comgr_is_patched=False,
    comgr_translates_spirv=False,
)
RELEASES = {"bookworm": _BOOKWORM, "trixie": _TRIXIE}


def _release() -> str:
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "an unnamed release")
    except OSError:
        return "this system"


def rocm() -> Rocm:
    """Return the row of this release; skip the test where there is none."""
    release = _release()
    if release not in RELEASES:
        pytest.skip(f"tests/debian_sdk.py has no row for the ROCm of {release}")
    return RELEASES[release]


SOURCE = Source(BUILD / "debian", names=RELEASES[_release()].packages if _release() in RELEASES else ())


@cache
def debian_site(shape: Shape) -> Path:
    """Return a directory like site-packages, for reading only; skip the test where the release has no row.

    A process asks apt once whether the directory is still the right one.
    """
    rocm()
    return build_site(SOURCE, shape)
