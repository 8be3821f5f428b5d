"""The environment that counts as having all that is asked for: nothing is installed then."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocm_sdk.index.choice import works
from rocm_sdk.index.destination import Destination
from rocm_sdk.index.request import choose_index, make_requirements

NAMES = ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942")


@pytest.mark.parametrize(
    ("there", "rocm", "is_wanted"),
    [
        ("10.0.1", "10.0.1", True),
        ("10.0.10", "10.0.1", False),
        ("10.0.0rc12", "10.0.0rc1", False),
        ("10.0.0rc1", "10.0.0", False),
        ("10.0.1.post1", "10.0.1", True),
        ("10.0.1", "10.0", True),
        ("10.10.1", "10.1", False),
        ("10.0.1", "10", True),
        ("10.0.1", None, True),
        ("10.0.1", ">=7.0,<10.0", False),
        ("10.0.1", ">=7.0,<10.1", True),
    ],
)
def test_the_release(tmp_path: Path, there: str, rocm: str | None, is_wanted: bool) -> None:
    targets = ("gfx942",)
    requirements = make_requirements([], targets, rocm, choose_index(None))
    destination = Destination("python3", str(tmp_path), 10, "pip", (), (), dict.fromkeys(NAMES, there))
    assert works(requirements, targets, destination) == (there if is_wanted else None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "rocm", "is_kept"),
    [
        ("10.0.0", "stable", True),
        ("10.0.0.post1", "stable", True),
        ("10.0.0a20260101", "stable", False),
        ("10.0.0rc1", "stable", False),
        ("10.0.0a20260101", None, True),
        ("10.0.0a20260101", "rc", False),
    ],
)
def test_the_stream(
    install: Callable[..., subprocess.CompletedProcess[str]],
    python: Path,
    there: str,
    rocm: str | None,
    *,
    is_kept: bool,
) -> None:
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    for name in (*NAMES[:3], "rocm-sdk-device-gfx1100"):
        directory = site / f"{name.replace('-', '_')}-{there}.dist-info"
        directory.mkdir()
        (directory / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {there}\n")
        (directory / "RECORD").touch()
    said = install("sdk", "--dry-run", *(("--rocm", rocm) if rocm else ()), python=python, status=None).stdout
    assert ("already has all of it" in said) == is_kept, said
