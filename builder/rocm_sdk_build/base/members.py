"""Members of zip files, which are hostile: a name may lead anywhere, two may be one file, a size may be any number.

`unpack` unpacks the wheels of others; `output/trial_installation.py` compares each file with RECORD while it writes it.
"""

from __future__ import annotations

import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

from rocm_sdk.installed.directory_walk import DEPTH_LIMIT

_RATIO = 1032  # deflate cannot do better
_HEAD = 64  # bytes that a short member may have beyond the ratio


def wrong_member(archive: zipfile.ZipFile) -> str:
    """Return the fault of the members' names, for messages.

    Return "" if each name is a file or directory of its own inside the archive.
    """
    kinds: dict[str, bool] = {}  # path -> is a directory
    for member in archive.infolist():
        name = member.filename.removesuffix("/")
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\0" in member.orig_filename:
            return f"its member {member.orig_filename!r} leads out of it"
        if len(parts) > DEPTH_LIMIT:
            return f"its member {name[:60]!r}... is more than {DEPTH_LIMIT} directories deep"
        if name in kinds:
            return f"it has two members of the name {name!r}"
        kinds[name] = member.is_dir()
    for name in kinds:
        parts = name.split("/")
        for depth in range(1, len(parts)):
            if not kinds.get("/".join(parts[:depth]), True):
                return f"its member {name!r} is below a file"
    return ""


def wrong_size(archive: zipfile.ZipFile) -> str:
    """Return the fault of the kinds and sizes of a wheel's members, for messages.

    Return "" if each member is a file of a size that its compressed data can have.
    """
    for member in archive.infolist():
        mode = member.external_attr >> 16
        if member.is_dir() or stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            return f"its member {member.filename!r} is not a file"
        if mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX):
            return f"its member {member.filename!r} would run with the rights of another user (mode {mode & 0o7777:o})"
        if member.flag_bits & 1:
            return f"its member {member.filename!r} is encrypted"
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return f"its member {member.filename!r} is compressed by method {member.compress_type}"
        if member.file_size > member.compress_size * _RATIO + _HEAD:
            return f"its member {member.filename!r} claims {member.file_size} bytes, more than it can hold"
    return ""


def unpack(
    archive: zipfile.ZipFile,
    directory: str,
    refuse: Callable[[str], Exception],
    no_room: Callable[[int, int], Exception],
    *,
    copies: int = 1,
    is_there: Callable[[zipfile.ZipInfo], bool] = lambda _: False,
) -> list[tuple[zipfile.ZipInfo, str]]:
    """Write the members of an archive below a directory, except the members that are there already.

    Return each written member with its place. `is_there` says whether a member is there already. `copies` is the number
    of times that the members must have room.

    Nothing is written if the members' names are not sound, or if the members have no room: then `refuse` makes the
    error from the text that says what is wrong, or `no_room` from the bytes that the members take and the bytes that
    are free.
    """
    if wrong := wrong_member(archive):
        raise refuse(wrong)
    Path(directory).mkdir(parents=True, exist_ok=True)
    members = [each for each in archive.infolist() if not is_there(each)]
    size, free = sum(each.file_size for each in members), shutil.disk_usage(directory).free
    if size * copies > free:
        raise no_room(size, free)
    return [(member, archive.extract(member, directory)) for member in members]
