"""Whether the development tree fits the other packages: it is made where all artifacts are.

Its links lead to their files, which shows what another machine did not have; and it has each of their files.
"""

from __future__ import annotations

import lzma
import posixpath
import shutil
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from rocm_sdk.base.tar_reader import TarReader
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk.devel.absent import is_list_of_links, links_listed, path_in_tree
from rocm_sdk_build.files.damaged import package_damage, refusing_damage
from rocm_sdk_build.packages.tar_archives import DEVEL_ARCHIVES

_SDK = "_rocm_sdk_"  # with what platform directories begin


class Tree(NamedTuple):
    """What the archive of the tree has, compared with the files of the other packages."""

    lost: int  # links to files that no package has
    first: str  # where one of them leads
    absent: list[str]  # files of the packages that the tree lacks, sorted


def read_tree(archive: Path, wheel: Path, known: Container[str], expected: Iterable[str]) -> Tree:
    """known: files of the packages for all GPUs, by their names in wheels; expected: those that the tree is to have.
    PackagingError for a damaged archive, and for one that has more than the disk could."""
    room, number, first = shutil.disk_usage(archive.parent).free, 0, ""
    links = set[str]()  # of which one may lead to a directory that has files of the package
    wanted = {path: name for name in expected if (path := path_in_tree(name)) is not None}
    with refusing_damage(package_damage(wheel, archive.name)), _opened(archive) as stream:
        for member in TarReader(stream, is_stream=True).members():
            room -= member.size
            if room < 0:
                raise ValueError("its files have more bytes than the disk has free")
            tree, _, path = member.name.partition("/")
            wanted.pop(path, None)
            if member.issym():
                links.add(path)
                target = posixpath.normpath(posixpath.join(posixpath.dirname(member.name), member.linkname))
                if target.startswith(_SDK) and not target.startswith(f"{tree}/") and target not in known:
                    number, first = number + 1, first or target
    absent = [name for path, name in wanted.items() if links.isdisjoint(map(str, PurePosixPath(path).parents))]
    return Tree(number, first, sorted(absent))


def unlisted(site: Path, files: Iterable[Path]) -> list[str]:
    """Files of a device package that its lists of links for the tree lack, sorted. ValueError and the like for a
    damaged list."""
    names = [str(path.relative_to(site)) for path in files]
    listed = {path for name in names if is_list_of_links(name) for path in links_listed(str(site), name)}
    return sorted(name for name in names if (path := path_in_tree(name)) is not None and path not in listed)


def archive_among(files: list[Path]) -> Path | None:
    """The archive of the development tree among the files of a wheel."""
    return next((path for path in files if path.name in DEVEL_ARCHIVES.values()), None)


@contextmanager
def _opened(archive: Path) -> Iterator[IO[bytes]]:
    openers: dict[str, Any] = {".xz": lzma.open, ".zst": lambda path: import_zstd().open(path)}
    with openers.get(archive.suffix, lambda path: path.open("rb"))(archive) as stream:
        yield stream
