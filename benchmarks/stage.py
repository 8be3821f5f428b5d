"""The stage: a virtual environment for each shape of SDK, in which the measured processes run.

The site-packages of an environment is like a user's, with all compared packages side by side: the SDK (hard links),
copies of the packages `rocm_sdk` and `rocm_bootstrap` as they are installed, the empty package `bare_package`, the
references.
"""

from __future__ import annotations

import compileall
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import rocm_bootstrap

import rocm_sdk
from rocm_sdk_build.building.debian import Source, build_site
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.demo.sample import write_sample_site

from .observation import run_timed

SOURCES = Path(__file__).resolve().parent
BUILD = SOURCES.parent / "build"
SHORTNAMES = ("amd_comgr", "amdhip64", "rocm_smi64", "hiprand", "hipsparse")


@dataclass(frozen=True)
class Environment:
    """A virtual environment with everything that is measured."""

    python: Path
    site: Path

    def command(self, action: str, *arguments: str) -> list[str]:
        """Return the command line of a measured process."""
        return [str(self.python), "-I", str(SOURCES / "measured_process.py"), action, *arguments]

    def nothing(self) -> Callable[[], float]:
        """Return a function that runs an interpreter which does nothing.

        The function returns the run's time in seconds, as the caller of a command waits for it.
        """
        return partial(run_timed, [str(self.python), "-I", "-c", "pass"])

    def script(self, *words: str, statuses: Collection[int] = (0,), **variables: str) -> Callable[[], float]:
        """Return a function that runs the command `rocm-sdk`, as pip installs it, and returns the time in seconds.

        `statuses` are the exit statuses that the command may have.
        """
        command = [str(self.python), "-I", str(self.python.with_name("rocm-sdk")), *words]
        return partial(run_timed, command, statuses, **variables)

    def sdk_files(self, paths: Iterable[str]) -> set[str]:
        """Return the paths that are the SDK's."""
        return {path for path in paths if path.startswith(f"{self.site}/_rocm_sdk_")}


@dataclass(frozen=True)
class Stage:
    """The directory and the environments of a run of benchmarks.

    `is_smoke` stands for a sample SDK and few rounds, to see that everything works; the times of such a run mean
    nothing.
    """

    directory: Path
    is_smoke: bool
    _environments: dict[Shape, Environment] = field(default_factory=dict)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of SDKs that are measured: without RPATHs and, except in a smoke run, with RPATHs."""
        return (Shape.NONE,) if self.is_smoke else (Shape.NONE, Shape.RPATH)

    @cached_property
    def has_sample_sdk(self) -> bool:
        """True if the SDK is a sample: in a smoke run, and where no apt-get is in PATH to fetch Debian's."""
        return self.is_smoke or shutil.which("apt-get") is None

    @cached_property
    def dlopen_clock(self) -> Path:
        """The library of dlopen_clock.c."""
        flags = ["-shared", "-fPIC", "-fvisibility=hidden"]
        return compile_source(SOURCES / "dlopen_clock.c", self.directory / "dlopen_clock.so", flags)

    def rounds(self, wanted: int) -> int:
        """Return the number of rounds for a row that wants this many: 2 in a smoke run."""
        return 2 if self.is_smoke else wanted

    def environment(self, shape: Shape) -> Environment:
        """Return the environment with the SDK of this shape, made at first use."""
        if shape not in self._environments:
            self._environments[shape] = self._make_environment(shape)
        return self._environments[shape]

    def _make_environment(self, shape: Shape) -> Environment:
        directory = self.directory / shape.value
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
        (site,) = directory.glob("lib/python*/site-packages")
        if self.has_sample_sdk:
            with tempfile.TemporaryDirectory(dir=self.directory) as sample:
                write_sample_site(shape, Path(sample, "site"))
                shutil.copytree(Path(sample, "site"), site, copy_function=os.link, dirs_exist_ok=True)
        else:
            debian = build_site(Source(BUILD / "debian"), shape)
            shutil.copytree(debian, site, copy_function=os.link, dirs_exist_ok=True)
        _write_bare_package(site / "bare_package")
        installed = Path(rocm_sdk.__file__).parent
        shutil.copytree(installed, site / "rocm_sdk", ignore=shutil.ignore_patterns("__pycache__", "packaging"))
        shutil.copytree(Path(rocm_bootstrap.__file__).parent, site / "rocm_bootstrap")
        shutil.copy(SOURCES / "reference_loader.py", site)
        shutil.copy(SOURCES / "reference_detector.py", site)
        shutil.copy(Path(sysconfig.get_path("scripts"), "rocm-sdk"), directory / "bin")
        compileall.compile_dir(site, quiet=1)
        return Environment(directory / "bin/python", site)


def make_stage(directory: Path, *, is_smoke: bool) -> Stage:
    """Make a fresh stage; leftovers of an earlier run in `directory` go."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return Stage(directory, is_smoke)


def _write_bare_package(directory: Path) -> None:
    directory.mkdir()
    (directory / "__init__.py").write_text("from ._native import count_gpus, open_all\n", encoding="utf-8")
    include = f"-I{sysconfig.get_path('include')}"
    libelf = [*pkgconf("--cflags", "libelf"), "-Wl,--no-as-needed", *pkgconf("--libs", "libelf")]
    compile_source(SOURCES / "bare_native.c", directory / "_native.abi3.so", ["-shared", "-fPIC", include, *libelf])


def pkgconf(option: str, library: str) -> list[str]:
    """Return flags for a library.

    Raise CalledProcessError where the library is not there.
    """
    program = "pkgconf" if shutil.which("pkgconf") else "pkg-config"
    return shlex.split(subprocess.check_output([program, option, library], text=True, stderr=subprocess.DEVNULL))


def compile_source(source: Path, target: Path, flags: list[str]) -> Path:
    """Compile a program or, with -shared, a library; return its path."""
    command = ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", str(source), "-o", str(target), *flags]
    subprocess.run(command, check=True)
    return target
