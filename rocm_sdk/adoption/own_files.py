"""The copies of the files that AMD's distribution `rocm` has too, in an archive that the build puts beside this module.

A file that `rocm` overwrote or removed is restored from the archive without a network.
"""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

from .distribution import AdoptionError

_ARCHIVE = Path(__file__).with_name("own_files.zip")
_CALL = "from rocm_sdk.__main__ import main"
_BODY = f'import sys\n\n{_CALL}\n\nif __name__ == "__main__":\n    sys.exit(main())\n'
_SHELL = "#!/bin/sh\n'''exec' {} \"$0\" \"$@\"\n' '''\n"  # two lines for the shell, a string for Python
_LONGEST_LINE = 127  # bytes that every kernel reads of the first line


def read(site: Path, name: str) -> bytes | None:
    """Return the content of one of our files, named as in RECORD; None if there is no copy of it.

    For the command, it is the installed wrapper, if that works: each installer writes its own form.
    """
    if is_script(name):
        path = site / name
        return path.read_bytes() if is_sound(path) else wrapper(sys.executable)
    try:
        with zipfile.ZipFile(_ARCHIVE) as archive:
            return archive.read(name)
    except (FileNotFoundError, KeyError, zipfile.BadZipFile):
        return None


def is_sound(path: Path) -> bool:
    """Return whether a file is a wrapper that starts this interpreter and calls our function.

    The wrapper may be pip's, uv's or ours.
    """
    try:
        text = path.read_text(encoding="utf-8")
        is_program = os.access(path, os.X_OK)
    except (OSError, UnicodeDecodeError):
        return False
    return is_program and text.startswith(tuple(_beginnings())) and _CALL in text.splitlines()


def _beginnings() -> Iterator[str]:
    """Yield the first lines of a wrapper that start this interpreter, under each of its names beside it."""
    directory = os.path.dirname(sys.executable)
    for name in os.listdir(directory):
        interpreter = os.path.join(directory, name)
        if not name.startswith("python") or os.path.realpath(interpreter) != os.path.realpath(sys.executable):
            continue
        if _fits_first_line(interpreter):
            yield f"#!{interpreter}\n"
        words = [shlex.quote(interpreter), f'"$(dirname -- "$(realpath -- "$0")")"/{shlex.quote(name)}']
        if "'" not in interpreter:
            words.append(f"'{interpreter}'")
        if not any(each in interpreter for each in '$`"\\'):  # these are special between double quotes
            words.append(f'"{interpreter}"')
        yield from map(_SHELL.format, words)


def _fits_first_line(interpreter: str) -> bool:
    return len(os.fsencode(f"#!{interpreter}")) <= _LONGEST_LINE and not any(each.isspace() for each in interpreter)


def wrapper(interpreter: str) -> bytes:
    """Return a wrapper for an interpreter.

    If the first line cannot name it, a line for the shell does, which Python skips.
    Raises AdoptionError for a path that neither can hold.
    """
    if _fits_first_line(interpreter):
        return os.fsencode(f"#!{interpreter}\n{_BODY}")
    if "\\" in interpreter or not interpreter.isprintable():
        raise AdoptionError(
            f"{interpreter}: no wrapper can name this interpreter", "move the environment to another path", interpreter
        )
    return f"{_SHELL.format(shlex.quote(interpreter))}{_BODY}".encode()


def is_script(name: str) -> bool:
    """Return whether a name is the command, in the scripts directory outside of site-packages."""
    return name.startswith("../") and name.endswith("/bin/rocm-sdk")


def is_script_directory(directory: Path) -> bool:
    """Return whether a directory has this interpreter's commands.

    `pip install --target` writes paths that lead elsewhere.
    """
    schemes = (sysconfig.get_path("scripts", scheme) for scheme in sysconfig.get_scheme_names())
    return os.path.realpath(directory) in map(os.path.realpath, schemes)
