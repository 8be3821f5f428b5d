"""The kind of a file for the packager: a shared library, a program, device code or data."""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import RocmSdkError
from rocm_sdk.installed.readers import inspect_library
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.elf64 import ET_DYN, ET_EXEC, HEADER, PT_DYNAMIC, PT_INTERP, SEGMENT

_GIT_LFS = b"version https://git-lfs.github.com/spec/"
_NAME = re.compile(r"[^/\\]*")
_AMD_GPU = 224


class Kind(Enum):
    """The kind of a file, which decides how the packager treats it."""

    LIBRARY = "library"
    PROGRAM = "program"  # needs the dynamic linker
    STATIC = "static program"
    DATA = "data"  # scripts, archives, device code, texts


class Facts(NamedTuple):
    """The facts of a file that the packager has to know.

    `soname` is the SONAME of a library, `machine` the e_machine of a program or library, and `executable_stack` says
    whether a library asks for an executable stack.
    """

    kind: Kind
    soname: str | None = None
    machine: int = 0
    executable_stack: bool = False


def look_at(path: Path) -> Facts:
    """Return the facts of a file from its first bytes, and from the dynamic section of a library.

    Raise PackagingError for a Git LFS pointer instead of the file, and for a damaged library.
    """
    with path.open("rb") as file:
        start = file.read(64)
        if start.startswith(_GIT_LFS):
            raise PackagingError(f"{path}: is a pointer of Git LFS, not the file", "git lfs pull")
        if start[:6] != b"\x7fELF\x02\x01" or len(start) < 64:
            return Facts(Kind.DATA)
        _, kind, machine, _, _, table, _, _, _, size, count, *_ = HEADER.unpack(start)
        if machine == _AMD_GPU or kind not in (ET_EXEC, ET_DYN):
            return Facts(Kind.DATA)
        if count and size != SEGMENT.size:
            raise PackagingError(f"{path}: is damaged: its program headers are not of the size that they must have")
        if table + size * count > os.fstat(file.fileno()).st_size:
            raise PackagingError(f"{path}: is damaged: its program headers lie outside the file")
        file.seek(table)
        rows = file.read(size * count)
    types = {SEGMENT.unpack_from(rows, at)[0] for at in range(0, len(rows) - SEGMENT.size + 1, SEGMENT.size)}
    if PT_INTERP in types:
        return Facts(Kind.PROGRAM, None, machine)
    if PT_DYNAMIC not in types or kind == ET_EXEC:
        return Facts(Kind.STATIC, None, machine)
    try:
        facts = inspect_library(path)
    except RocmSdkError as error:
        raise PackagingError(f"{path}: {error.detail}") from error
    soname = facts.soname
    if soname is not None and (soname in (".", "..") or not soname.isprintable() or not _NAME.fullmatch(soname)):
        raise PackagingError(
            f"{path}: its SONAME {soname!r} is not a name of a file",
            f"patchelf --set-soname {path.name} {path}",
        )
    return Facts(Kind.LIBRARY, soname or None, machine, facts.executable_stack)
