"""The order of the steps of an adoption, as the kernel sees them: a lock, then data before names."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from system_calls import traced


def adoption_calls(make_environment: Callable[..., Any], tmp_path: Path, names: str) -> list[str]:
    """Return the system calls of these names that an adoption makes."""
    environment = make_environment("pip")
    environment.install("rocm==7.10.0", "rocm-sdk-loader")
    return traced([str(environment.python), "-m", "rocm_sdk.adoption"], names, tmp_path / "calls")


@pytest.mark.always
def test_files_reach_the_disk_before_they_get_their_names(make_environment: Callable[..., Any], tmp_path: Path) -> None:
    lines = adoption_calls(make_environment, tmp_path, "rename,renameat,renameat2,fsync,flock")
    synced: set[str] = set()
    named = 0
    is_locked = False
    for line in lines:
        is_locked |= "flock(" in line and "LOCK_EX" in line
        if match := re.search(r"fsync\(\d+<(.*)>\)", line):
            synced.add(os.path.normpath(match[1]))
        if match := re.search(r'rename(?:at2?)?\("([^"]*\.adopting)",', line):
            assert os.path.normpath(match[1]) in synced, line
            assert is_locked, line
            named += 1
    assert named > 3


@pytest.mark.always
def test_names_reach_the_disk_one_step_after_the_other(make_environment: Callable[..., Any], tmp_path: Path) -> None:
    """The names that an adoption keeps are there before RECORD lists them, and before the files are replaced."""
    lines = adoption_calls(make_environment, tmp_path, "rename,renameat,renameat2,fsync")
    unsynced: set[str] = set()
    named = 0
    for line in lines:
        if match := re.search(r"fsync\(\d+<(.*)>\)", line):
            unsynced.discard(os.path.normpath(match[1]))
        if match := re.search(r'rename(?:at2?)?\("[^"]*\.adopting", .*?"([^"]*)"', line):
            directory = os.path.normpath(match[1]).rpartition("/")[0]
            assert unsynced <= {directory}, line
            assert not (match[1].endswith("/RECORD") and unsynced), line
            unsynced.add(directory)
            named += 1
    assert named > 3
    assert not unsynced
