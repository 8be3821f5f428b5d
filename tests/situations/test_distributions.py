"""The reader of installed distributions: what cannot be used is a value, and nothing is read without a bound."""

import os
from pathlib import Path

import pytest

from rocm_sdk.installed import record
from rocm_sdk.installed.distributions import Distribution, sdk_distributions

INFO = "rocm_sdk_core-7.10.0.dist-info"


@pytest.fixture
def info(tmp_path: Path) -> Path:
    """Return the dist-info directory of a sound distribution."""
    directory = tmp_path / INFO
    directory.mkdir()
    (directory / "METADATA").write_text("Metadata-Version: 2.1\nName: ROCm_SDK.core\nVersion: 7.10.0\n\nName: text\n")
    (directory / "RECORD").write_text(f'a/b.so,sha256=x,12\n"a,b/../c",,many\n{INFO}/RECORD,,\n')
    return directory


def read(info: Path) -> Distribution:
    (found,) = sdk_distributions(str(info.parent))
    return found


def test_a_sound_distribution(info: Path) -> None:
    (info.parent / "unrelated-1.0.dist-info").mkdir()
    found = read(info)
    assert (found.name, found.spelling, found.version) == ("rocm-sdk-core", "ROCm_SDK.core", "7.10.0")
    assert (found.fault, found.has_metadata, found.requirement) == (None, True, "rocm-sdk-core==7.10.0")
    assert found.files == (("a/b.so", "sha256=x", 12), ("c", "", None), (f"{INFO}/RECORD", "", None))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "does not list itself"),
        (b"\xff", "not valid text"),
        (b"a\0b,,\n", "NUL"),
        (b'"' + b"x" * 200_000 + b'",,\n', "field larger than"),
        (b"x,,\n" * 300, "larger than 1000 bytes"),
    ],
)
def test_a_damaged_record(info: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, fault: str) -> None:
    if "larger than 1000" in fault:
        monkeypatch.setattr(record, "_LIMIT", 1000)
    (info / "RECORD").write_bytes(content)
    found = read(info)
    assert fault in str(found.fault)
    assert found.files == ()


@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
def test_what_is_not_a_file(info: Path, name: str) -> None:
    (info / name).unlink()
    assert f"{name}: No such file" in str(read(info).fault)
    assert read(info).has_metadata is (name == "RECORD")
    os.mkfifo(info / name)
    assert "not a regular file" in str(read(info).fault)
