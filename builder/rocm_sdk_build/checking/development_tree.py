"""Whether the links of the development tree lead to files of the other packages: it is made where all artifacts are,
so that it shows which ones another machine did not have.
"""

from __future__ import annotations

import lzma
import posixpath
import shutil
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from rocm_sdk.base.tar_reader import TarReader
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk_build.files.damaged import package_damage, refusing_damage
from rocm_sdk_build.packages.tar_archives import DEVEL_ARCHIVES

_SDK = "_rocm_sdk_"  # with what platform directories begin


class LostLinks(NamedTuple):
    """The links that lead to nothing."""

    number: int
    first: str  # where one of them leads


def lost_links(archive: Path, wheel: Path, known: Container[str]) -> LostLinks:
    """known: files of all packages, by their names in wheels. PackagingError for a damaged archive, and for one that
    has more than the disk could."""
    room, number, first = shutil.disk_usage(archive.parent).free, 0, ""
    with refusing_damage(package_damage(wheel, archive.name)), _opened(archive) as stream:
        for member in TarReader(stream, is_stream=True).members():
            room -= member.size
            if room < 0:
                raise ValueError("its files have more bytes than the disk has free")
            if member.issym():
                tree = member.name.partition("/")[0]
                target = posixpath.normpath(posixpath.join(posixpath.dirname(member.name), member.linkname))
                if target.startswith(_SDK) and not target.startswith(f"{tree}/") and target not in known:
                    number, first = number + 1, first or target
    return LostLinks(number, first)


def archive_among(files: list[Path]) -> Path | None:
    """The archive of the development tree among the files of a wheel."""
    return next((path for path in files if path.name in DEVEL_ARCHIVES.values()), None)


@contextmanager
def _opened(archive: Path) -> Iterator[IO[bytes]]:
    openers: dict[str, Any] = {".xz": lzma.open, ".zst": lambda path: import_zstd().open(path)}
    with openers.get(archive.suffix, lambda path: path.open("rb"))(archive) as stream:
        yield stream
