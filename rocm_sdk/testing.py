"""A small SDK of stand-in libraries, for tests of frameworks on machines without ROCm and without a GPU.

`pytest_plugins = ["rocm_sdk.testing"]` in a conftest.py brings the fixture `sample_rocm_sdk`. A C compiler makes the
libraries: each has the SONAME, the package and the needs of a library of ROCm 7, and no function. Loaded libraries stay
in their process, so a test that loads something does it in a child: `SampleSdk.run`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from rocm_sdk.base.starting import Done, find_program, run

__all__ = ["SampleSdk", "sample_rocm_sdk", "write_sample_sdk"]

VERSION = "7.10.0"
_PACKAGES = ("core", "libraries")
_NO_COMPILER = "no C compiler, which makes the stand-in libraries: install gcc, or name one in CC"


class StandIn(NamedTuple):
    """A library of ROCm 7: its short name, SONAME and package, and the short names of the libraries that it needs."""

    shortname: str
    soname: str
    package: str
    needs: str  # with blanks between


# Each after those that it needs. Numbers: csrc/sdk/soname_table.c.
# fmt: off
STAND_INS = (
    StandIn("amd_comgr",             "libamd_comgr.so.3",             "core",      ""),
    StandIn("hsa-runtime64",         "libhsa-runtime64.so.1",         "core",      ""),
    StandIn("rocprofiler-register",  "librocprofiler-register.so.0",  "core",      ""),
    StandIn("amdhip64",              "libamdhip64.so.7",              "core",      "amd_comgr hsa-runtime64 rocprofiler-register"),
    StandIn("hiprtc-builtins",       "libhiprtc-builtins.so.7",       "core",      ""),
    StandIn("hiprtc",                "libhiprtc.so.7",                "core",      "amd_comgr"),
    StandIn("rocprofiler-sdk-roctx", "librocprofiler-sdk-roctx.so.1", "core",      ""),
    StandIn("rocm_smi64",            "librocm_smi64.so.1",            "core",      ""),
    StandIn("amd_smi",               "libamd_smi.so.26",              "core",      ""),
    StandIn("rocblas",               "librocblas.so.5",               "libraries", "amdhip64"),
    StandIn("rocfft",                "librocfft.so.0",                "libraries", "amdhip64"),
    StandIn("rocrand",               "librocrand.so.1",               "libraries", "amdhip64"),
    StandIn("rocsparse",             "librocsparse.so.1",             "libraries", "amdhip64"),
    StandIn("rocsolver",             "librocsolver.so.0",             "libraries", "rocblas rocsparse amdhip64"),
    StandIn("hipblas",               "libhipblas.so.3",               "libraries", "rocblas rocsolver amdhip64"),
    StandIn("hipblaslt",             "libhipblaslt.so.1",             "libraries", "amdhip64"),
    StandIn("hipfft",                "libhipfft.so.0",                "libraries", "rocfft amdhip64"),
    StandIn("hiprand",               "libhiprand.so.1",               "libraries", "rocrand amdhip64"),
    StandIn("hipsparse",             "libhipsparse.so.4",             "libraries", "rocsparse amdhip64"),
    StandIn("hipsolver",             "libhipsolver.so.1",             "libraries", "rocblas rocsolver amdhip64"),
    StandIn("hipsparselt",           "libhipsparselt.so.0",           "libraries", "hipsparse amdhip64"),
    StandIn("rccl",                  "librccl.so.1",                  "libraries", "rocm_smi64 amdhip64"),
    StandIn("miopen",                "libMIOpen.so.1",                "libraries", "rocblas hipblaslt rocrand hiprtc amdhip64"),
)
# fmt: on
_ROWS = {row.shortname: row for row in STAND_INS}


class SampleSdk:
    """The SDK in a directory that is laid out as site-packages.

    path: the directory, which ROCM_SDK_ROOT names. version: the version of the SDK. A test may change the content of
    the directory.
    """

    version = VERSION

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process that has this SDK alone."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "ROCM_", "HIP_"))}
        return kept | {"ROCM_SDK_ROOT": str(self.path)}

    def library(self, shortname: str) -> Path:
        """Return the file of a library, which is there unless the test has removed it.

        Raise KeyError for another name.
        """
        row = _ROWS[shortname]
        return self.path / f"_rocm_sdk_{row.package}/lib" / row.soname

    def compile(self, shortname: str, source: str) -> Path:
        """Make a library again, with the functions of a C source, and return its file.

        Raises RuntimeError with what the compiler says.
        """
        row = _ROWS[shortname]
        file = self.library(shortname)
        file.unlink(missing_ok=True)
        _compile(file, row.soname, source, (self.library(name) for name in row.needs.split()))
        return file

    def run(self, code: str, **variables: str) -> Done:
        """Run Python code in a child that has this SDK; return its exit status, standard output and standard error."""
        return run([sys.executable, "-c", code], base=self.environment | variables)


def write_sample_sdk(directory: Path) -> SampleSdk:
    """Write the SDK into a new directory, and return it. Raise RuntimeError without a C compiler, or if it fails."""
    for package in _PACKAGES:
        (directory / f"_rocm_sdk_{package}/lib").mkdir(parents=True)
        (directory / f"_rocm_sdk_{package}/__init__.py").touch()
    facts = directory / "rocm_sdk_core"
    facts.mkdir()
    (facts / "__init__.py").touch()
    (facts / "_dist_info.py").write_text(f"__version__ = {VERSION!r}\n", encoding="utf-8")
    sdk = SampleSdk(directory)
    for row in STAND_INS:
        sdk.compile(row.shortname, "extern int nothing;")
    return sdk


def _compile(file: Path, soname: str, source: str, needs: Iterable[Path]) -> None:
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if find_program(compiler[0]) is None:
        raise RuntimeError(f"{compiler[0]}: {_NO_COMPILER}")
    words = ["-shared", "-fPIC", f"-Wl,--no-as-needed,--allow-shlib-undefined,-soname,{soname}", "-x", "c", "-"]
    command = [*compiler, *words, "-x", "none", *map(str, needs), "-o", str(file)]
    done = run(command, given=source)
    if done.returncode:
        raise RuntimeError(f"{soname}: {compiler[0]} failed: {done.stderr.strip()}")


@pytest.fixture(scope="session")
def _made_rocm_sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return write_sample_sdk(tmp_path_factory.mktemp("rocm_sdk") / "site-packages").path
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def sample_rocm_sdk(_made_rocm_sdk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleSdk:
    """Return a copy of the SDK for one test, which ROCM_SDK_ROOT names meanwhile."""
    site = tmp_path / "rocm-site-packages"
    shutil.copytree(_made_rocm_sdk, site)
    monkeypatch.setenv("ROCM_SDK_ROOT", str(site))
    return SampleSdk(site)
