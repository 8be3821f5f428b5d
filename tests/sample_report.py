"""`rocm-sdk test` on a site-packages directory, and its answer taken apart."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from programs import completed
from sample_devel import VERSION, DevelSite
from sample_site import CORE, LIBRARIES, Site, clean_environment, run_interpreter

# The directories of each distribution.
_DIRECTORIES = {"rocm-sdk-core": ("rocm_sdk_core", CORE), "rocm-sdk-libraries": (LIBRARIES,)}


def install(site: Site, version: str = VERSION) -> None:
    """Write the metadata that pip would have written for the files that are in the directory now."""
    for name, directories in _DIRECTORIES.items():
        paths = [path for directory in directories for path in (site.path / directory).rglob("*") if path.is_file()]
        files = {str(path.relative_to(site.path)): path.read_bytes() for path in paths if path.suffix != ".pyc"}
        DevelSite(site.path).install(name, files, version)


class Said(NamedTuple):
    """The answer of the command."""

    status: int
    document: dict[str, Any]
    stderr: str

    @property
    def problems(self) -> list[dict[str, str]]:
        return list(self.document["problems"])

    @property
    def codes(self) -> set[str]:
        return {found["code"] for found in self.problems}

    def only(self, code: str) -> dict[str, str]:
        """Return the one problem with this code."""
        found = [each for each in self.problems if each["code"] == code]
        assert len(found) == 1, self.problems
        return found[0]

    def subject(self, name: str) -> dict[str, Any]:
        (found,) = (each for each in self.document["subjects"] if each["subject"] == name)
        return dict(found)


def reinstalls(fix: str, *requirements: str) -> bool:
    """Return whether a fix is a command of an installer that installs exactly these packages again."""
    command = fix.partition(" #")[0].rstrip()
    is_whole = "--force-reinstall" in command or "install --target " in command
    return " install " in command and is_whole and all(f" {each}" in command for each in requirements)


def installs(fix: str, requirement: str) -> bool:
    """Return whether a fix is a command of an installer that installs just this requirement."""
    command = fix.partition(" #")[0].partition(" && (tar ")[0].rstrip()
    return " install " in command and command.endswith(f" {shlex.quote(requirement)}")


def run_test(site: Path, *words: str, python: Path | None = None, **environment: str) -> Said:
    """Run `rocm-sdk test --json` with the directory on sys.path."""
    return ask_test(*words, python=python, **{"PYTHONPATH": str(site)} | environment)


def ask_test(*words: str, python: Path | None = None, **environment: str) -> Said:
    """Run `rocm-sdk test --json`."""
    result = completed(
        [str(python or sys.executable), "-m", "rocm_sdk", "test", "--json", *words],
        env=clean_environment() | environment,
        timeout=120,
    )
    assert result.stdout, result.stderr
    assert "Traceback" not in result.stderr, result.stderr
    return Said(result.returncode, json.loads(result.stdout), result.stderr)


def command(site: Site, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `rocm-sdk test` with the packages of `site`."""
    return run_interpreter(
        "-m", "rocm_sdk", "test", *words, check=False, **({"PYTHONPATH": str(site.path)} | environment)
    )


def break_library(site: Site) -> Path:
    """Cut off a library, which RECORD has whole, and return its path."""
    path = site.path / CORE / "lib/libamdhip64.so.7"
    path.write_bytes(path.read_bytes()[:100])
    return path
