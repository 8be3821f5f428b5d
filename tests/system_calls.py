"""The system calls of a program."""

import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from programs import completed
from system_programs import need

_BEGUN = re.compile(r"\d+ +(?:<\.\.\. )?(?:vfork|fork|clone3?)\b.* = (\d+)$")


def traced(
    command: list[str], calls: str, record: Path, env: Mapping[str, str] | None = None, *, status: int | None = 0
) -> list[str]:
    """Return the system calls (`rename,fsync`) of a command, one line each; `record` is overwritten.

    The command must end with `status`; None stands for any status.
    """
    need("strace")
    strace = ["strace", "-f", "-y", "-o", str(record), "-e", f"trace={calls}"]
    # A file that is in memory is slow under strace.
    result = completed([*strace, *command], env={"ROCM_SDK_READ_AHEAD": "0", **(os.environ if env is None else env)})
    assert status is None or result.returncode == status, result.stderr
    # A name in an open directory is written as a path: `4</store/trees>, "x"` becomes `"/store/trees/x"`.
    return [re.sub(r'\d+<([^>]*)>, "', r'"\1/', line) for line in record.read_text().splitlines()]


def opened(
    command: list[str],
    below: Path,
    record: Path,
    env: Mapping[str, str] | None = None,
    *,
    alone: bool = False,
    status: int | None = 0,
) -> Counter[str]:
    """Return the number of times that a command opens each file below a directory, by its path there.

    All threads and all names of a file count. With `alone` the programs that the command starts do not count. `status`
    is as in `traced`.
    """
    lines = traced(command, "open,openat,openat2,vfork,fork,clone,clone3", record, env, status=status)
    begun = [found[1] for line in lines if (found := _BEGUN.match(line)) and "CLONE_THREAD" not in line]
    own = [line for line in lines if not (alone and line.split(maxsplit=1)[0] in begun)]
    paths = [found[1] for line in own if (found := re.search(r" = \d+<([^>]*)>$", line))]
    files = [path for path in paths if path.startswith(f"{below}/") and Path(path).is_file()]
    names = {Path(path).stat().st_ino: Path(path).relative_to(below).as_posix() for path in files}
    return Counter(names[Path(path).stat().st_ino] for path in files)
