"""The writer of tar archives: the development tree inside its wheel, and files of the selector's archive."""

from __future__ import annotations

import io
import lzma
import stat
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from rocm_sdk.base.zstd import import_zstd
from rocm_sdk_build.base.input_file import open_input
from rocm_sdk_build.base.source_date import source_date
from rocm_sdk_build.base.wheels import Member

from .package import DevelEntry

_CHUNK = 1 << 20

# Compression of the archive -> its name in the wheel, which deflates an archive without compression.
DEVEL_ARCHIVES = {"none": "_devel.tar", "xz": "_devel.tar.xz", "zstd": "_devel.tar.zst"}
_ZSTD_LEVEL = 12


def size_of_archive(entries: Iterable[DevelEntry]) -> int:
    """Return the approximate size of the archive in bytes."""
    entries = list(entries)
    return sum(entry.source.stat().st_size for entry in entries if entry.source) + tarfile.BLOCKSIZE * 4 * len(entries)


@contextmanager
def _compressing(stream: Member | BinaryIO, compression: str) -> Iterator[Any]:
    """Yield a file whose data arrives compressed in the wheel."""
    output: Any = stream  # write() alone is needed, here and by tarfile
    if compression == "xz":
        with lzma.open(output, "wb") as compressed:
            yield compressed
    elif compression == "zstd":
        with import_zstd().open(output, "wb", level=_ZSTD_LEVEL) as compressed:
            yield compressed
    else:
        yield output


def write_devel_archive(entries: Iterable[DevelEntry], tree: str, stream: Member | BinaryIO, compression: str) -> None:
    """Write the tree as a tar archive, whose first member makes the tree importable.

    `compression` is a key of DEVEL_ARCHIVES.
    """
    with (
        _compressing(stream, compression) as output,
        tarfile.open(fileobj=output, mode="w|", bufsize=_CHUNK, format=tarfile.PAX_FORMAT) as members,
    ):
        members.addfile(_member(f"{tree}/__init__.py"))
        for entry in entries:
            member = _member(f"{tree}/{entry.path}")
            if entry.kind == "directory":
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                members.addfile(member)
            elif entry.kind == "link":
                member.type, member.linkname = tarfile.SYMTYPE, entry.link
                members.addfile(member)
            else:
                assert entry.source is not None
                with open_input(str(entry.source)) as file:
                    member.size = file.facts.st_size if entry.text is None else len(entry.text)
                    member.mode = 0o755 if file.facts.st_mode & stat.S_IXUSR else 0o644
                    members.addfile(member, file.file if entry.text is None else io.BytesIO(entry.text))
                    file.refuse_changed()


def _member(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.mode, member.mtime = 0o644, source_date()
    return member


def tar_gz_member(name: str, data: bytes) -> tuple[tarfile.TarInfo, io.BytesIO]:
    """Return a file of an archive of sources."""
    member = _member(name)
    member.size = len(data)
    return member, io.BytesIO(data)
