"""The manifest: the entries that an extraction wrote. It is used to verify trees and to update their links."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from rocm_sdk.base.inside import parts_of, read_json
from rocm_sdk.errors import BadMetadataError
from rocm_sdk.problems.problem import reinstall_fix

from .archive_rules import DIRECTORY, FILE, LINK, RUNTIME, is_text, leads_into_package
from .layout import DISTRIBUTION, MANIFEST, nonce_of
from .replace import replace_note
from .stamp import Identity, identify

_FORMAT = 1
_KINDS = (FILE, DIRECTORY, LINK, RUNTIME)


class Entry(NamedTuple):
    """An entry of a tree.

    path is relative to the tree, kind a kind of `archive_rules`. Files and directories have a mode (permission bits),
    files a size in bytes and a checksum ("crc32:..." or "sha256:..."), symbolic links of the archive a target.
    """

    path: str
    kind: str
    mode: int = 0
    size: int = 0
    checksum: str = ""
    target: str = ""


class Manifest(NamedTuple):
    """The identity (see `stamp`) of the archive that the tree was extracted from, and the entries."""

    archive: Identity
    entries: list[Entry]


def write_manifest(tree: str, manifest: Manifest, staging: str) -> None:
    """Write the manifest into the tree, through a staging directory."""
    content = {"format": _FORMAT, "archive": manifest.archive, "entries": manifest.entries}
    replace_note(tree, MANIFEST, json.dumps(content, separators=(",", ":")).encode(), staging)


def read_manifest(tree: str) -> Manifest | None:
    """Return the manifest of a tree; None if it has none, like a tree that another program made.

    Raise BadMetadataError for damage. Every path is inside the tree, and every link of the kind RUNTIME leads into a
    package of the SDK.
    """
    path = f"{tree}/{MANIFEST}"
    nonce = nonce_of(os.path.basename(tree))
    try:
        content = read_json(tree, MANIFEST)
        if content["format"] != _FORMAT:
            raise ValueError(f"format {content['format']!r}")
        inode, size, modified = content["archive"]
        return Manifest((inode, size, modified), [_entry(row, nonce) for row in content["entries"]])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        fix = reinstall_fix(DISTRIBUTION, os.path.dirname(tree))
        raise BadMetadataError(f"{path} is damaged: {reason}", fix, path) from error


def _entry(row: object, nonce: str) -> Entry:
    if not isinstance(row, list) or [type(field) for field in row] != [str, str, int, int, str, str]:
        raise ValueError(f"{str(row)[:80]} is not an entry")
    path, kind, mode, size, checksum, target = row
    entry = Entry(path=path, kind=kind, mode=mode, size=size, checksum=checksum, target=target)
    parts_of(entry.path)
    if not is_text(entry.path):
        raise ValueError(f"{entry.path!r} is not UTF-8 text")
    if entry.kind not in _KINDS or (entry.kind == RUNTIME and not leads_into_package(entry.path, entry.target, nonce)):
        raise ValueError(f"{entry.path!r} is a {entry.kind!r} to {entry.target!r}")
    return entry


def is_extracted_from(tree: str, archive: str) -> bool:
    """Return whether the tree was extracted from this very archive, completely."""
    try:
        manifest = read_manifest(tree)
    except BadMetadataError:
        return False
    return manifest is not None and manifest.archive == identify(archive)
