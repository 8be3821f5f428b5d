"""The update of a tree after the packages around it have changed: its links, the package's RECORD, the stamp."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rocm_sdk.base.file_lock import held
from rocm_sdk.base.moves import sync_file_system
from rocm_sdk.errors import SystemManagedError
from rocm_sdk.installed import sdk_metadata

from .archive_rules import DIRECTORY, LINK, RUNTIME
from .device_links import DeviceLinker
from .layout import DEVICE_LINKS, LOCK, MANIFEST, NOTES, STAMP
from .link_file import FileLinker
from .manifest import Entry, read_manifest
from .replace import replace_note, staging_directory
from .stamp import Identity, identify, is_current, stamp_text
from .tree_record import Record
from .workspace import OF_TREE, Workspace, devel_distribution


class LinkUpdate(NamedTuple):
    """The result of an update of the links.

    device_links: how many were created or replaced. missing: paths of links that point to nothing. notices: sentences
    for the user.
    """

    device_links: int
    missing: list[str]
    notices: list[str]


def update_tree(workspace: Workspace, tree: str, record: Record | None) -> LinkUpdate:
    """Update the tree where it is. Only for the holder of the lock.

    record: the RECORD of the development package, if it has one.
    """
    tree_name = os.path.basename(tree)
    manifest = read_manifest(tree)
    entries = manifest.entries if manifest else []
    os.makedirs(f"{tree}/{NOTES}", exist_ok=True)
    result, identities = update_links(workspace, tree, tree_name, entries)
    if record is not None:
        record.require([row[0] for row in record.rows] + tree_rows(tree_name, entries), workspace.staging)
        identities[os.path.relpath(record.path, workspace.site)] = record.identity
    # If a stamp survives a power cut, its links do, too.
    sync_file_system(workspace.site)
    write_stamp(workspace, tree, identities)
    return result


def update_if_changed(site: str, tree: str, version: str, timeout: float, say: Callable[[str], None]) -> LinkUpdate:
    """Take the lock and update the tree, if anything has changed. timeout, say: see `file_lock.held`."""
    if is_current(site, tree, version):
        return LinkUpdate(0, [], [])
    with held(OF_TREE, f"{site}/{LOCK}", timeout, say), staging_directory(site) as staging:
        try:
            record = Record(devel_distribution(site).record)
        except SystemManagedError:
            record = None
        return update_tree(Workspace(site, staging, version), tree, record)


def update_links(
    workspace: Workspace, tree: str, tree_name: str, entries: list[Entry]
) -> tuple[LinkUpdate, dict[str, Identity]]:
    """Update all links of a tree, which may still be staged. Return the update, and the identities for the stamp.

    Only for the holder of the lock. tree_name: the name of the tree in site-packages. entries: the manifest's entries.
    """
    # Identities come first: the next call notices all later changes.
    names = sdk_metadata(workspace.site)
    identities = {f"{name}/RECORD": identify(f"{workspace.site}/{name}/RECORD") for name in names}
    linker = FileLinker(workspace.site, workspace.staging)
    missing = _update_runtime_links(tree, entries, linker)
    archived = {entry.path for entry in entries}
    devices = DeviceLinker(workspace, tree, tree_name, linker).run(archived)
    return LinkUpdate(devices.created, missing, devices.notices), identities | devices.identities


def write_stamp(workspace: Workspace, tree: str, identities: dict[str, Identity]) -> None:
    """Write the stamp: the tree is current until something changes."""
    text = stamp_text(workspace.version, sdk_metadata(workspace.site), identities)
    replace_note(tree, STAMP, text.encode("utf-8", errors="surrogateescape"), workspace.staging)


def tree_rows(tree_name: str, entries: Iterable[Entry]) -> list[str]:
    """Return the paths that the development package's RECORD lists beside the paths that pip wrote.

    The tree itself is one of them, because pip skips empty directories and dangling symbolic links. Links dangle once
    the runtime packages are removed.
    """
    files = (entry.path for entry in entries if entry.kind != DIRECTORY)
    return [LOCK, tree_name, *(f"{tree_name}/{path}" for path in (*files, MANIFEST, DEVICE_LINKS, STAMP))]


def _update_runtime_links(tree: str, entries: Iterable[Entry], linker: FileLinker) -> list[str]:
    """Update the runtime links. Return the paths of links that point to nothing, links within the tree included."""
    missing = []
    for entry in entries:
        target = f"{tree}/{entry.path}"
        if entry.kind == LINK and not os.path.exists(target):
            missing.append(entry.path)
        if entry.kind != RUNTIME:
            continue
        if linker.is_current(entry.path, entry.target, target):
            continue
        try:
            linker.replace(tree, entry.path, entry.target)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            missing.append(entry.path)
    return missing
