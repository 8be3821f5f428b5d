"""What a program asks of the kernel, for tests of the order in which files reach the disk."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path


def traced(command: list[str], calls: str, record: Path, env: Mapping[str, str] | None = None) -> list[str]:
    """The system calls (`rename,fsync`) of a command that succeeds, one line each; `record` is overwritten."""
    assert shutil.which("strace"), "strace is needed: make setup"
    strace = ["strace", "-f", "-y", "-o", str(record), "-e", f"trace={calls}"]
    result = subprocess.run([*strace, *command], env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    # A name in an open directory is written as a path: `4</store/trees>, "x"` becomes `"/store/trees/x"`.
    return [re.sub(r'\d+<([^>]*)>, "', r'"\1/', line) for line in record.read_text().splitlines()]
