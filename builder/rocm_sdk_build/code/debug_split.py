"""The separation of debug information from a library or program, into a file that debuggers find by its build ID.

eu-strip (elfutils) does the work: all that is loaded stays at its place, and so do GPU code and its markers. This
module compares the loaded bytes, and the build IDs of both files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import RewriteError
from rocm_sdk.base.processes import find_program, run
from rocm_sdk.fit.debug_names import debug_name
from rocm_sdk_build.base.errors import PackagingError

from .elf64 import HEADER, SHT_NOBITS, Elf, read_elf, read_exactly

TOOL = "eu-strip"
_INSTALL = f"install elfutils, which has {TOOL} (apt-get install elfutils); or build without --split-debug"
_INFORMATION = (b".debug_info", b".zdebug_info")
_BUILD_ID = b".note.gnu.build-id"
_NOTE = b"GNU\0"
_LINK = b".gnu_debuglink"
_CHUNK = 1 << 20


class Debuggable(NamedTuple):
    """A file with debug information; `build_id` is in hexadecimal digits, "" if the file has none."""

    build_id: str

    @property
    def place(self) -> str:
        """The path of the file for the debug information, below a directory in which debuggers look."""
        return debug_name(self.build_id)


def which_strip() -> str:
    """Return the path of eu-strip.

    Raise PackagingError if the program is not installed.
    """
    found = find_program(TOOL)
    if found is None:
        raise PackagingError(f"{TOOL}: is not installed", _INSTALL)
    return found


def debuggable(path: Path) -> Debuggable | None:
    """Return the facts of a file with debug information.

    Return None for a file without debug information, or of a form that the reader does not support.
    """
    try:
        with path.open("rb") as file:
            elf = read_elf(file.fileno(), str(path))
            return Debuggable(_build_id(elf)) if _has_information(elf) else None
    except RewriteError:
        return None


def split(source: Path, stripped: Path, debug: Path, name: str) -> None:
    """Write the file without debug information, and its debug information; the source stays.

    `name` is the name of the debug information for debuggers. Raise PackagingError if eu-strip fails, or if something
    else changes.
    """
    places = [os.path.abspath(each) for each in (debug, stripped, source)]
    command = [which_strip(), "--strip-debug", "-F", name, "-f", places[0], "-o", places[1], places[2]]
    done = run(command)
    if done.returncode or not (stripped.is_file() and debug.is_file()):
        said = done.stderr.strip() or f"exit status {done.returncode}"
        raise PackagingError(f"{source}: {TOOL} failed: {said}", "build without --split-debug, and report it")
    try:
        _compare(source, stripped, debug)
    except RewriteError as error:
        raise _wrong(source, error.message) from error


def _compare(source: Path, stripped: Path, debug: Path) -> None:
    with source.open("rb") as old, stripped.open("rb") as new, debug.open("rb") as information:
        before, after = read_elf(old.fileno(), str(source)), read_elf(new.fileno(), str(stripped))
        taken = read_elf(information.fileno(), str(debug), is_whole=False)
        if _facts(before) != _facts(after):
            raise _wrong(source, "its headers changed")
        end = max((each.offset + each.file_size for each in before.segments), default=0)
        for start in range(HEADER.size, end, _CHUNK):
            size = min(_CHUNK, end - start)
            if read_exactly(old.fileno(), start, size, str(source)) != read_exactly(
                new.fileno(), start, size, str(stripped)
            ):
                raise _wrong(source, f"a loaded part changed, behind byte {start}")
        if _has_information(after) or after.find(_LINK) is None:
            raise _wrong(source, "the new file has debug information, or no link to it")
        if not _has_information(taken) or not _build_id(before) == _build_id(after) == _build_id(taken):
            raise _wrong(source, "the file with its debug information has none, or another build ID")


def _facts(elf: Elf) -> tuple[object, ...]:
    """Return the facts that must stay: all headers except the section table's place, and loaded sections."""
    loaded = [each for each in elf.sections if each.is_loaded]
    rows = [(each.name, each.type, each.flags, each.address, each.offset, each.size) for each in loaded]
    return elf.ident, elf.header[:5], elf.header[6:10], elf.segments, rows


def _has_information(elf: Elf) -> bool:
    found = (elf.find(name) for name in _INFORMATION)
    return any(index is not None and elf.sections[index].type != SHT_NOBITS for index in found)


def _build_id(elf: Elf) -> str:
    """Return the build ID in hexadecimal digits, or "".

    The note has the gABI's form: three words, the name, the value.
    """
    index = elf.find(_BUILD_ID)
    data = elf.read(elf.sections[index]) if index is not None else b""
    name, size, kind = (int.from_bytes(data[at : at + 4], "little") for at in (0, 4, 8))
    is_valid = (name, kind) == (len(_NOTE), 3) and data[12:16] == _NOTE and 2 <= size <= len(data) - 16 and size <= 64
    return data[16 : 16 + size].hex() if is_valid else ""


def _wrong(source: Path, what: str) -> PackagingError:
    return PackagingError(
        f"{source}: {TOOL} did not only take the debug information out: {what}", "build without --split-debug"
    )
