"""Locks that others hold: what waits for them ends, and says so."""

import fcntl
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from rocm_sdk.adoption.errors import AdoptionError
from rocm_sdk.base.locking import lock_within
from rocm_sdk_build.building import debian
from rocm_sdk_build.errors import PackagingError


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """Yield a directory that somebody has locked, and whose file `lock` is locked too."""
    (tmp_path / "lock").touch()
    descriptors = [os.open(path, os.O_RDONLY) for path in (tmp_path, tmp_path / "lock")]
    for each in descriptors:
        fcntl.flock(each, fcntl.LOCK_EX)
    yield tmp_path
    for each in descriptors:
        os.close(each)


def test_a_lock_that_another_holds(held: Path) -> None:
    descriptor = os.open(held, os.O_RDONLY)
    try:
        assert not lock_within(descriptor, 0.2)
    finally:
        os.close(descriptor)


def test_a_lock_that_nobody_holds(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        assert lock_within(descriptor, 0)
        other = os.open(tmp_path, os.O_RDONLY)
        assert not lock_within(other, 0)
        os.close(other)
    finally:
        os.close(descriptor)


def test_a_directory_that_another_adoption_changes(held: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adopt = import_module("rocm_sdk.adoption.adopt")  # its package has a function of that name
    monkeypatch.setattr(adopt, "_LOCK_SECONDS", 0.2)
    with (
        pytest.raises(AdoptionError, match=r"another process has changed it for more than 0\.2 s"),
        adopt._locked(held),
    ):
        raise AssertionError("it is locked")


def test_a_cache_that_another_one_uses(held: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "_LOCK_SECONDS", 0.2)
    source = debian.Source(held)
    with (
        pytest.raises(PackagingError, match=r"another process works in this cache for more than 0\.2 s"),
        debian._locked(source),
    ):
        raise AssertionError("it is locked")
