"""The search for the package that installed a file: the package has the file's digest, and will report a change."""

from __future__ import annotations

import os

from rocm_sdk.base.starting import find_program, run
from rocm_sdk.installed.record import read_record

_SECONDS = 10
_LEVELS = 8  # directories between a file and site-packages


def checks_of(path: str) -> str | None:
    """Return the command that will report the changed file, or the RECORD that lists the file.

    The command is `dpkg -V PACKAGE` or `rpm -V PACKAGE`. Return None if no package has the file.
    """
    place = os.path.abspath(path)
    return _record_of(place) or _ask(["dpkg-query", "-S", place], "dpkg -V") or _ask(["rpm", "-qf", place], "rpm -V")


def _ask(command: list[str], check: str) -> str | None:
    if find_program(command[0]) is None:
        return None
    try:
        done = run(command, variables={"LC_ALL": "C"}, seconds=_SECONDS)
    except OSError:
        return None
    name = done.stdout.partition(":")[0].partition("\n")[0].strip()
    return f"{check} {name}" if done.returncode == 0 and name else None


def _record_of(path: str) -> str | None:
    directory = os.path.dirname(path)
    for _ in range(_LEVELS):
        try:
            names = sorted(name for name in os.listdir(directory) if name.endswith(".dist-info"))
        except OSError:
            return None
        for name in names:
            record = os.path.join(directory, name, "RECORD")
            if _lists(record, os.path.relpath(path, directory)):
                return record
        directory = os.path.dirname(directory)
    return None


def _lists(record: str, path: str) -> bool:
    try:
        return any(row.path == path for row in read_record(record).rows)
    except (OSError, ValueError):
        return False
