"""The compiler of small programs without a C library.

The programs are the commands of a package, which find the package from their own place (`trampoline.c`), and stand-ins
for links to programs (`exec_stub.c`).
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.processes import run
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.rules import Script

_log = logging.getLogger(__name__)
_SOURCE = Path(__file__).with_name("trampoline.c")
_STUB = Path(__file__).with_name("exec_stub.c")
_ROOM = 1 << 16  # bytes, more than such a program has
_FLAGS = (
    *("-std=gnu17", "-Os", "-s", "-static", "-fno-pie", "-nostdlib", "-ffreestanding", "-fno-stack-protector"),
    *("-fno-asynchronous-unwind-tables", "-Wl,--build-id=none", "-Wl,-z,noexecstack"),
)


class Place(NamedTuple):
    """The names of the directories in site-packages in which the programs of a package are found."""

    platform: str
    dist_info: str
    devel: str  # the development tree, or ""
    core: str  # core's directory for programs that need core's libraries, or ""


def place_of(platform: str, nonce: str, dist_info: str) -> Place:
    """Return the place of the package with this platform directory.

    `nonce` is the end of the names of platform directories.
    """
    core = f"_rocm_sdk_core{nonce}"
    if platform == core:
        return Place(platform, dist_info, devel=f"_rocm_sdk_devel{nonce}", core="")
    return Place(platform, dist_info, devel="", core=core)


def write_trampoline(target: Path, script: Script, place: Place) -> bool:
    """Write a program that starts the program of the script; return False if the compiler cannot make it."""
    values = {
        "NAME": script.name,
        "PROGRAM": script.path,
        "PLATFORM": place.platform,
        "DIST_INFO": place.dist_info,
        "MODULE": "rocm_sdk_devel" if place.devel else "",
        "DEVEL": place.devel,
        "CORE": place.core,
    }
    wrong = _compile(_SOURCE, target, values, f"-DEXPANDS={int(script.expands)}")
    if wrong:
        _log.warning("commands are Python scripts: %s", wrong)
    return not wrong


def write_stub(target: Path, link: str) -> None:
    """Write a program that starts another program beside it, by the text of the link that it replaces.

    Raise PackagingError if the compiler cannot make the program.
    """
    wrong = _compile(_STUB, target, {"NAME": target.name, "LINK": link})
    if wrong:
        raise PackagingError(f"{target.name}, which is a link to a program: {wrong}", "install a C compiler, or set CC")


def _compile(source: Path, target: Path, texts: Mapping[str, str], *options: str) -> str:
    """Make a program without a C library; return the fault of the compiler, or "".

    Raise OSError if there is no room for the program.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc")
    command = [compiler, *_FLAGS, *(f"-D{name}={json.dumps(value)}" for name, value in texts.items()), *options]
    try:
        done = run([*command, str(source), "-o", str(target)])
    except OSError as error:
        return f"{compiler}: {'not found' if isinstance(error, FileNotFoundError) else error.strerror}"
    if done.returncode:
        target.write_bytes(bytes(_ROOM))
        target.unlink()
        return f"the compiler cannot make programs of them: {done.stderr.strip()}"
    return ""
