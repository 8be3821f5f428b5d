"""The list of a tree that a store keeps for an archive: with it, the next extraction does not read the archive.

The list is JSON: {"format": 1, "tree": name, "members": [[path, kind, is_program, size, sha256, target], ...]}, in the
order of the archive. Whoever may write to the store may have written the list, so its members have to pass the rules
for members of an archive.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterable
from typing import NamedTuple

from .archive_rules import DIRECTORY, FILE, LINK, RUNTIME, ArchiveRules, Member
from .manifest import Entry

_FORMAT = 1
_TYPES = {DIRECTORY: tarfile.DIRTYPE, FILE: tarfile.REGTYPE, LINK: tarfile.SYMTYPE, RUNTIME: tarfile.SYMTYPE}
_HEX = frozenset("0123456789abcdef")
_SHA256_LENGTH = 64


class KnownTree(NamedTuple):
    """A tree's name, its members, and the SHA-256 of each file in hexadecimal digits, by its path."""

    name: str
    members: list[Member]
    digests: dict[str, str]


def tree_list(tree_name: str, entries: Iterable[Entry]) -> bytes:
    """Return the content of the list of a tree, whose files have SHA-256 checksums."""
    members = [
        [each.path, each.kind, bool(each.mode & 0o100) and each.kind == FILE, each.size, digest_of(each), each.target]
        for each in entries
    ]
    return json.dumps({"format": _FORMAT, "tree": tree_name, "members": members}, separators=(",", ":")).encode()


def digest_of(entry: Entry) -> str:
    """Return the SHA-256 of an entry in a store; "" for an entry that is not a file."""
    return entry.checksum.partition(":")[2]


def parse_tree_list(content: object, path: str) -> KnownTree:
    """Return the tree that a list describes. path: for messages. Raise ValueError for any other content."""
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"it is not a list of format {_FORMAT}")
    name, rows = content.get("tree"), content.get("members")
    if not isinstance(name, str) or not isinstance(rows, list):
        raise ValueError("it has no tree or no members")
    rules = ArchiveRules(path)
    members: list[Member] = []
    digests: dict[str, str] = {}
    for row in rows:
        header, kind, digest = _header(name, row)
        admitted = rules.admit(header)
        if admitted and admitted[-1].kind != kind:
            raise ValueError(f"{header.name!r} is listed as a {kind}")
        members += admitted
        if kind == FILE:
            digests[admitted[-1].path] = digest
    rules.finish()
    return KnownTree(name, members, digests)


def _header(tree_name: str, row: object) -> tuple[tarfile.TarInfo, str, str]:
    """Return the member that a row stands for, as the header that an archive would have; its kind; its digest."""
    if not isinstance(row, list) or [type(field) for field in row] != [str, str, bool, int, str, str]:
        raise ValueError(f"{str(row)[:80]} is not a member")
    path, kind, is_program, size, digest, target = row
    if kind not in _TYPES:
        raise ValueError(f"{path!r} is of no known kind: {kind[:80]!r}")
    if kind == FILE and (len(digest) != _SHA256_LENGTH or not _HEX.issuperset(digest)):
        raise ValueError(f"{path!r} has no SHA-256: {digest[:80]!r}")
    header = tarfile.TarInfo(f"{tree_name}/{path}")
    header.type, header.size, header.linkname = _TYPES[kind], size, target
    header.mode = 0o755 if is_program else 0o644
    return header, kind, digest
