"""The writer of .tar.gz files whose bytes depend on names and contents alone.

All members have one date, owner and mode.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterable
from pathlib import Path


def write_plain_tar(output: Path, members: Iterable[tuple[str, Path]], date: int) -> None:
    """Write files and whole directories to an archive, under the given names and in this order.

    `date` is the date of all members, in seconds since 1970.
    """

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.mtime, info.uid, info.gid, info.uname, info.gname = date, 0, 0, "", ""
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        return info

    with (
        output.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=date) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT, dereference=True) as archive,
    ):
        for name, path in members:
            archive.add(path, name, filter=plain)
