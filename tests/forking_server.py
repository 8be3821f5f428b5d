"""The runs of `rocm-sdk-build` for tests, each in a fork of this process, whose modules are imported already.

Nothing but imports has happened in this process, so no command sees another. tests/build_command.py starts it, sends
the commands through the socket that is its standard input, and gets the status of each; the socket's end is its own.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
import threading
import traceback
from array import array
from typing import Any

STREAMS = 3
LIMIT = 1 << 20  # bytes of a request


def import_all() -> None:
    """Import the modules of commands, except the demonstration and modules that become a part of packages."""
    import rocm_sdk_build

    for found in pkgutil.walk_packages(rocm_sdk_build.__path__, "rocm_sdk_build."):
        if not found.name.startswith(("rocm_sdk_build.output.rocm_selector", "rocm_sdk_build.demo")):
            importlib.import_module(found.name)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Return a request, and the descriptors that are its standard streams, or None at the end."""
    space = socket.CMSG_LEN(STREAMS * array("i").itemsize)
    data, ancillary, _, _ = connection.recvmsg(LIMIT, space)
    if not data:
        return None
    ((_, _, descriptors),) = ancillary
    return json.loads(data), array("i", descriptors).tolist()


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Take the state of a new process that runs the command."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["directory"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["rocm-sdk-build", *request["words"]]


def run() -> int:
    """Run the command, and return the exit status, as the interpreter's."""
    from rocm_sdk_build.__main__ import main

    try:
        return main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def end(status: int) -> None:
    """End the process as the interpreter does."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def main() -> None:
    with socket.socket(fileno=os.dup(0)) as connection:
        import_all()
        gc.collect()
        gc.freeze()
        while (received := receive(connection)) is not None:
            child = os.fork()
            if child == 0:
                connection.close()
                become(*received)
                end(run())
            for stream in received[1]:
                os.close(stream)
            _, status, used = os.wait4(child, 0)
            answer = {"status": os.waitstatus_to_exitcode(status), "seconds": used.ru_utime + used.ru_stime}
            connection.send(json.dumps(answer).encode())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the terminal sends it to all
    main()
