"""The command `clear-execstack`: an installed library that does not ask for an executable stack any more."""

from __future__ import annotations

import os
from argparse import Namespace

from rocm_sdk import RocmSdkError
from rocm_sdk.installed.readers import inspect_library
from rocm_sdk.installed.record import read_record, record_text, with_new_digests
from rocm_sdk.terminal.output import remember_done, tell
from rocm_sdk_build.base.errors import AbsentInputError
from rocm_sdk_build.base.input_file import open_input
from rocm_sdk_build.base.new_file import new_file
from rocm_sdk_build.base.pieces import read_range, write_all

from .executable_stack import clear_executable_stack, writes_trampolines
from .verification import refuse_without_proc


def run(options: Namespace) -> int:
    """Print the change; return 1 if the library is unchanged, or 0."""
    path = options.file
    _refuse_absent(path, "name an installed library")
    if options.record is not None:
        _refuse_absent(options.record, "name the RECORD of its distribution")
    try:
        why = _clear(path, options.record)
    except RocmSdkError as error:
        why = error.message.removeprefix(f"{path}: ")
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except ValueError as error:
        why = str(error)
    if not why:
        remember_done(f"{path} asks for no executable stack any more")
    tell(f"{path} is unchanged: {why}" if why else f"cleared the flag for an executable stack of {path}")
    return 1 if why else 0


def _refuse_absent(path: str, fix: str) -> None:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise AbsentInputError(f"{path}: there is no such file", fix) from error


def _clear(path: str, record: str | None) -> str:
    """Replace a library by a copy without the flag; return "", or the reason if the library stays.

    Other names of the old file, as in uv's cache, keep the flag. `record` is the RECORD that has the library's digest.
    """
    refuse_without_proc(path)
    if not inspect_library(path).executable_stack:
        return "it asks for none"
    if writes_trampolines(path):
        return "its code writes to the stack what it executes there"
    # The target of a symbolic link, as of links into uv's cache, belongs to others too: the copy replaces the link.
    with open_input(path) as source, new_file(path, source, may_be_link=True) as new:
        for chunk in read_range(source.descriptor, 0, source.facts.st_size, path):
            write_all(new, chunk, os.lseek(new, 0, os.SEEK_END))
        clear_executable_stack(new, path)
        if record is not None:
            source.refuse_changed()
            _renew_digest(record, path, new)
    return ""


def _renew_digest(record: str, path: str, new: int) -> None:
    """Put the digest of the new file into RECORD before the file gets its name.

    An interrupted run can be repeated. Raise ValueError if RECORD does not list the file.
    """
    site = os.path.dirname(os.path.dirname(os.path.abspath(record)))
    place = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    with open_input(record) as source, new_file(record, source, may_be_link=True) as renewed:
        before = read_record(record).rows
        rows = with_new_digests(before, site, {place: f"/proc/self/fd/{new}"})
        if rows == before:
            raise ValueError(f"{record} does not list it")
        write_all(renewed, record_text(rows).encode(), 0)
