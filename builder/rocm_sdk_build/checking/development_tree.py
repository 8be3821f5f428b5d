"""The check that the development tree fits the other packages: the tree is made where all artifacts are.

The links of the tree lead to files of the other packages, which reveals files that another machine did not have. The
tree has each file of the other packages, and all that its packages for CMake and pkg-config require and name.
"""

from __future__ import annotations

import lzma
import posixpath
import shutil
import tarfile
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.value_text import size_text
from rocm_sdk.base.zstd import import_zstd
from rocm_sdk.devel.absent import is_list_of_links, links_listed, path_in_tree
from rocm_sdk.devel.cmake.package_faults import check_packages
from rocm_sdk.fit.code.tar_reader import TarReader
from rocm_sdk_build.base.damaged import package_damage, refusing_damage
from rocm_sdk_build.packages.tar_archives import DEVEL_ARCHIVES

_SDK = "_rocm_sdk_"  # start of the platform directories' names
_ROOT = "/tree"  # root of the tree's paths, while its CMake packages are read
_ENDINGS = (".cmake", ".pc")  # of texts
_TEXTS_LIMIT = 1 << 26  # bytes of all texts
_MOST_LINKS = 256  # parts of a path, including parts of links


class Tree(NamedTuple):
    """The content of the tree's archive, compared with the files of the other packages."""

    lost: int  # links to files that no package has
    first: str  # target of one of these links
    absent: list[str]  # files of the packages that the tree lacks, sorted
    unmet: list[str]  # sentences about files that its packages for CMake and pkg-config name and the tree lacks
    notes: list[str]  # about packages that neither the tree nor CMake has, and texts that are not read


def read_tree(archive: Path, wheel: Path, known: Container[str], expected: Iterable[str]) -> Tree:
    """Return the comparison of the archive with the files of the other packages.

    `known` are the files of the packages for all GPUs, by their names in wheels; `expected` are the files that the tree
    is to have. Raise PackagingError for a damaged archive, and for an archive that has more than the disk could hold.
    """
    room, number, first = shutil.disk_usage(archive.parent).free, 0, ""
    packages = _Packages(archive.parent.parent)
    links = packages.links  # a link may lead to a directory with files of the package
    wanted = {path: name for name in expected if (path := path_in_tree(name)) is not None}
    with refusing_damage(package_damage(wheel, archive.name)), _opened(archive) as stream:
        reader = TarReader(stream, is_stream=True)
        for member in reader.members():
            room -= member.size
            if room < 0:
                raise ValueError("its files have more bytes than the disk has free")
            tree, _, path = member.name.partition("/")
            wanted.pop(path, None)
            packages.add(member, path, reader)
            if member.issym():
                target = posixpath.normpath(posixpath.join(posixpath.dirname(member.name), member.linkname))
                if target.startswith(_SDK) and not f"{target}/".startswith(f"{tree}/") and target not in known:
                    number, first = number + 1, first or target
    absent = [name for path, name in wanted.items() if links.keys().isdisjoint(map(str, PurePosixPath(path).parents))]
    checked = check_packages(packages, "which the tree lacks")
    unmet = [f"{fault.path}: {fault.said}" if fault.is_of_files else fault.said for fault in checked.faults]
    unmet = [each.replace(f"{_ROOT}/", "") for each in unmet]
    notes = [f"{fault.said}; CMake has no module for it" for fault in checked.foreign]
    notes += [checked.unread.replace(f"{_ROOT}/", "")] if checked.unread else []
    return Tree(number, first, sorted(absent), unmet, notes)


def unlisted(site: Path, files: Iterable[Path]) -> list[str]:
    """Return files of a device package that its lists of links for the tree lack, sorted.

    Raise ValueError or another error of damaged content for a damaged list.
    """
    names = [str(path.relative_to(site)) for path in files]
    listed = {path for name in names if is_list_of_links(name) for path in links_listed(str(site), name)}
    return sorted(name for name in names if (path := path_in_tree(name)) is not None and path not in listed)


