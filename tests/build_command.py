"""Runs of `rocm-sdk-build` to its end, for tests that look at its output and files.

The command runs in a fork of a process that has its modules imported (`forking_server.py`). A test of descriptors,
signals, limits, imports or the start itself starts an interpreter, by `programs.completed` or `subprocess`. So does
this module where a variable that is read at the start alone differs from the variable of the tests.
"""

import atexit
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Lock

from programs import completed

PROGRAM = Path(__file__).with_name("forking_server.py")
# How the variables begin that the interpreter or the C library reads at its start.
OF_THE_START = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC_", "MALLOC_")
CHUNK = 1 << 16


class Server:
    """The server of this process, which ends with it."""

    def __init__(self) -> None:
        self.seconds = 0.0  # that commands took of a processor
        self.variables = of_the_start(os.environ)
        self._lock = Lock()
        self._connection, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM)], stdin=its, stdout=subprocess.DEVNULL, start_new_session=True
            )
        atexit.register(self.end)

    def ask(self, request: Mapping[str, object], stdin: int) -> tuple[int, str, str]:
        """Return the status and the output of a command."""
        pipes = [os.pipe(), os.pipe()]
        streams = array("i", [stdin, *(written for _, written in pipes)])
        with self._lock:
            message = json.dumps(request).encode()
            self._connection.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
            for _, written in pipes:
                os.close(written)
            out, err = _read([read for read, _ in pipes])
            answer = json.loads(self._connection.recv(CHUNK))
        self.seconds += answer["seconds"]
        return answer["status"], out, err

    def end(self) -> None:
        self._connection.close()
        self._process.wait()


@cache
def server() -> Server:
    return Server()


def seconds() -> float:
    """Return the processor seconds of the commands that ran in forks."""
    return server().seconds if server.cache_info().currsize else 0.0


def build_command(
    *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `rocm-sdk-build WORDS` with `given` on its standard input, and return its output and status."""
    texts = [str(word) for word in words]
    environment = dict(os.environ if env is None else env)
    if of_the_start(environment) != server().variables:
        return completed([sys.executable, "-m", "rocm_sdk_build", *texts], cwd=cwd, env=environment, input=given)
    request = {"words": texts, "directory": str(cwd or Path.cwd()), "umask": _umask(), "environment": environment}
    with tempfile.TemporaryFile() as file:
        file.write(given.encode())
        file.seek(0)
        return subprocess.CompletedProcess(["rocm-sdk-build", *texts], *server().ask(request, file.fileno()))


def of_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(OF_THE_START)}


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _read(pipes: list[int]) -> list[str]:
    """Return the data of pipes until their end, as text."""
    found = {pipe: bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, CHUNK)
                found[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [data.decode().replace("\r\n", "\n") for data in found.values()]
