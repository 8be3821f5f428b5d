"""A run of rocm-sdk-build that writes its peaks to standard error: bytes of memory, and bytes below a directory.

The directory is largest where a file in it is about to be removed or replaced, or in the end: there it is measured. The
memory is the peak of the largest process, as the kernel has kept it, without the files that this process has mapped in
the end. Neither depends on other work of the machine.

usage: observed_run.py DIRECTORY WORD...
"""

import json
import os
import re
import resource
import sys
from pathlib import Path
from typing import Any

LARGE = 1 << 20  # bytes of a file; where one goes, the directory is measured even if nothing was opened since
GROWING = {"open", "os.link", "os.symlink", "os.truncate", "subprocess.Popen"}


def size_of(directory: str) -> int:
    """Return the bytes of the blocks of a directory's files, each file once."""
    found = {}
    for parent, _, names in os.walk(directory):
        for name in names:
            try:
                facts = os.lstat(f"{parent}/{name}")
            except FileNotFoundError:  # another thread has removed it
                continue
            found[facts.st_ino] = facts.st_blocks * 512
    return sum(found.values())


def memory() -> int:
    """Return the peak memory of the largest process in bytes.

    The peak that getrusage has for this process includes the program before it, so /proc is read.
    """
    status = Path("/proc/self/status").read_text()
    peak, files = (int(re.findall(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[0]) for name in ("VmHWM", "RssFile"))
    return (max(peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) - files) * 1024


class Watch:
    """The largest size of a directory; `grown` says that the directory has grown since it was measured."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.grown = False
        self.largest = 0

    def measure(self) -> None:
        self.grown = False
        self.largest = max(self.largest, size_of(self.directory))

    def see(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See an event of `sys.addaudithook`."""
        if event in {"os.remove", "os.rename"}:
            path, directory = arguments if event == "os.remove" else arguments[1::2]
            if self.grown or is_large(path, directory):
                self.measure()
        elif event in GROWING:
            self.grown = self.grown or event != "open" or bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))


def is_large(path: str, directory: int) -> bool:
    """Return whether the file that goes is large."""
    try:
        return os.lstat(path, dir_fd=None if directory == -1 else directory).st_size >= LARGE
    except OSError:
        return False


def main() -> None:
    from rocm_sdk_build.__main__ import main as run

    watch = Watch(sys.argv[1])
    sys.addaudithook(watch.see)
    assert run(sys.argv[2:]) == 0
    watch.measure()
    print(json.dumps({"memory": memory(), "disk": watch.largest}), file=sys.stderr)


if __name__ == "__main__":
    main()
