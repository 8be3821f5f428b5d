"""The distribution rocm-sdk-build: its version, its wheel from the source distribution, its command."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from programs import completed

from rocm_sdk_build.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
VERSION_HEADER = ROOT / "csrc/include/rocm_sdk/version.h"


def loader_version() -> str:
    (version,) = re.findall(r'^#define RSDK_VERSION "(.+)"$', VERSION_HEADER.read_text(encoding="ascii"), re.MULTILINE)
    return str(version)


def test_the_version_stands_in_one_place() -> None:
    """The README names it for its readers."""
    literal = re.compile(rf"(?<![\w.]){re.escape(loader_version())}(?![\w.])")
    listed = completed(["git", "ls-files"], cwd=ROOT)
    if listed.returncode != 0:
        pytest.skip("no clone: git does not list the files")
    # Tests, and the versions of placeholders on the public index, may be equal to ours. tests/test_recipes.py compares
    # what recipes say with the header.
    others = ("CHANGELOG.md", "rocm_sdk/installed/distributions.py", "scripts/release-requirements.txt")
    names = [
        name
        for name in listed.stdout.splitlines()
        if not name.startswith(("tests/", "packaging/")) and name not in others
    ]
    paths = [ROOT / name for name in names if name.endswith((".py", ".toml", ".md", ".h", ".c", ".in", "Makefile"))]
    assert len(paths) > 300
    having = [path for path in paths if path.is_file() and literal.search(path.read_text(encoding="utf-8"))]
    assert having == [ROOT / "README.md", VERSION_HEADER]


OTHER_VERSION = "9.8.7"


def build(name: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Build a source distribution of a copy, and a wheel from the source distribution, into `dist`."""
    source = tmp_path / name
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    shutil.copytree(ROOT / name, source, ignore=ignored)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(source)]
    return completed(command, cwd=tmp_path)


@pytest.mark.parametrize("name", ["builder", "variant_provider"])
def test_a_directory_without_the_loader(tmp_path: Path, name: str) -> None:
    result = build(name, tmp_path)
    assert result.returncode != 0
    assert "no version in " in result.stdout + result.stderr
    assert "build in a clone or from a source distribution" in result.stdout + result.stderr


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a directory with the header of a loader of another version."""
    header = tmp_path / VERSION_HEADER.relative_to(ROOT)
    header.parent.mkdir(parents=True)
    header.write_text(VERSION_HEADER.read_text(encoding="ascii").replace(loader_version(), OTHER_VERSION))
    return tmp_path


@pytest.fixture
def built(clone: Path) -> Path:
    """Return a directory with the source distribution, and the wheel that is built from it.

    Both are of the other version.
    """
    result = build("builder", clone)
    assert result.returncode == 0, result.stdout + result.stderr
    return clone / "dist"


@pytest.mark.slow
def test_the_variant_provider(clone: Path) -> None:
    result = build("variant_provider", clone)
    assert result.returncode == 0, result.stdout + result.stderr
    (wheel,) = (clone / "dist").glob("*.whl")
    assert wheel.name == f"rocm_sdk_variant_provider-{OTHER_VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as members:
        metadata = members.read(f"rocm_sdk_variant_provider-{OTHER_VERSION}.dist-info/METADATA").decode()
    assert f"Requires-Dist: rocm-sdk-loader=={OTHER_VERSION}\n" in metadata


@pytest.mark.slow
def test_wheel_from_the_source_distribution(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    (wheel,) = built.glob("*.whl")
    assert archive.name == f"rocm_sdk_build-{OTHER_VERSION}.tar.gz"
    assert wheel.name == f"rocm_sdk_build-{OTHER_VERSION}-py3-none-any.whl"
    with tarfile.open(archive) as members:
        packed = {name.partition("/")[2] for name in members.getnames()}
    with zipfile.ZipFile(wheel) as members_of_wheel:
        names = set(members_of_wheel.namelist())
        metadata = members_of_wheel.read(f"rocm_sdk_build-{OTHER_VERSION}.dist-info/METADATA").decode()
    sources = {path.relative_to(ROOT / "builder").as_posix() for path in (ROOT / "builder").rglob("*.py")}
    assert sources <= packed
    assert sources - {"setup.py"} | {"rocm_sdk_build/py.typed"} <= names
    assert f"Requires-Dist: rocm-sdk-loader=={OTHER_VERSION}\n" in metadata


def test_the_loader_has_no_file_and_no_extra_of_it() -> None:
    loader = importlib.metadata.distribution("rocm-sdk-loader")
    assert not [file for file in loader.files or () if "build" in file.parts or "packaging" in file.parts]
    assert not {"build", "builder", "packaging"} & set(loader.metadata.get_all("Provides-Extra"))


def test_the_command_is_installed() -> None:
    (command,) = importlib.metadata.entry_points(group="console_scripts", name="rocm-sdk-build")
    assert command.value == "rocm_sdk_build.__main__:main"


@pytest.mark.parametrize(
    "words",
    [
        *("index", "artifacts --artifact-dir a --output", "artifacts --output a", "code --keep gfx942"),
        *("prefix --output a", "prefix a --output b --llvm", "prefix a --output b --loader", "init-module --for"),
        *("prefix a --output b --files", "prefix a --output b --rules", "closure --output", "clear-execstack"),
        "closure --for",
    ],
)
def test_a_name_that_is_empty(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty name is refused: `index "$DIR"` does not mean the current directory."""
    assert main([*words.split(), ""]) == 2
    assert "the name is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "promote absent --version 1.0.0 --output out",
        "init-module --version 1.0.0 --for absent.so",
        "init-module --version 1.0.0 --shortnames nothing",
        "prefix --version 1.0.0 --output out",
        "debian --suite nothing --output out",
        "artifacts a --output out --version 1.0.0 --json",
    ],
)
def test_wrong_usage(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake has the same exit status in all commands of both programs (docs/commands.md)."""
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
