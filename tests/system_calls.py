"""What a program asks of the kernel."""

import re
import shutil
import subprocess
from collections import Counter
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


def opened(command: list[str], below: Path, record: Path, env: Mapping[str, str] | None = None) -> Counter[str]:
    """How often a command opens each file below a directory, in all its threads and by whatever name."""
    lines = traced(command, "open,openat,openat2", record, env)
    paths = [found[1] for line in lines if (found := re.search(r" = \d+<([^>]*)>$", line))]
    files = [path for path in paths if path.startswith(f"{below}/") and Path(path).is_file()]
    names = {Path(path).stat().st_ino: Path(path).name for path in files}
    return Counter(names[Path(path).stat().st_ino] for path in files)
