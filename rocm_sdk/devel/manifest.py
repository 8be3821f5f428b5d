"""The manifest: what an expansion put into a tree, to verify the tree by, and to mend it when packages change."""

from __future__ import annotations

import json
from typing import NamedTuple

from rocm_sdk.errors import BadMetadataError

from .layout import MANIFEST
from .staging import write_file
from .stamp import Identity, identify

_FORMAT = 1


class Entry(NamedTuple):
    """One entry of a tree.

    path: below the tree. kind: a kind of `archive_rules`. mode: permission bits; of files and directories. size: bytes;
    of files. checksum: "crc32:..." or "sha256:..."; of files. target: the text of a symbolic link in the archive.
    """

    path: str
    kind: str
    mode: int = 0
    size: int = 0
    checksum: str = ""
    target: str = ""


class Manifest(NamedTuple):
    """archive: identity of the archive file that the tree was made of (see `stamp`)."""

    archive: Identity
    entries: list[Entry]


def write_manifest(tree: str, manifest: Manifest, scratch: str) -> None:
    """Writes it into the tree."""
    content = {"format": _FORMAT, "archive": manifest.archive, "entries": manifest.entries}
    write_file(f"{tree}/{MANIFEST}", json.dumps(content, separators=(",", ":")).encode(), scratch)


def read_manifest(tree: str) -> Manifest | None:
    """None where there is none: the tree was made by another program. BadMetadataError: it is damaged."""
    path = f"{tree}/{MANIFEST}"
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if content["format"] != _FORMAT:
            raise ValueError(f"format {content['format']}")
        inode, size, modified = content["archive"]
        return Manifest((inode, size, modified), [Entry(*entry) for entry in content["entries"]])
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise BadMetadataError(
            f"{path} is damaged: {error}", "pip install --force-reinstall --no-deps rocm-sdk-devel", path
        ) from error


def is_made_of(tree: str, archive: str) -> bool:
    """Whether the tree was made, to its end, of this very archive."""
    try:
        manifest = read_manifest(tree)
    except BadMetadataError:
        return False
    return manifest is not None and manifest.archive == identify(archive)
