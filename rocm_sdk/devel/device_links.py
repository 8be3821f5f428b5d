"""The files of device packages in the tree.

Each package lists its files in `.devel_links/<target>.json`. Each file becomes a hard link in the tree and a row of the
package's RECORD, so that pip removes it with the package.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from rocm_sdk.installed.distributions import Distribution, same_release, sdk_distributions

from .archive_rules import directory_of_link, is_platform_directory
from .layout import DEVICE_LINKS, nonce_of
from .link_file import FileLinker
from .record import Record
from .replace import replace_file
from .stamp import GONE, Identity, identify
from .workspace import Workspace

DEVICE = "rocm-sdk-device"


class DeviceLinks(NamedTuple):
    """The result of an update of the device packages' links.

    created: how many links were created or replaced. identities: of each RECORD and manifest that was read, by its path
    relative to site-packages. notices: sentences for the user.
    """

    created: int
    identities: dict[str, Identity]
    notices: list[str]


class DeviceLinker:
    """Updates the device links of one tree. Only for the holder of the lock.

    tree: the directory, which may still be staged. tree_name: its name in site-packages.
    """

    def __init__(self, workspace: Workspace, tree: str, tree_name: str, linker: FileLinker) -> None:
        self._workspace = workspace
        self._tree = tree
        self._tree_name = tree_name
        self._linker = linker
        self._real_tree = os.path.realpath(tree)
        self._notices: list[str] = []
        self._identities: dict[str, Identity] = {}

    def run(self, archived: set[str]) -> DeviceLinks:
        """Creates missing links, replaces stale and foreign ones, removes those that no package lists any longer.

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
        self._prune(read_device_links(self._tree), wanted, archived)
        return DeviceLinks(created, self._identities, self._notices)

    def _links_of(self, distribution: Distribution) -> dict[str, str]:
        """Path in the tree -> text of the link. Afterwards the package's RECORD lists the paths."""
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
            if path.endswith(".json") and posixpath.basename(posixpath.dirname(path)) == ".devel_links":
                links.update(self._read_manifest(path))
        if links:
            record.require([row[0] for row in record.rows] + self._rows(links), self._workspace.staging)
            self._identities[name] = record.identity
        return links

    def _rows(self, links: dict[str, str]) -> list[str]:
        return [f"{self._tree_name}/{path}" for path in links]

    def _read_manifest(self, name: str) -> Iterator[tuple[str, str]]:
        path = f"{self._workspace.site}/{name}"
        self._identities[name] = identify(path)
        if self._identities[name] == GONE:
            return
        try:
            with open(path, encoding="utf-8") as file:
                links = [(str(link["relpath"]), str(link["target"])) for link in json.load(file)["links"]]
        except (ValueError, TypeError, KeyError) as error:
            self._notices.append(f"{path} is damaged ({error}); reinstall its device package")
            return
        for relative, text in links:
            if self._is_safe(relative, text):
                yield relative, text
            else:
                self._notices.append(f"{path}: the link {relative} to {text} leaves the SDK's packages and is refused")

    def _is_safe(self, path: str, text: str) -> bool:
        parts = path.split("/")
        if "" in parts or "." in parts or ".." in parts:
            return False
        directory = directory_of_link(len(parts) - 1, text)
        return bool(directory) and is_platform_directory(str(directory), nonce_of(self._tree_name))

    def _ensure(self, path: str, text: str) -> bool:
        """Creates or replaces one link if it is not current; returns whether it did."""
        target = f"{self._tree}/{path}"
        if self._linker.is_current(path, text, target) or not os.path.isfile(self._linker.source(path, text)):
            return False
        parent = os.path.dirname(target)
        os.makedirs(parent, exist_ok=True)
        inside = os.path.realpath(parent)
        if os.path.isdir(target) or (inside != self._real_tree and not inside.startswith(f"{self._real_tree}/")):
            self._notices.append(f"{target} cannot be linked: a directory is in its place")
            return False
        self._linker.replace(path, text, target)
        return True

    def _prune(self, before: dict[str, str], wanted: dict[str, str], archived: set[str]) -> None:
        """Removes the links of packages that are no longer installed, and writes the list of the present ones."""
        stale = [path for path in before if path not in wanted and path not in archived]
        for path in stale:
            target = f"{self._tree}/{path}"
            if os.path.lexists(target) and not os.path.isdir(target):
                os.unlink(target)
                _remove_empty_parents(os.path.dirname(target), self._tree)
        if before != wanted:
            replace_file(f"{self._tree}/{DEVICE_LINKS}", json.dumps(wanted).encode(), self._workspace.staging)


def read_device_links(tree: str) -> dict[str, str]:
    """The device links that were created in a tree: path -> text of the link."""
    try:
        with open(f"{tree}/{DEVICE_LINKS}", encoding="utf-8") as file:
            return {str(path): str(text) for path, text in json.load(file).items()}
    except (FileNotFoundError, ValueError, AttributeError, RecursionError):
        return {}


def _remove_empty_parents(directory: str, tree: str) -> None:
    while directory != tree:
        try:
            os.rmdir(directory)
        except OSError:
            return
        directory = os.path.dirname(directory)
