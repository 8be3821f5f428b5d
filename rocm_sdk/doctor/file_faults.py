"""The faults of files that RECORD lists: a file exists, unchanged and usable, or has a fault."""

from __future__ import annotations

import errno
import os
import stat
from itertools import chain, count
from typing import TYPE_CHECKING

from rocm_sdk.base.files import names_in, read_beginning
from rocm_sdk.base.users import owner_or_root
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.installed.record import RecordedFile, has_digest

if TYPE_CHECKING:
    from rocm_sdk._native import Code

ASIDE = ".rocm-sdk-old"  # the ending of a name that a fix moves aside
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_SIZE = 1024  # bytes: a pointer is smaller
_PROGRAM_DIRECTORIES = ("/bin/", "/libexec/")
_PROGRAM_MAGICS = (b"\x7fELF", b"#!")
_MODULES = (".pm", ".so")  # endings of files there that begin like programs, but are not programs

Fault = tuple["Code", dict[str, object]]  # and facts


def fault_of(path: str, file: RecordedFile, deep: bool) -> Fault | None:
    """Return the fault of a file; None if it has none. deep: its content is compared, too."""
    try:
        fault = _fault_of(path, file, os.stat(path), deep)
        if fault is not None and fault[0] in {"E-FILE-002", "E-FILE-003"} and _starts_with(path, _PROGRAM_MAGICS[0]):
            parent, name = os.path.split(path)  # may be the user's own; no library's name begins with a dot
            fault[1]["aside"] = f"ln {quoted_for_shell(path)} {quoted_for_shell(free_name(f'{parent}/.{name}'))}"
        return fault
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            return no_file(path, f"a link to {os.readlink(path)}, which is not there")
        return "E-FILE-001", {}
    except OSError as error:
        if os.path.islink(path) and error.errno == errno.ELOOP:
            return no_file(path, f"a link to {os.readlink(path)}, which leads back to it")
        return "E-FILE-007", {"detail": error.strerror}
    except ValueError as error:  # a name that no file can have
        return "E-FILE-007", {"detail": error}


def no_file(path: str, detail: str) -> Fault:
    """Return the fault of something else where a file should be. The fix moves one name, never a directory with files.

    RECORD may name any directory, even site-packages.
    """
    is_directory = os.path.isdir(path) and not os.path.islink(path)
    empty: dict[str, object] = {"aside": f"rmdir {quoted_for_shell(path)}"}  # an installer removes it, too
    facts = {"detail": detail, **(empty if is_directory else put_aside(path))}
    if is_directory and names_in(path):
        facts["untried"] = "RECORD does not say whose the files in it are"
    if os.path.isfile(path) and not os.path.islink(path):
        del facts["removal"]  # somebody's file
    return "E-FILE-009", facts


def put_aside(path: str) -> dict[str, object]:
    """Return the facts of a fix that moves a name aside, and removes it once its package is installed again."""
    other = quoted_for_shell(free_name(path))
    return {"aside": f"mv {quoted_for_shell(path)} {other}", "removal": f"rm {other}"}


def free_name(path: str) -> str:
    """Return a name that no file has, for what is moved aside."""
    names = chain([f"{path}{ASIDE}"], (f"{path}{ASIDE}{number}" for number in count(2)))
    return next(name for name in names if not os.path.lexists(name))


# Type of a file -> words.
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO, for which a program that opens it waits",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _fault_of(path: str, file: RecordedFile, found: os.stat_result, deep: bool) -> Fault | None:
    """Return the fault of an existing file; None if it has none."""
    if not stat.S_ISREG(found.st_mode):
        return no_file(path, KINDS.get(stat.S_IFMT(found.st_mode), "no regular file"))
    if not found.st_mode & stat.S_IRUSR:
        return "E-FILE-004", _facts_of_mode(found)
    if found.st_size < _LFS_SIZE and _starts_with(path, _LFS_POINTER):
        return "E-FILE-006", {}
    if file.size is not None and found.st_size != file.size:
        return "E-FILE-002", {"found": found.st_size, "wanted": file.size}
    if not found.st_mode & stat.S_IXUSR and _is_program(file.path, path):
        return "E-FILE-005", _facts_of_mode(found)
    if deep and file.digest and not has_digest(path, file.digest):
        return "E-FILE-003", {}
    return None


def _facts_of_mode(found: os.stat_result) -> dict[str, object]:
    """Return the mode, and who can change it if this user cannot."""
    mode: dict[str, object] = {"mode": f"{stat.S_IMODE(found.st_mode):04o}"}
    return mode if os.geteuid() in {0, found.st_uid} else mode | {"owner": owner_or_root(found.st_uid)}


def _is_program(name: str, path: str) -> bool:
    """Return whether a file is in a directory of programs, and begins like one."""
    is_in_place = any(part in f"/{name}" for part in _PROGRAM_DIRECTORIES)
    return is_in_place and not name.endswith(_MODULES) and _starts_with(path, *_PROGRAM_MAGICS)


def _starts_with(path: str, *beginnings: bytes) -> bool:
    return read_beginning(path, max(map(len, beginnings))).startswith(beginnings)
