"""The files of device packages in the tree.

Each package lists its files in `.devel_links/<target>.json`. Each file becomes a hard link in the tree and a row of the
package's RECORD, so that pip removes it with the package.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from rocm_sdk.base.files import installed_file
from rocm_sdk.base.inside import UnsafeNameError, parent_inside, parts_of, read_json
from rocm_sdk.base.moves import sync_file_system
from rocm_sdk.installed.distributions import Distribution, same_release, sdk_distributions

from .archive_rules import is_text, leads_into_package
from .layout import DEVICE_LINKS, NOTES, nonce_of
from .link_file import FileLinker
from .replace import replace_note
from .stamp import GONE, Identity, identify
from .tree_record import Record
from .workspace import Workspace

DEVICE, LINKS = "rocm-sdk-device", ".devel_links"


class DeviceLinks(NamedTuple):
    """The result of an update of the device packages' links.

    created: how many links were created or replaced. identities: the identity of each RECORD and manifest that was
    read, by its path relative to site-packages. notices: sentences for the user.
    """

    created: int
    identities: dict[str, Identity]
    notices: list[str]


class DeviceLinker:
    """The update of the device links of one tree. Only for the holder of the lock.

    tree: the directory, which may still be staged. tree_name: its name in site-packages.
    """

    def __init__(self, workspace: Workspace, tree: str, tree_name: str, linker: FileLinker) -> None:
        self._workspace = workspace
        self._tree = tree
        self._tree_name = tree_name
        self._linker = linker
        self._notices: list[str] = []
        self._identities: dict[str, Identity] = {}

    def run(self, archived: set[str]) -> DeviceLinks:
        """Create missing links, replace stale and foreign ones, and remove links that no package lists any longer.

        archived: paths of the tree that came from the archive, which are not removed.
        """
        wanted: dict[str, str] = {}
        created = 0
        for distribution in sdk_distributions(self._workspace.site):
            is_device = distribution.name == DEVICE or distribution.name.startswith(f"{DEVICE}-")
            if is_device and distribution.has_metadata:
                links = self._links_of(distribution)
                created += sum(self._ensure(path, text) for path, text in links.items())
                wanted.update(links)
        self._prune(read_device_links(self._tree, self._tree_name), wanted, archived)
        return DeviceLinks(created, self._identities, self._notices)

    def _links_of(self, distribution: Distribution) -> dict[str, str]:
        """Return the links of a package: path in the tree -> text of the link.

        Afterwards, the package's RECORD lists the paths.
        """
        try:
            record = Record(distribution.record)
        except FileNotFoundError:
            return {}
        name = os.path.relpath(record.path, self._workspace.site)
        self._identities[name] = record.identity
        version = self._workspace.version
        if not same_release(distribution.version, version):
            self._notices.append(
                f"{distribution.name} {distribution.version} does not belong to version {version} of the SDK and is not"
                f" linked into the development tree; install {distribution.name}=={version}"
            )
            return {}
        links: dict[str, str] = {}
        for path in record.paths:
            if path.endswith(".json") and posixpath.basename(posixpath.dirname(path)) == LINKS:
                links.update(self._read_manifest(path))
        if links:
            record.require(
                [row[0] for row in record.rows] + [f"{self._tree_name}/{path}" for path in links],
                self._workspace.staging,
            )
            self._identities[name] = record.identity
        return links

    def _read_manifest(self, name: str) -> Iterator[tuple[str, str]]:
        path = f"{self._workspace.site}/{name}"
        try:
            parts_of(name)
            self._identities[name] = identify(path)
            if self._identities[name] == GONE:
                return
            content = read_json(*self._place_of(path, name))
            links = [(str(link["relpath"]), str(link["target"])) for link in content["links"]]
        except (OSError, ValueError, TypeError, KeyError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            self._notices.append(f"{path} is damaged ({reason}); reinstall its device package")
            return
        for relative, text in links:
            if is_device_link(relative, text, nonce_of(self._tree_name)):
                yield relative, text
            else:
                self._notices.append(f"{path}: the link {relative} to {text} leaves the SDK's packages and is refused")

    def _place_of(self, path: str, name: str) -> tuple[str, str]:
        """Return the directory of an installed file, and the name in it. Links of the installer are followed."""
        file = installed_file(path)
        return (self._workspace.site, name) if file == path else posixpath.split(file)

    def _ensure(self, path: str, text: str) -> bool:
        """Create or replace one link if it is not current. Return whether that was done."""
        target = f"{self._tree}/{path}"
        if self._linker.is_current(path, text, target) or not os.path.isfile(self._linker.source(path, text)):
            return False
        try:
            self._linker.replace(self._tree, path, text)
        except (NotADirectoryError, IsADirectoryError):
            self._notices.append(f"{target} cannot be linked: a directory is in its place")
            return False
        return True

    def _prune(self, before: dict[str, str], wanted: dict[str, str], archived: set[str]) -> None:
        """Remove the links of packages that are no longer installed, and write the list of the present ones."""
        stale = [path for path in before if path not in wanted and path not in archived]
        for path in stale:
            with suppress(OSError), parent_inside(self._tree, path) as (parent, last):
                os.unlink(last, dir_fd=parent)
            self._remove_empty_parents(path)
        if stale:
            sync_file_system(self._workspace.site)  # links that are no longer in any list must not come back
        if before != wanted:
            replace_note(self._tree, DEVICE_LINKS, json.dumps(wanted).encode(), self._workspace.staging)

    def _remove_empty_parents(self, path: str) -> None:
        with suppress(OSError):
            while directory := os.path.dirname(path):
                with parent_inside(self._tree, directory) as (parent, last):
                    os.rmdir(last, dir_fd=parent)
                path = directory


def is_device_link(path: str, text: str, nonce: str) -> bool:
    """Return whether the link `text` at the tree's `path` is one that a device package may have."""
    try:
        parts_of(path)
    except UnsafeNameError:
        return False
    return is_text(path) and path.partition("/")[0] != NOTES and leads_into_package(path, text, nonce)


def read_device_links(tree: str, tree_name: str) -> dict[str, str]:
    """Return the device links that were created in a tree: path -> text of the link. Invalid entries are left out."""
    try:
        links = {str(path): str(text) for path, text in read_json(tree, DEVICE_LINKS).items()}
    except (OSError, ValueError, AttributeError):
        return {}
    return {path: text for path, text in links.items() if is_device_link(path, text, nonce_of(tree_name))}