class _Packages:
    """The packages of an archive for CMake and pkg-config, as if the tree were the directory _ROOT."""

    def __init__(self, site: Path) -> None:
        """Begin without members; `site` is the directory in which the other packages are installed."""
        self._site = site
        self._paths = {""}  # paths of all members, and of the directories above
        self._texts: dict[str, bytes] = {}
        self._left = _TEXTS_LIMIT
        self.links: dict[str, str] = {}  # path -> target

    def add(self, member: tarfile.TarInfo, path: str, reader: TarReader) -> None:
        """Take the next member of the archive, whose path in the tree is given.

        Raise ValueError if the texts have more than _TEXTS_LIMIT bytes.
        """
        self._paths.update((path, *(str(parent) for parent in PurePosixPath(path).parents)))
        if member.issym():
            self.links[path] = member.linkname
        elif member.isreg() and path.endswith(_ENDINGS):
            self._left -= member.size
            if self._left < 0:
                raise ValueError(f"its packages for CMake and pkg-config have more than {size_text(_TEXTS_LIMIT)}")
            file = reader.archive.extractfile(member)
            self._texts[f"{_ROOT}/{path}"] = b"" if file is None else file.read()

    @property
    def texts(self) -> Sequence[str]:
        """The paths of all texts, including links to other packages."""
        linked = [f"{_ROOT}/{path}" for path in self.links if path.endswith(_ENDINGS) and self._outside(path)]
        return (*self._texts, *linked)

    def text(self, path: str) -> str | None:
        """Return the text of a file, or None if the file is not there."""
        data = self._texts.get(path)
        if data is None and (outside := self._outside(path.removeprefix(f"{_ROOT}/"))) is not None:
            with suppress(OSError):
                data = read_beginning(f"{self._site}/{outside}", _TEXTS_LIMIT)
        return None if data is None else data.decode(errors="replace")

    def exists(self, path: str) -> bool | None:
        """Return whether the tree has a file or directory, or None for a path outside of the tree."""
        place = self._resolved(path)
        # A link to a file that no package has is reported as a lost link.
        return None if place is None else place in self._paths

    def is_link(self, path: str) -> bool | None:
        """Return whether a path in the tree is a link."""
        above = self._resolved(posixpath.dirname(path))
        return None if above is None else posixpath.join(above, posixpath.basename(path)) in self.links

    def names(self, path: str) -> Sequence[str] | None:
        """Return the names in a directory of the tree, or None for a directory outside."""
        place = self._resolved(path)
        return None if place is None or place in self.links else self._names.get(place, ())

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for path in self._paths - {""}:
            names.setdefault(posixpath.dirname(path), []).append(posixpath.basename(path))
        return names

    def _resolved(self, path: str) -> str | None:
        """Return the path that a path in the tree leads to; None for one that leads out, or is not in the tree."""
        if path != _ROOT and not path.startswith(f"{_ROOT}/"):
            return None
        parts, place = path.removeprefix(_ROOT).strip("/").split("/"), ""
        for _ in range(_MOST_LINKS):
            if not parts:
                break
            place = f"{place}/{parts.pop(0)}".lstrip("/")
            if place in self.links:
                if self._outside(place) is not None:
                    return place
                target = posixpath.normpath(posixpath.join(posixpath.dirname(place), self.links[place]))
                parts, place = [*target.split("/"), *parts], ""
        return place

    def has_package(self, _name: str) -> bool:
        """Return False: no other place has a package that counts for the tree."""
        return False

    def _outside(self, path: str) -> str | None:
        """Return where in site-packages a link leads; None if the path stays in the tree, or is not a link."""
        target = posixpath.normpath(posixpath.join("tree", posixpath.dirname(path), self.links.get(path, ".")))
        return target if target.startswith(_SDK) else None


def archive_among(files: list[Path]) -> Path | None:
    """Return the archive of the development tree among the files of a wheel, or None."""
    return next((path for path in files if path.name in DEVEL_ARCHIVES.values()), None)


@contextmanager
def _opened(archive: Path) -> Iterator[IO[bytes]]:
    openers: dict[str, Any] = {".xz": lzma.open, ".zst": lambda path: import_zstd().open(path)}
    with openers.get(archive.suffix, lambda path: path.open("rb"))(archive) as stream:
        yield stream
