"""Packages of others, fetched once into directories below build/ that later runs find again."""

import platform
import sys
from pathlib import Path

from programs import completed
from sample_site import run_python

BUILD = Path(__file__).resolve().parents[1] / "build"
# The build for CPUs carries the hook for ROCm like every other.
TORCH = ("torch==2.13.0+cpu", "typing-extensions", "filelock", "sympy", "networkx", "jinja2", "fsspec")


def install_torch() -> tuple[Path, str | None]:
    """Return the directory with torch, and pip's words where torch could not be installed, or None."""
    directory = BUILD / f"torch-{tag()}"
    return directory, install(directory, *TORCH, module="torch")


def install(directory: Path, *requirements: str, alone: bool = True, module: str | None = None) -> str | None:
    """Install into a directory that later runs find again; return pip's words where it could not, else None.

    With `alone` the requirements of the requirements are left out. With `module` only the modules that its import needs
    are compiled to bytecode.
    """
    done = directory / ".complete"
    if done.exists() and done.read_text() == " ".join(requirements):
        return None
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--root-user-action",
        "ignore",
    ]
    result = completed(
        [
            *command,
            *(["--no-deps"] if alone else []),
            *(["--no-compile"] if module else []),
            *("--only-binary", ":all:", "--upgrade", "--target", str(directory)),
            *requirements,
        ]
    )
    if result.returncode != 0:
        return result.stderr.strip().splitlines()[-1]
    if module:
        run_python(f"import {module}", PYTHONPATH=str(directory))
    done.write_text(" ".join(requirements))
    return None


def tag() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}-{platform.machine()}"
