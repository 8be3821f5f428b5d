"""Python programs that run on while a test looks at them."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sample_site import clean_environment


@contextmanager
def waiting_programs() -> Iterator[Callable[..., int]]:
    """Yield a function that starts Python code, which goes on until the end of the block.

    The function returns the process, once the code has said that it is ready.
    """
    running: list[subprocess.Popen[str]] = []

    def start(site: Path, code: str, **environment: str) -> int:
        command = [sys.executable, "-c", code + "\nprint('ready', flush=True)\ninput()"]
        variables = clean_environment() | {"PYTHONPATH": str(site)} | environment
        process = subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process.pid

    yield start
    for process in running:
        process.communicate("\n")
