"""Real builds of the project, in a copy of its sources so that nothing is left behind in the tree under test."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed

ROOT = Path(__file__).resolve().parents[2]
BUILD_INPUTS = ("pyproject.toml", "setup.py", "MANIFEST.in", "LICENSE", "README.md", "csrc", "rocm_sdk", "scripts")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def source_tree(tmp_path: Path) -> Path:
    """Return a copy of the files that a build reads."""
    tree = tmp_path / "source"
    tree.mkdir()
    for name in BUILD_INPUTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            shutil.copy2(ROOT / name, tree / name)
    return tree


@pytest.fixture
def run_module(source_tree: Path) -> Run:
    """Return a function that runs `python -m ...` (pip, build) of this interpreter in the source tree.

    The keywords of the function are environment variables.
    """

    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        settings = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", "CFLAGS": "-O1"}  # quick
        settings["CC"] = str(ROOT / "tests/stored_compiler")
        return completed(
            [sys.executable, "-m", *arguments], cwd=source_tree, env={**os.environ, **settings, **environment}
        )

    return run
