"""Names of reports that many nodes write to one directory: no two are the same, and none is cut.

Hosts and process numbers repeat in containers, so a name that is taken gets a number.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import BinaryIO

from .facts import node_name

# Variables with the number of this task: those of Slurm, Flux, PMI, Open MPI.
_TASKS = ("SLURM_PROCID", "FLUX_TASK_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
_MOST = 10_000  # names that are tried


class BadPatternError(ValueError):
    """A pattern of a name with a letter that stands for nothing."""


def name_of_report(pattern: str) -> str:
    """The pattern with %h (host), %n (node), %t (task, else 0), %p (process) and %% filled in.

    Raises BadPatternError for another letter. What is filled in is one part of a path.
    """
    parts = pattern.split("%%")
    return "%".join(map(_filled, parts))


def _filled(text: str) -> str:
    first, *rest = text.split("%")
    values = {
        "h": os.uname().nodename,
        "n": node_name(),
        "t": next((value for name in _TASKS if (value := os.environ.get(name))), "0"),
        "p": str(os.getpid()),
    }
    found = [first]
    for each in rest:
        if each[:1] not in values:
            raise BadPatternError(f"%{each[:1]} stands for nothing; %h, %n, %t, %p and %% do")
        value = values[each[0]].replace("/", "_").replace("\0", "_")
        found.append((f"_{value}" if value in (".", "..") else value) + each[1:])
    return "".join(found)


@contextlib.contextmanager
def numbered_file(path: str) -> Iterator[BinaryIO]:
    """A new file that becomes `path` when it is complete; if that is taken, `path` with a number before its ending.

    Nothing is left of a block that fails. Raises OSError.
    """
    directory, name = os.path.split(os.path.abspath(path))
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    partial = f".rocm-sdk-{secrets.token_hex(8)}.partial"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(partial, flags, 0o666, dir_fd=place), "wb") as file:
            yield file
        _name(partial, name, place)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial, dir_fd=place)
        os.close(place)


def _name(partial: str, name: str, place: int) -> None:
    base, ending = os.path.splitext(name)
    for number in range(_MOST):
        wanted = f"{base}.{number}{ending}" if number else name
        try:
            os.link(partial, wanted, src_dir_fd=place, dst_dir_fd=place, follow_symlinks=False)
            return
        except FileExistsError:
            continue
        except OSError:  # a file system without links: the name is reserved, and replaced
            with contextlib.suppress(FileExistsError):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                os.close(os.open(wanted, flags, 0o666, dir_fd=place))
                os.replace(partial, wanted, src_dir_fd=place, dst_dir_fd=place)
                return
    raise FileExistsError(17, f"{_MOST} reports have this name", name)
