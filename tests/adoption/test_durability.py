"""The order of the steps of an adoption, as the kernel sees them: a lock, then data before names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_files_reach_the_disk_before_they_get_their_names(make_environment: Callable[..., Any], tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not on this system: make setup")
    environment = make_environment("pip")
    environment.install("rocm==7.10.0", "rocm-sdk-loader")
    record = tmp_path / "calls"
    command = [
        "strace",
        "-f",
        "-y",
        "-o",
        str(record),
        "-e",
        "trace=rename,renameat,renameat2,fsync,flock",
        str(environment.python),
    ]
    result = subprocess.run([*command, "-m", "rocm_sdk.adoption"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    # A name in an open directory is written as a path: `4</site>, "x"` becomes `"/site/x"`.
    lines = [re.sub(r'\d+<([^>]*)>, "', r'"\1/', line) for line in record.read_text().splitlines()]
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
