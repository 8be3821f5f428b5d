"""A terminal of a test's own, on which a command prints."""

import os
import pty
import subprocess


def terminal_output(command: list[str], environment: dict[str, str], status: int = 0) -> str:
    """Return the output of a command on a terminal, without its messages; the command must end with `status`."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, env=environment, stdout=slave, stderr=subprocess.DEVNULL) as process:
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
