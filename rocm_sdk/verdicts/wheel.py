"""The part of a wheel that a check reads, written to a directory: its ELF files, GPU code and tables of kernels."""

from __future__ import annotations

import os
import shutil
import zipfile
from email.parser import Parser
from typing import IO

from rocm_sdk.archives.candidate import damage, is_candidate, refusal
from rocm_sdk.archives.zip_archive import DAMAGE, open_zip
from rocm_sdk.errors import BadArchiveError
from rocm_sdk.targets.image_kinds import DIRECTORY
from rocm_sdk.walking import DEPTH_LIMIT

from .requirements import requirements

_ENDINGS = (".dat", ".dat.zlib", ".db", ".kdb", ".fdb.txt", ".db.txt", ".co", ".hsaco", ".kpack")
_RATIO = 1032  # deflate cannot do better
_HEADERS = 1 << 20  # bytes of METADATA that are read
_HEAD = 64
_BUFFER = 1 << 20


def unpacked(path: str, root: str) -> tuple[str, ...]:
    """Writes the files below `root`; the names of the distributions that the wheel requires.

    Raises BadArchiveError for a wheel that is not what it claims to be, LibraryAccessError if there is no room.
    """
    needed: tuple[str, ...] = ()
    with open(path, "rb") as file, open_zip(path, file) as archive:
        members = [each for each in archive.infolist() if not each.filename.endswith("/")]
        _refuse_without_room(path, members, root)
        for member in members:
            name = f"{path}/{member.filename}"
            try:
                if member.filename.endswith(".dist-info/METADATA"):
                    needed = _requirements(archive.open(member).read(_HEADERS))
                else:
                    _unpack(archive, member, name, root)
            except BadArchiveError:
                raise
            except (*DAMAGE, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise refusal(name, f"it is unpacked to {root}: {error.strerror}") from error
                raise damage(name, f"it cannot be read from the archive: {error}") from error
    return needed


def _refuse_without_room(path: str, members: list[zipfile.ZipInfo], root: str) -> None:
    room = os.statvfs(root)
    size = sum(each.file_size for each in members)
    if size > room.f_bavail * room.f_frsize:
        raise refusal(
            path, f"it takes {size} bytes to unpack, and {root} has no room for them; TMPDIR names another place"
        )


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, root: str) -> None:
    parts = member.filename.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise damage(name, "its name leads out of the wheel")
    if len(parts) > DEPTH_LIMIT:
        raise damage(f"{name[:200]}...", f"it lies in more than {DEPTH_LIMIT} directories")
    if member.file_size > member.compress_size * _RATIO + _HEAD:
        raise damage(
            name, f"it claims {member.file_size} bytes, which {member.compress_size} compressed ones cannot hold"
        )
    with archive.open(member) as stream:
        head = stream.read(_HEAD)
        if DIRECTORY in parts[:-1]:  # which directories there are says enough
            os.makedirs(os.path.join(root, *parts[:-1]), exist_ok=True)
        elif is_candidate(head) or member.filename.endswith(_ENDINGS):
            _write(stream, head, os.path.join(root, *parts))


def _write(stream: IO[bytes], head: bytes, target: str) -> None:
    """The zip reader stops at the size that the wheel's list says."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "xb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file, _BUFFER)


def _requirements(text: bytes) -> tuple[str, ...]:
    headers = Parser().parsestr(text.decode(errors="replace"), headersonly=True)
    return requirements([str(value) for value in headers.get_all("Requires-Dist") or []])
