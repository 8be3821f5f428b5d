"""The wheel of the loader that lies beside packages: made again of what was installed, or the one of a source tree."""

import logging
import os
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest
from environments import empty_environment, installer_command

from rocm_sdk import loader_version
from rocm_sdk.installed.record import Row, record_text, row_of
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.output.own_loader import bring_loader, own_loader

BASE = f"rocm_sdk_loader-{loader_version}"
NAME = f"{BASE}-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
INFO = f"{BASE}.dist-info"
FILES = {
    "rocm_sdk/__init__.py": "",
    "rocm_sdk/__main__.py": "def main() -> int:\n    return 0\n",
    "rocm_sdk/load_check": "#!/bin/sh\n",
    f"{INFO}/METADATA": f"Metadata-Version: 2.1\nName: rocm-sdk-loader\nVersion: {loader_version}\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: false\n"
    "Tag: cp310-abi3-manylinux_2_17_x86_64\nTag: cp310-abi3-manylinux2014_x86_64\n",
    f"{INFO}/entry_points.txt": "[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n",
}


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    rows = [row_of(name, text.encode()) for name, text in FILES.items()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            member = zipfile.ZipInfo(name)
            mode = 0o755 if name.endswith("load_check") else 0o644
            member.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(member, text)
        archive.writestr(f"{INFO}/RECORD", record_text([*rows, Row(f"{INFO}/RECORD")]))
    return path


def installed(wheel: Path, installer: str, directory: Path) -> Path:
    """Install the wheel, and return the directory of the package."""
    python = empty_environment(directory)
    subprocess.run([*installer_command(installer, python, "install"), "--quiet", "--no-deps", str(wheel)], check=True)
    (package,) = directory.glob("lib/python*/site-packages/rocm_sdk")
    return package


def contents(wheel: Path) -> dict[str, tuple[bytes, bool]]:
    """Return the content of each member, and whether it is a program; RECORD is left out."""
    with zipfile.ZipFile(wheel) as archive:
        found = {
            each.filename: (archive.read(each), each.external_attr >> 16 & 0o111 != 0) for each in archive.infolist()
        }
    return {name: content for name, content in found.items() if not name.endswith("/RECORD")}


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_of_an_installed_wheel(wheel: Path, tmp_path: Path, installer: str) -> None:
    """Commands, caches and notes of the installer, and a signature, are not in it; it can be installed again."""
    package = installed(wheel, installer, tmp_path / "one")
    info = package.parent / INFO
    (info / "RECORD.p7s").write_bytes(b"signature")  # of the RECORD that the wheel had
    with (info / "RECORD").open("a") as record:
        record.write(f"{INFO}/RECORD.p7s,,\n")
    (package / "__pycache__").mkdir(exist_ok=True)
    again = own_loader(tmp_path / "again", package)
    assert again == tmp_path / "again" / NAME
    assert contents(again) == contents(wheel)
    other = installed(again, installer, tmp_path / "two")
    assert (other / "load_check").stat().st_mode & 0o111
    assert (tmp_path / "two/bin/rocm-sdk").exists()
    before = again.read_bytes()
    assert own_loader(tmp_path / "third", other).read_bytes() == before


@pytest.mark.slow
def test_of_files_that_were_changed(wheel: Path, tmp_path: Path) -> None:
    package = installed(wheel, "pip", tmp_path / "one")
    (package / "__main__.py").write_text("other")
    with pytest.raises(PackagingError, match=r"__main__\.py: is not what was installed") as refused:
        own_loader(tmp_path / "again", package)
    assert "--force-reinstall --no-deps build/wheel/rocm_sdk_loader-*.whl" in refused.value.fix
    (package / "__main__.py").unlink()
    with pytest.raises(PackagingError, match=r"__main__\.py: is not there"):
        own_loader(tmp_path / "again", package)
    assert not list((tmp_path / "again").iterdir())


@pytest.mark.slow
def test_without_a_record(wheel: Path, tmp_path: Path) -> None:
    """As packages of a distribution are."""
    package = installed(wheel, "pip", tmp_path / "one")
    (package.parent / INFO / "RECORD").unlink()
    with pytest.raises(PackagingError, match=r"RECORD: does not list the files of rocm_sdk") as refused:
        own_loader(tmp_path / "again", package)
    assert refused.value.fix == "name one: --loader WHEEL (--no-loader: the packages need none)"


def test_of_a_source_tree(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The one that `make wheel` has built is taken; nothing is built here."""
    tree = tmp_path / "a tree"
    for name in ("csrc/include/rocm_sdk/version.h", "rocm_sdk/__init__.py", "setup.py", "pyproject.toml"):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (1000, 1000))
    with pytest.raises(PackagingError, match="build/wheel: has no wheel of rocm-sdk-loader") as refused:
        own_loader(tmp_path / "out", tree / "rocm_sdk")
    assert refused.value.fix == f"make -C '{tree}' wheel"
    built = tree / "build/wheel" / NAME
    built.parent.mkdir(parents=True)
    built.touch()
    link = tmp_path / "site/rocm_sdk"  # as `make develop` leads there
    link.parent.mkdir()
    link.symlink_to(tree / "rocm_sdk")
    assert own_loader(tmp_path / "out", link) == built
    assert caplog.text == ""
    os.utime(built, (500, 500))
    caplog.set_level(logging.INFO)
    assert own_loader(tmp_path / "out", tree / "rocm_sdk") == built
    assert f"{NAME}: is older than its sources: make -C '{tree}' wheel" in caplog.text


def test_one_that_is_there(tmp_path: Path) -> None:
    """A loader that the selector takes stays alone, such as one for any Linux; an older one does not count."""
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "rocm_sdk_loader-99.0-cp310-abi3-manylinux_2_27_x86_64.whl").touch()
    assert bring_loader(dist) == []
    assert len(list(dist.iterdir())) == 1
