"""A site-packages directory with SDK packages of tiny libraries, compiled for one test, and programs run on it.

Loaded libraries stay loaded, so each test runs its program in a process of its own.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from compiled_files import compile_file

CORE = "_rocm_sdk_core"
LIBRARIES = "_rocm_sdk_libraries"

# The metadata of a kpack-split SDK, in the form that the packager writes.
DIST_INFO = """\
__version__ = "DEFAULT"
PY_PACKAGE_SUFFIX_NONCE = "_DEFAULT"
DEFAULT_TARGET_FAMILY = "DEFAULT"
AVAILABLE_TARGET_FAMILIES: list[str] = []
ALL_PACKAGES = {}


class PackageEntry:
    __version__ = "not this one"


__version__ = '7.10.0'
PY_PACKAGE_SUFFIX_NONCE = ''
ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"
DEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'
AVAILABLE_TARGET_FAMILIES.append('gfx94X-dcgpu')
"""


class Site:
    """The directory and what is done in it."""

    def __init__(self, path: Path, *, rpath: str = "none") -> None:
        self.path = path
        self.rpath = rpath  # "none", "rpath" (DT_RPATH) or "runpath" (DT_RUNPATH), for all libraries made after
        self.write("rocm_sdk_core/__init__.py")
        self.write("rocm_sdk_core/_dist_info.py", DIST_INFO)
        for package in (CORE, LIBRARIES):
            self.write(f"{package}/__init__.py")

    def write(self, name: str, text: str = "") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def library(  # noqa: PLR0917
        self,
        soname: str,
        source: str = "",
        needed: tuple[Path, ...] = (),
        package: str = CORE,
        directory: str = "lib",
        flags: tuple[str, ...] = (),
    ) -> Path:
        """Compile a library to PACKAGE/DIRECTORY/SONAME, and return its path."""
        path = self.path / package / directory / soname
        path.parent.mkdir(parents=True, exist_ok=True)
        return compile_library(path, soname, source, needed, (*self._rpath_flags(path), *flags))

    def _rpath_flags(self, path: Path) -> tuple[str, ...]:
        if self.rpath == "none":
            return ()
        up = os.path.relpath(self.path, path.parent)
        places = [f"$ORIGIN/{up}/{package}/lib" for package in (CORE, LIBRARIES)]
        tags = "--disable-new-dtags" if self.rpath == "rpath" else "--enable-new-dtags"
        return (f"-Wl,{tags}", f"-Wl,-rpath,$ORIGIN:{':'.join(places)}")

    def run(self, code: str, *options: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python code with the directory on sys.path; `check` demands exit status 0."""
        return run_python(code, *options, check=check, PYTHONPATH=str(self.path), **environment)

    def output(self, code: str, *options: str, **environment: str) -> str:
        """Return the output of Python code with the directory on sys.path."""
        return self.run(code, *options, **environment).stdout.strip()


def compile_library(
    path: Path, soname: str | None, source: str = "", needed: tuple[Path, ...] = (), flags: tuple[str, ...] = ()
) -> Path:
    """Compile C source to a shared library that needs all of `needed`, used or not."""
    words = ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed,--allow-shlib-undefined", "-x", "c", "-", "-x", "none"]
    name = [f"-Wl,-soname,{soname}"] if soname else []
    return compile_file([*words, *needed, *name, *flags], path, source or "extern int nothing;")


def run_python(code: str, *options: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter of the kind that runs the tests."""
    return run_interpreter(*options, "-c", textwrap.dedent(code), check=check, **environment)


def run_interpreter(*words: str | Path, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an interpreter of the kind that runs the tests."""
    result = subprocess.run(
        [sys.executable, *words],
        env=clean_environment() | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if check:
        assert result.returncode == 0, f"exit status {result.returncode}\n{result.stdout}{result.stderr}"
    return result


def clean_environment() -> dict[str, str]:
    """Return the environment without variables that change how libraries are found, or how progress is shown."""
    foreign = ("LD_", "ROCM_", "ROCR_", "HIP_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith(foreign)}
    return kept | {"TERM": "xterm"}
