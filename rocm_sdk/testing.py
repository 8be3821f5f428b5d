"""A small SDK of stand-in libraries, for tests of frameworks on machines without ROCm and without a GPU.

`pytest_plugins = ["rocm_sdk.testing"]` in a conftest.py brings the fixture `sample_rocm_sdk`. A C compiler makes the
libraries: each has the SONAME, the package and the needs that it has in a release of ROCm, and no function. Loaded
libraries stay in their process, so a test that loads something does it in a child: `SampleSdk.run`.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from rocm_sdk._native import soname_releases
from rocm_sdk.base.processes import Done, find_program, run

__all__ = ["SampleSdk", "sample_rocm_sdk", "write_sample_sdk"]

VERSION = "7.10.0"
_NO_COMPILER = "no C compiler, which makes the stand-in libraries: install gcc, or name one in CC"


class StandIn(NamedTuple):
    """A library: its short name, SONAME and package, and the short names of the libraries that it needs."""

    shortname: str
    soname: str
    number: str  # of the SONAME, or the name in the table of SONAMEs whose number it has
    package: str
    needs: str  # with blanks between; a release may lack some
    first: tuple[int, int] = (0, 0)  # the releases that have it
    last: tuple[int, int] = (999, 0)


# Each after those that it needs.
# fmt: off
STAND_INS = (
    StandIn("amd_comgr",             "libamd_comgr.so",              "amd_comgr",       "core",      ""),
    StandIn("hsa-runtime64",         "libhsa-runtime64.so",          "1",               "core",      ""),
    StandIn("rocprofiler-register",  "librocprofiler-register.so",   "0",               "core",      "", first=(6, 1)),
    StandIn("amdhip64",              "libamdhip64.so",               "amdhip64",        "core",      "amd_comgr hsa-runtime64 rocprofiler-register"),
    StandIn("hiprtc-builtins",       "libhiprtc-builtins.so",        "hiprtc",          "core",      ""),
    StandIn("hiprtc",                "libhiprtc.so",                 "hiprtc",          "core",      "amd_comgr"),
    StandIn("rocprofiler-sdk-roctx", "librocprofiler-sdk-roctx.so",  "rocprofiler-sdk", "core",      ""),
    StandIn("rocm_smi64",            "librocm_smi64.so",             "1",               "core",      "", last=(10, 0)),
    StandIn("amd_smi",               "libamd_smi.so",                "amd_smi",         "core",      ""),
    StandIn("rocblas",               "librocblas.so",                "rocblas",         "libraries", "amdhip64"),
    StandIn("rocfft",                "librocfft.so",                 "0",               "libraries", "amdhip64"),
    StandIn("rocrand",               "librocrand.so",                "1",               "libraries", "amdhip64"),
    StandIn("rocsparse",             "librocsparse.so",              "rocsparse",       "libraries", "amdhip64"),
    StandIn("rocsolver",             "librocsolver.so",              "0",               "libraries", "rocblas rocsparse amdhip64"),
    StandIn("hipblas",               "libhipblas.so",                "hipblas",         "libraries", "rocblas rocsolver amdhip64"),
    StandIn("hipblaslt",             "libhipblaslt.so",              "hipblaslt",       "libraries", "amdhip64"),
    StandIn("hipfft",                "libhipfft.so",                 "0",               "libraries", "rocfft amdhip64"),
    StandIn("hiprand",               "libhiprand.so",                "1",               "libraries", "rocrand amdhip64"),
    StandIn("hipsparse",             "libhipsparse.so",              "hipsparse",       "libraries", "rocsparse amdhip64"),
    StandIn("hipsolver",             "libhipsolver.so",              "hipsolver",       "libraries", "rocblas rocsolver amdhip64"),
    StandIn("hipsparselt",           "libhipsparselt.so",            "0",               "libraries", "hipsparse amdhip64", first=(6, 0)),
    StandIn("rccl",                  "librccl.so",                   "1",               "libraries", "rocm_smi64 amdhip64", last=(7, 13)),
    StandIn("rccl",                  "librccl.so",                   "1",               "libraries", "rocm_smi64 amd_smi amdhip64", first=(7, 14)),
    StandIn("miopen",                "libMIOpen.so",                 "1",               "libraries", "rocblas hipblaslt rocrand hiprtc amdhip64"),
)
# fmt: on


def _stand_ins(version: str) -> dict[str, StandIn]:
    """Return the libraries of a release."""
    is_version = re.fullmatch(r"[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,3})?", version)
    release = tuple(map(int, version.split(".")[:2])) if is_version else ()
    rows = [(soname[3:].split(".so."), last) for soname, first, last in soname_releases() if first <= release]
    numbers = {name: number for (name, number), last in rows if release <= last or last == (0, 0)}
    if release < (5, 0) or {name for (name, _), _ in rows} - numbers.keys():  # a number ended, and no other has begun
        raise ValueError(
            f"{version[:40]!r} is no release of ROCm from 5.0 on: name one by its numbers, such as {VERSION}"
        )
    return {
        row.shortname: row._replace(soname=f"{row.soname}.{number}")
        for row in STAND_INS
        if row.first <= release <= row.last and (number := numbers.get(row.number, row.number)).isdigit()
    }


class SampleSdk:
    """The SDK in a directory that is laid out as site-packages.

    path: the directory, which ROCM_SDK_ROOT names. version: the version of the SDK. A test may change the content of
    the directory.
    """

    def __init__(self, path: Path, version: str = VERSION) -> None:
        self.path, self.version, self._rows = path, version, _stand_ins(version)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process that has this SDK alone."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "ROCM_", "HIP_"))}
        return kept | {"ROCM_SDK_ROOT": str(self.path)}

    def library(self, shortname: str) -> Path:
        """Return the file of a library, which is there unless the test has removed it.

        Raise KeyError for another name, and for a library that this release of ROCm does not have.
        """
        row = self._rows[shortname]
        return self.path / f"_rocm_sdk_{row.package}/lib" / row.soname

    def compile(self, shortname: str, source: str) -> Path:
        """Make a library again, with the functions of a C source, and return its file.

        Raises RuntimeError with what the compiler says.
        """
        row = self._rows[shortname]
        file = self.library(shortname)
        file.parent.mkdir(exist_ok=True)
        file.unlink(missing_ok=True)
        compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
        if find_program(compiler[0]) is None:
            raise RuntimeError(f"{compiler[0]}: {_NO_COMPILER}")
        words = ["-shared", "-fPIC", f"-Wl,--no-as-needed,--allow-shlib-undefined,-soname,{row.soname}", "-x", "c", "-"]
        needs = (str(self.library(name)) for name in row.needs.split() if name in self._rows)
        done = run([*compiler, *words, "-x", "none", *needs, "-o", str(file)], given=source)
        if done.returncode:
            raise RuntimeError(f"{row.soname}: {compiler[0]} failed: {done.stderr.strip()}")
        return file

    def run(self, code: str, **variables: str) -> Done:
        """Run Python code in a child that has this SDK; return its exit status, standard output and standard error."""
        return run([sys.executable, "-c", code], base=self.environment | variables)


def write_sample_sdk(directory: Path, version: str = VERSION) -> SampleSdk:
    """Write an SDK into a new directory, and return it. Raise ValueError for no release, RuntimeError if it fails."""
    sdk = SampleSdk(directory, version)
    for package in ("_rocm_sdk_core", "_rocm_sdk_libraries", "rocm_sdk_core"):
        (directory / package).mkdir(parents=True)
        (directory / package / "__init__.py").touch()
    (directory / "rocm_sdk_core/_dist_info.py").write_text(f"__version__ = {version!r}\n", encoding="utf-8")
    for name in sdk._rows:
        sdk.compile(name, "extern int nothing;")
    return sdk


@pytest.fixture(scope="session")
def _made_rocm_sdk(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], SampleSdk]:
    return functools.cache(lambda version: write_sample_sdk(tmp_path_factory.mktemp("rocm_sdk") / "site", version))


@pytest.fixture
def sample_rocm_sdk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleSdk:
    """Return a copy of the SDK for one test, which ROCM_SDK_ROOT names meanwhile; a parameter names the release."""
    try:
        made: SampleSdk = request.getfixturevalue("_made_rocm_sdk")(getattr(request, "param", VERSION))
    except (RuntimeError, ValueError) as error:
        pytest.fail(str(error), pytrace=False)
    site = tmp_path / "rocm-site-packages"
    shutil.copytree(made.path, site)
    monkeypatch.setenv("ROCM_SDK_ROOT", str(site))
    return SampleSdk(site, made.version)
