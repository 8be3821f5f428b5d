"""A terminal of a test's own, on which a command prints."""

import os
import pty
import subprocess
from collections.abc import Mapping


def terminal_output(
    command: list[str], environment: Mapping[str, str], status: int = 0, *, streams: tuple[str, ...] = ("stdout",)
) -> str:
    """Return what a command prints on a terminal; the command must end with `status`.

    streams: which of stdin, stdout, stderr are the terminal's; the others are empty, and not shown.
    """
    master, slave = pty.openpty()
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) | dict.fromkeys(streams, slave)
    with subprocess.Popen(command, env=environment, **ends) as process:
        os.close(slave)
        output = b""
        while chunk := _read(master):
            output += chunk
        assert process.wait() == status
    os.close(master)
    return output.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the other side of the terminal is closed
        return b""
