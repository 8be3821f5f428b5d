#!/usr/bin/env python3
"""The tasks of `make help`, each run in a clone of its own, in which no task before has made or installed anything.

usage: tasks_alone.py [TASK...]      default: all that _LEFT_OUT does not name

The clones have what is committed. The clone of a task that fails is kept, with the task's output in FILE.log beside the
clone. The exit status is 1 if a task fails, 2 for a word that is no task.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LAST_LINES = 5  # lines of the output of a task that fails

# Task -> reason why the task does not run unless the user names it.
_LEFT_OUT = {
    "help": "makes nothing",
    "setup": "installs packages of the system for all tasks",
    "install": "installs below PREFIX",
    "clean": "removes what tasks have made",
    "test-one": "needs T",
    "release": "needs VERSION, and does this itself",
    "tasks-alone": "is this",
}


def tasks() -> list[str]:
    """Return the tasks of the menu, in its order."""
    menu = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  make (\S+)", menu, re.MULTILINE)


def run_alone(task: str, directory: Path) -> int:
    """Run a task in a new clone below a directory, and print how the task ended; return the exit status of make."""
    clone, log = directory / task, directory / f"{task}.log"
    start = time.monotonic()
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    with log.open("w", encoding="utf-8") as output:
        status = subprocess.run(
            ["make", "-C", str(clone), task], stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
        ).returncode
    print(f"make {task:<14} {time.monotonic() - start:7.1f} s  {'ok' if status == 0 else 'FAILED'}", flush=True)
    if status == 0:
        shutil.rmtree(clone)
        return 0
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]:
        print(f"    {line}")
    print(f"    all of it: {log}", flush=True)
    return status


def main(words: list[str]) -> int:
    """Run the named tasks, or all tasks if none is named.

    Return 0 if all tasks succeed, 1 if a task fails, and 2 for a word that is no task.
    """
    known = tasks()
    if unknown := [word for word in words if word not in known]:
        print(f"tasks_alone.py: no task of make help: {', '.join(unknown)}", file=sys.stderr)
        return 2
    chosen = words or [task for task in known if task not in _LEFT_OUT]
    directory = Path(tempfile.mkdtemp(prefix="rocm-sdk-tasks-"))
    failed = [task for task in chosen if run_alone(task, directory) != 0]
    if not failed:
        shutil.rmtree(directory)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
