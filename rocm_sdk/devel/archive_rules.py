"""The rules for the content of a development tree's archive. No archive can write outside the tree.

All rules concern texts: the tree is written into a new directory in which this package made every directory, so a path
that is safe as text is safe on disk.
"""

from __future__ import annotations

import re
from tarfile import TarInfo
from typing import NamedTuple

from rocm_sdk.errors import BadArchiveError

from .layout import NOTES, TREE_PREFIX, nonce_of

DIRECTORY, FILE, HARD_LINK, LINK, RUNTIME = "directory", "file", "hard link", "link", "runtime"

_TREE_NAME = re.compile(rf"{TREE_PREFIX}\w*", re.ASCII)
_MOST = 1 << 18  # files and directories; an installed ROCm has fewer than 100,000
_SPECIAL_BITS = 0o7000
_DEEPEST = 64  # directories; the deepest of an SDK has 15, and few programs can remove a thousand
_END_OF_TIME = 1 << 34  # seconds; ext4 cannot store later times


class Member(NamedTuple):
    """A member of the archive.

    path is relative to the tree, "" for the tree itself. kind is DIRECTORY, FILE, HARD_LINK (to an earlier file), LINK
    (a symbolic link within the tree) or RUNTIME (a symbolic link into a platform directory beside the tree). is_program
    says whether it is executable. size is in bytes, mtime in seconds. target is the text of a symbolic link, or the
    path of a hard link's file.
    """

    path: str
    kind: str
    is_program: bool = False
    size: int = 0
    mtime: float = 0
    target: str = ""


class ArchiveRules:
    """The check of the members of one archive, in their order."""

    def __init__(self, archive: str) -> None:
        self.tree_name = ""
        self._archive = archive
        self._kinds = {"": DIRECTORY}
        self._implied: set[str] = set()

    def admit(self, header: TarInfo) -> list[Member]:
        """Return the member, after its parent directories that no member has named. Raise BadArchiveError."""
        path = self._path(header)
        kind, target = self._kind(header, path)
        known = self._kinds.get(path)
        if known == DIRECTORY == kind and (path in self._implied or not path):
            self._implied.discard(path)
            return []
        if known is not None:
            raise self._refuse(header, "occurs twice")
        members = self._missing_parents(header, path)
        self._kinds[path] = kind
        if len(self._kinds) > _MOST:
            raise self._refuse(header, f"is beyond the {_MOST:,} files and directories that a tree may have")
        size = header.size if kind == FILE else 0
        members.append(Member(path, kind, bool(header.mode & 0o111), size, header.mtime, target))
        return members

    def finish(self) -> None:
        """End the check after the last member. Raise BadArchiveError if the archive contains no tree."""
        if self._kinds.get("__init__.py") != FILE:
            raise BadArchiveError(
                f"{self._archive} contains no development tree: no {self.tree_name or TREE_PREFIX}/__init__.py",
                "reinstall rocm-sdk-devel",
                self._archive,
            )

    def _path(self, header: TarInfo) -> str:
        if not is_text(header.name):
            raise self._refuse(header, "has a name that is not UTF-8 text")
        parts = header.name.split("/")
        if "" in parts or "." in parts or ".." in parts:
            raise self._refuse(header, "has a name with an empty part, . or ..")
        if len(parts) > _DEEPEST:
            raise self._refuse(header, f"is more than {_DEEPEST} directories deep")
        if not self.tree_name:
            if not _TREE_NAME.fullmatch(parts[0]):
                raise self._refuse(header, f"is outside {TREE_PREFIX}")
            self.tree_name = parts[0]
        if parts[0] != self.tree_name:
            raise self._refuse(header, f"is outside {self.tree_name}")
        if len(parts) > 1 and parts[1] == NOTES:
            raise self._refuse(header, f"has a reserved name ({NOTES})")
        return "/".join(parts[1:])

    def _kind(self, header: TarInfo, path: str) -> tuple[str, str]:
        if header.isdir():
            return DIRECTORY, ""
        if not path:
            raise self._refuse(header, "is not a directory")
        if header.issym():
            return self._link(header, path)
        if header.islnk():
            prefix = f"{self.tree_name}/"
            target = header.linkname[len(prefix) :] if header.linkname.startswith(prefix) else ""
            if self._kinds.get(target) != FILE:
                raise self._refuse(header, f"is a hard link to {header.linkname}, which is not an earlier file")
            return HARD_LINK, target
        if header.issparse():
            raise self._refuse(header, "is a sparse file")
        if not header.isreg():
            raise self._refuse(header, "is neither a file, a directory nor a link")
        if header.mode & _SPECIAL_BITS:
            raise self._refuse(header, "has a setuid, setgid or sticky bit")
        if header.size < 0 or not 0 <= header.mtime < _END_OF_TIME:
            raise self._refuse(header, f"has an impossible size or date ({header.size}, {header.mtime})")
        return FILE, ""

    def _link(self, header: TarInfo, path: str) -> tuple[str, str]:
        text = header.linkname
        depth = path.count("/")
        directory = directory_of_link(depth, text)
        if directory is None:
            raise self._refuse(header, f"is a link to {text}, which leaves the tree")
        if directory == "":
            return LINK, text
        if not leads_into_package(path, text, nonce_of(self.tree_name)):
            raise self._refuse(header, f"is a link to {text}, outside the tree and the SDK's packages")
        return RUNTIME, text

    def _missing_parents(self, header: TarInfo, path: str) -> list[Member]:
        parents = []
        parent = path.rpartition("/")[0]
        while (known := self._kinds.get(parent)) is None:
            parents.append(parent)
            parent = parent.rpartition("/")[0]
        if known != DIRECTORY:
            raise self._refuse(header, f"is below {parent}, which is not a directory")
        for parent in parents:
            self._kinds[parent] = DIRECTORY
            self._implied.add(parent)
        return [Member(parent, DIRECTORY) for parent in reversed(parents)]

    def _refuse(self, header: TarInfo, what: str) -> BadArchiveError:
        return BadArchiveError(
            f"{self._archive}: member {header.name!r} {what}; nothing was extracted",
            "get rocm-sdk-devel from a source that you trust",
            self._archive,
        )


def directory_of_link(depth: int, text: str) -> str | None:
    """Return the place that a symbolic link with `text`, `depth` directories below the tree, points into.

    The result is "" for the tree, the name of a directory beside the tree, or None for any other place. `..` is allowed
    only at the beginning of the text, where every directory that it leaves is a real one.
    """
    parts = text.split("/")
    ups = 0
    while ups < len(parts) and parts[ups] == "..":
        ups += 1
    rest = parts[ups:]
    if "" in parts or ".." in rest or not is_text(text):  # an absolute path begins with an empty part
        return None
    if ups <= depth:
        return ""
    if ups > depth + 1 or len(rest) < 2:
        return None
    return rest[0]


def leads_into_package(path: str, text: str, nonce: str) -> bool:
    """Return whether a symbolic link with `text` at the tree's `path` points into a platform directory beside it."""
    directory = directory_of_link(path.count("/"), text)
    return bool(directory) and is_platform_directory(str(directory), nonce)


def is_text(text: str) -> bool:
    """Return whether a text can be a file name and a row of RECORD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def is_platform_directory(name: str, nonce: str) -> bool:
    """Return whether a name is the name of a directory of the SDK's packages with the tree's nonce."""
    return re.fullmatch(rf"_rocm_(sdk_\w+|profiler\w*){re.escape(nonce)}", name, re.ASCII) is not None
