"""The files of device packages in the tree.

Each package lists its files in `.devel_links/<target>.json`. Each becomes a hard link in the tree and a row of that
package's RECORD, so that pip removes it with the package.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from rocm_sdk.installed.distributions import Distribution, same_release, sdk_distributions

from .archive_rules import is_platform_directory, link_place
from .layout import DEVICE_LINKS, nonce_of
from .placement import Placement
from .record import Record
from .staging import write_file
from .stamp import GONE, Identity, identify

DEVICE = "rocm-sdk-device"


class DeviceLinks(NamedTuple):
    """What became of the device packages' links.

    created: how many links were made or replaced. identities: of each RECORD and
    manifest that was read, by its path below site-packages. notices: what the user should know, a sentence each.
    """

    created: int
    identities: dict[str, Identity]
    notices: list[str]


class DeviceLinker:
    """Brings the device links of one tree up to date; only for the holder of the lock.

    tree: the directory, which may still be staged. tree_name: its name in site-packages. version: of the SDK. scratch:
    a staging directory.
    """

    def __init__(  # noqa: PLR0917
        self, site: str, tree: str, tree_name: str, version: str, placement: Placement, scratch: str
    ) -> None:
        self._site = site
        self._tree = tree
        self._tree_name = tree_name
        self._version = version
        self._placement = placement
        self._scratch = scratch
        self._real_tree = os.path.realpath(tree)
        self._notices: list[str] = []
        self._identities: dict[str, Identity] = {}

    def run(self, archived: set[str]) -> DeviceLinks:
        """Makes what is missing, replaces what is stale or foreign, removes what nobody asks for any longer.

        archived: paths of the tree that came from the archive, which are not removed.
        """
        wanted: dict[str, str] = {}
        created = 0
        for distribution in sdk_distributions(self._site):
            is_device = distribution.name == DEVICE or distribution.name.startswith(f"{DEVICE}-")
            if is_device and distribution.has_metadata:
                links = self._links_of(distribution)
                created += sum(self._ensure(path, text) for path, text in links.items())
                wanted.update(links)
        self._prune(read_device_links(self._tree), wanted, archived)
        return DeviceLinks(created, self._identities, self._notices)

    def _links_of(self, distribution: Distribution) -> dict[str, str]:
        """Path below the tree -> text of the link; the package's RECORD lists them afterwards."""
        try:
            record = Record(distribution.record)
        except FileNotFoundError:
            return {}
        name = os.path.relpath(record.path, self._site)
        self._identities[name] = record.identity
        if not same_release(distribution.version, self._version):
            self._notices.append(
                f"{distribution.name} {distribution.version} does not belong to version {self._version} of the SDK and"
                f" is left out of the development tree; install {distribution.name}=={self._version}"
            )
            return {}
        links: dict[str, str] = {}
        for path in record.paths:
            if path.endswith(".json") and posixpath.basename(posixpath.dirname(path)) == ".devel_links":
                links.update(self._read_manifest(path))
        if links:
            record.require([row[0] for row in record.rows] + self._rows(links), self._scratch)
            self._identities[name] = record.identity
        return links

    def _rows(self, links: dict[str, str]) -> list[str]:
        return [f"{self._tree_name}/{path}" for path in links]

    def _read_manifest(self, name: str) -> Iterator[tuple[str, str]]:
        path = f"{self._site}/{name}"
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
            if self._is_sound(relative, text):
                yield relative, text
            else:
                self._notices.append(f"{path}: the link {relative} to {text} leaves the SDK's packages and is refused")

    def _is_sound(self, path: str, text: str) -> bool:
        parts = path.split("/")
        if "" in parts or "." in parts or ".." in parts:
            return False
        place = link_place(len(parts) - 1, text)
        return bool(place) and is_platform_directory(str(place), nonce_of(self._tree_name))

    def _ensure(self, path: str, text: str) -> bool:
        """Makes one link anew if it is not as it should be; whether it was."""
        target = f"{self._tree}/{path}"
        if self._placement.is_current(path, text, target) or not os.path.isfile(self._placement.source(path, text)):
            return False
        parent = os.path.dirname(target)
        os.makedirs(parent, exist_ok=True)
        inside = os.path.realpath(parent)
        if os.path.isdir(target) or (inside != self._real_tree and not inside.startswith(f"{self._real_tree}/")):
            self._notices.append(f"{target} cannot be linked: a directory is in its way")
            return False
        replace_link(self._placement, path, text, target, self._scratch)
        return True

    def _prune(self, before: dict[str, str], wanted: dict[str, str], archived: set[str]) -> None:
        """Removes links that were made for a package which has gone, and writes down those that there are."""
        stale = [path for path in before if path not in wanted and path not in archived]
        for path in stale:
            target = f"{self._tree}/{path}"
            if os.path.lexists(target) and not os.path.isdir(target):
                os.unlink(target)
                _remove_empty_parents(os.path.dirname(target), self._tree)
        if before != wanted:
            write_file(f"{self._tree}/{DEVICE_LINKS}", json.dumps(wanted).encode(), self._scratch)


def read_device_links(tree: str) -> dict[str, str]:
    """The device links that were made in a tree: path -> text of the link."""
    try:
        with open(f"{tree}/{DEVICE_LINKS}", encoding="utf-8") as file:
            return {str(path): str(text) for path, text in json.load(file).items()}
    except (FileNotFoundError, ValueError, AttributeError, RecursionError):
        return {}


def replace_link(placement: Placement, path: str, text: str, target: str, scratch: str) -> None:
    """Places a file over whatever is at `target`, at once. FileNotFoundError where there is nothing to place."""
    temporary = f"{scratch}/new-link"
    placement.place(path, text, temporary)
    os.rename(temporary, target)


def _remove_empty_parents(directory: str, tree: str) -> None:
    while directory != tree:
        try:
            os.rmdir(directory)
        except OSError:
            return
        directory = os.path.dirname(directory)
