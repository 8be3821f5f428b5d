"""Keeps a tree in step with the packages around it: links to runtime files and to device files, RECORD, stamp."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rocm_sdk.errors import SystemManagedError
from rocm_sdk.installed import sdk_metadata

from .archive_rules import DIRECTORY, LINK, RUNTIME
from .device_links import DeviceLinker, replace_link
from .layout import DEVICE_LINKS, LOCK, MANIFEST, NOTES, STAMP
from .lock import exclusive
from .manifest import Entry, read_manifest
from .metadata import devel_distribution
from .placement import Placement
from .record import Record
from .staging import staging, write_file
from .stamp import Identity, identify, is_current, stamp_text


class Upkeep(NamedTuple):
    """What came of mending links.

    device_links: how many were made or replaced. missing: paths of links that lead to nothing. notices: what else the
    user should know, a sentence each.
    """

    device_links: int
    missing: list[str]
    notices: list[str]


def relink(site: str, tree: str, version: str, record: Record | None, scratch: str) -> Upkeep:
    """Mends the links of the tree where it is, RECORD and stamp too; for the holder of the lock.

    version: of the SDK. record: that of the development package, where there is one. scratch: a staging directory.
    """
    tree_name = os.path.basename(tree)
    manifest = read_manifest(tree)
    entries = manifest.entries if manifest else []
    os.makedirs(f"{tree}/{NOTES}", exist_ok=True)
    upkeep, identities = bring_up_to_date(site, tree, tree_name, version, entries, scratch)
    if record is not None:
        record.require([row[0] for row in record.rows] + tree_rows(tree_name, entries), scratch)
        identities[os.path.relpath(record.path, site)] = record.identity
    write_stamp(site, tree, version, identities, scratch)
    return upkeep


def reconcile(site: str, tree: str, version: str, timeout: float, say: Callable[[str], None]) -> Upkeep:
    """`relink` under the lock, if anything has changed since it was last done. timeout, say: see `lock.exclusive`."""
    if is_current(site, tree, version):
        return Upkeep(0, [], [])
    with exclusive(f"{site}/{LOCK}", timeout, say), staging(site) as scratch:
        try:
            record = Record(devel_distribution(site).record)
        except SystemManagedError:
            record = None
        return relink(site, tree, version, record, scratch)


def bring_up_to_date(  # noqa: PLR0917
    site: str, tree: str, tree_name: str, version: str, entries: list[Entry], scratch: str
) -> tuple[Upkeep, dict[str, Identity]]:
    """Mends all links of a tree, which may still be staged; also returns the identities that the stamp is made of.

    For the holder of the lock. version: of the SDK. entries: of the manifest. scratch: a staging directory.
    """
    # Identities come first: what changes from here on will be noticed by the next call.
    identities = {f"{name}/RECORD": identify(f"{site}/{name}/RECORD") for name in sdk_metadata(site)}
    placement = Placement(site, scratch)
    missing = _mend_runtime_links(tree, entries, placement, scratch)
    archived = {entry.path for entry in entries}
    devices = DeviceLinker(site, tree, tree_name, version, placement, scratch).run(archived)
    upkeep = Upkeep(devices.created, missing, devices.notices)
    return upkeep, identities | devices.identities


def write_stamp(site: str, tree: str, version: str, identities: dict[str, Identity], scratch: str) -> None:
    """From here on, `stamp.is_current` until something changes."""
    text = stamp_text(version, sdk_metadata(site), identities)
    write_file(f"{tree}/{STAMP}", text.encode("utf-8", errors="surrogateescape"), scratch)


def tree_rows(tree_name: str, entries: Iterable[Entry]) -> list[str]:
    """The paths that the development package's RECORD lists beside those that pip wrote.

    The tree itself is one of them: pip passes over symbolic links that lead to nothing, as some do when the runtime
    packages have gone first, and over empty directories.
    """
    files = (entry.path for entry in entries if entry.kind != DIRECTORY)
    return [LOCK, tree_name, *(f"{tree_name}/{path}" for path in (*files, MANIFEST, DEVICE_LINKS, STAMP))]


def _mend_runtime_links(tree: str, entries: Iterable[Entry], placement: Placement, scratch: str) -> list[str]:
    """Returns the paths of the links that lead to nothing, those within the tree too."""
    missing = []
    for entry in entries:
        target = f"{tree}/{entry.path}"
        if entry.kind == LINK and not os.path.exists(target):
            missing.append(entry.path)
        if entry.kind != RUNTIME:
            continue
        if placement.is_current(entry.path, entry.target, target):
            continue
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            replace_link(placement, entry.path, entry.target, target, scratch)
        except FileNotFoundError:
            missing.append(entry.path)
    return missing
