"""Compiles the commands of a package: small programs that find the package from their own place (`trampoline.c`)."""

from __future__ import annotations

import json
import logging
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from .rules import Script

_log = logging.getLogger(__name__)
_SOURCE = Path(__file__).with_name("trampoline.c")
_FLAGS = (
    *("-std=gnu17", "-Os", "-s", "-static", "-fno-pie", "-nostdlib", "-ffreestanding", "-fno-stack-protector"),
    *("-fno-asynchronous-unwind-tables", "-Wl,--build-id=none", "-Wl,-z,noexecstack"),
)


class Place(NamedTuple):
    """Where the programs of a package are found; names of directories in site-packages."""

    platform: str
    dist_info: str
    devel: str  # the development tree, or ""
    core: str  # of a package whose programs need core's libraries, or ""


def write_trampoline(target: Path, script: Script, place: Place) -> bool:
    """Writes a program that starts that of the script; False where the compiler cannot make it."""
    values = {
        "NAME": script.name,
        "PROGRAM": script.path,
        "PLATFORM": place.platform,
        "DIST_INFO": place.dist_info,
        "MODULE": "rocm_sdk_devel" if place.devel else "",
        "DEVEL": place.devel,
        "CORE": place.core,
    }
    texts = [f"-D{name}={json.dumps(value)}" for name, value in values.items()]
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [os.environ.get("CC", "cc"), *_FLAGS, *texts, f"-DEXPANDS={int(script.expands)}"]
    try:
        done = subprocess.run([*command, str(_SOURCE), "-o", str(target)], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        _log.warning("commands are Python scripts: %s: not found", error.filename)
        return False
    if done.returncode:
        _log.warning("commands are Python scripts: the compiler cannot make programs of them: %s", done.stderr.strip())
        return False
    target.chmod(0o755)
    return True
