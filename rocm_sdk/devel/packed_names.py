"""The names in the archive of a development tree that is not extracted, so that a wrong name extracts nothing.

Only headers are read. Where the archive is not compressed, the data between them is not read either.
"""

from __future__ import annotations

from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.errors import BadArchiveError, DevelopmentTreeError

from .archive import Archive
from .layout import PACKED, find_archive, find_site, tree_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


class Packed(NamedTuple):
    """An archive that lacks what was looked for.

    archive: its path. tree: the place that its tree would have. names: the names in some directories.
    """

    archive: str
    tree: str
    names: frozenset[str]


def archive_without(wanted: Collection[str], directories: Collection[str]) -> Packed | None:
    """Return the archive of a packed tree that has no wanted path; None: it may have one.

    Paths are relative to the tree. None, too, where the tree is not packed, one of the directories is a link, or the
    archive cannot be read: the extraction says what is wrong with it.
    """
    site = find_site()
    path = find_archive(site) if site is not None and tree_state(site) == PACKED else None
    if path is None:
        return None
    found: set[str] = set()
    tree = ""
    try:
        with Archive(path) as archive:
            for header in archive.headers():
                tree, _, member = header.name.partition("/")
                if any(f"{member}/".startswith(f"{each}/") for each in wanted):
                    return None
                if not header.isdir() and any(f"{each}/".startswith(f"{member}/") for each in directories):
                    return None
                found |= {_first(member, each) for each in directories if member.startswith(f"{each}/")}
    except (BadArchiveError, DevelopmentTreeError, OSError):
        return None
    return Packed(path, f"{site}/{tree}", frozenset(found))


def _first(member: str, directory: str) -> str:
    """Return the name in the directory that a member is, or is below."""
    return member[len(directory) + 1 :].partition("/")[0]
