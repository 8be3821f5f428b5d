"""The manifest: the entries that an extraction wrote. Trees are verified and their links updated by it."""

from __future__ import annotations

import json
from typing import NamedTuple

from rocm_sdk.errors import BadMetadataError

from .layout import MANIFEST
from .replace import replace_file
from .stamp import Identity, identify

_FORMAT = 1


class Entry(NamedTuple):
    """One entry of a tree.

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
    """Writes the manifest into the tree, through a staging directory."""
    content = {"format": _FORMAT, "archive": manifest.archive, "entries": manifest.entries}
    replace_file(f"{tree}/{MANIFEST}", json.dumps(content, separators=(",", ":")).encode(), staging)


def read_manifest(tree: str) -> Manifest | None:
    """None if there is none: another program made the tree. Raises BadMetadataError if it is damaged."""
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


def is_extracted_from(tree: str, archive: str) -> bool:
    """Whether the tree was extracted from this very archive, completely."""
    try:
        manifest = read_manifest(tree)
    except BadMetadataError:
        return False
    return manifest is not None and manifest.archive == identify(archive)
