"""The distribution rocm-sdk-build: its literals, its wheel from the source distribution, its command."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION_HEADER = ROOT / "csrc/include/rocm_sdk/version.h"


def loader_version() -> str:
    (version,) = re.findall(r'^#define RSDK_VERSION "(.+)"$', VERSION_HEADER.read_text(encoding="ascii"), re.MULTILINE)
    return str(version)


def test_version_and_requirement_are_those_of_the_loader() -> None:
    text = (ROOT / "builder/pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'^version = "(.+)"$', text, re.MULTILINE) == [loader_version()]
    assert re.findall(r'"rocm-sdk-loader(.*?)"', text) == [f"=={loader_version()}"]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A directory with the source distribution, and the wheel that is built from it."""
    source = tmp_path / "builder"
    shutil.copytree(ROOT / "builder", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(source)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return tmp_path / "dist"


def test_wheel_from_the_source_distribution(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    (wheel,) = built.glob("*.whl")
    assert archive.name == f"rocm_sdk_build-{loader_version()}.tar.gz"
    assert wheel.name == f"rocm_sdk_build-{loader_version()}-py3-none-any.whl"
    with tarfile.open(archive) as members:
        packed = {name.partition("/")[2] for name in members.getnames()}
    with zipfile.ZipFile(wheel) as members_of_wheel:
        names = set(members_of_wheel.namelist())
        metadata = members_of_wheel.read(f"rocm_sdk_build-{loader_version()}.dist-info/METADATA").decode()
    sources = {path.relative_to(ROOT / "builder").as_posix() for path in (ROOT / "builder").rglob("*.py")}
    assert sources <= packed
    assert sources | {"rocm_sdk_build/py.typed"} <= names
    assert f"Requires-Dist: rocm-sdk-loader=={loader_version()}\n" in metadata


def test_the_loader_has_no_file_and_no_extra_of_it() -> None:
    loader = importlib.metadata.distribution("rocm-sdk-loader")
    assert not [file for file in loader.files or () if "build" in file.parts or "packaging" in file.parts]
    assert not {"build", "builder", "packaging"} & set(loader.metadata.get_all("Provides-Extra"))


def test_the_command_is_installed() -> None:
    (command,) = importlib.metadata.entry_points(group="console_scripts", name="rocm-sdk-build")
    assert command.value == "rocm_sdk_build.__main__:main"
