"""The files that the packages beside a tree have, but the tree lacks.

A tree is a superset of the packages, except the profiler's.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator

from rocm_sdk.base.inside import read_json
from rocm_sdk.installed.distributions import Distribution, same_release
from rocm_sdk.installed.page_list import PAGE_LIST
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem, problem

from .archive_rules import RUNTIME
from .device_links import DEVICE, LINKS
from .layout import DISTRIBUTION, TREE_PREFIX
from .manifest import Entry

_PLATFORM = "_rocm_sdk_"  # the beginning of the names of directories with a package's files
_CORE, _LIBRARIES = "rocm-sdk-core", "rocm-sdk-libraries"
_NOTES = {"__pycache__", LINKS}  # directories with files about a package
_FACTS = {"share/therock/dist_info.json", "share/therock/libraries_dist_info.json", PAGE_LIST}  # the same
_SHOWN = 4


def absent_files(tree: str, entries: Iterable[Entry], installed: Installed) -> Iterator[Problem]:
    """Yield a problem for each package with files that the tree lacks.

    entries: the entries of the tree's manifest. Packages of another release than the tree's, and libraries of a family
    that the tree is not for, do not count.
    """
    own = installed.distribution(DISTRIBUTION)
    if own is None:
        return
    entries = list(entries)
    linked = {_package_of(entry) for entry in entries if entry.kind == RUNTIME}
    known = {entry.path for entry in entries}  # if these are gone, the manifest says so
    libraries = [each for each in installed.distributions if _is(each, _LIBRARIES)]
    for each in installed.distributions:
        is_of_family = len(libraries) == 1 or each not in libraries
        is_device = _is(each, DEVICE)
        if (each.name == _CORE or each in libraries or is_device) and same_release(each.version, own.version):
            # The next `init` makes the links of a device package that was installed later.
            listed = _listed(each, installed.site) if is_device else set()
            if listed is None:
                continue
            files = _files(each, linked, installed.site, is_of_family=is_of_family)
            missing = sorted(
                file for file, path in files if path not in known | listed and not os.path.lexists(f"{tree}/{path}")
            )
            if missing:
                facts = each.facts if is_device else own.facts
                yield problem(
                    "E-DEVEL-014",
                    tree,
                    None,
                    installed.known,
                    **facts,
                    detail=f"{told(missing)} installed, and not in the tree",
                )


def _is(distribution: Distribution, name: str) -> bool:
    return distribution.name == name or distribution.name.startswith(f"{name}-")


def _package_of(entry: Entry) -> str:
    """Return the directory of the package that a link leads to."""
    return next((part for part in entry.target.split("/") if part != ".."), "")


def _listed(distribution: Distribution, site: str) -> set[str] | None:
    """Return the paths in the tree that a device package lists as its own.

    The result is None if a list of the package cannot be read; the check of its files says so.
    """
    listed = set[str]()
    for name in (file.path for file in distribution.files):
        if is_list_of_links(name):
            try:
                listed |= links_listed(site, name)
            except (OSError, ValueError, TypeError, KeyError):
                return None
    return listed


def _files(distribution: Distribution, linked: set[str], site: str, *, is_of_family: bool) -> Iterator[tuple[str, str]]:
    """Yield the files of a package that are there and belong in the tree.

    Each is a path in site-packages and a path in the tree.
    """
    for file in distribution.files:
        path = path_in_tree(file.path)
        is_linked = is_of_family or file.path.partition("/")[0] in linked
        if path is not None and is_linked and os.path.isfile(f"{site}/{file.path}"):
            yield file.path, path


def path_in_tree(name: str) -> str | None:
    """Return the place in the tree of a file of core, the libraries or a device package.

    name: the file's path in site-packages. The result is None if the file belongs to none of them, or is about the
    package.
    """
    package, _, path = name.partition("/")
    *directories, last = path.split("/")
    is_of_package = package.startswith(_PLATFORM) and not package.startswith(TREE_PREFIX)
    is_about_it = last == "__init__.py" or path in _FACTS or not _NOTES.isdisjoint(directories)
    return path if is_of_package and not is_about_it else None


def links_listed(directory: str, name: str) -> set[str]:
    """Return the paths in the tree that a list of links of a device package has.

    Damage of the list raises OSError, ValueError, TypeError or KeyError.
    """
    return {str(link["relpath"]) for link in read_json(directory, name)["links"]}


def is_list_of_links(name: str) -> bool:
    """Return whether a path in site-packages is the path of a device package's list of links."""
    return name.endswith(".json") and posixpath.basename(posixpath.dirname(name)) == LINKS


def told(paths: list[str]) -> str:
    """Return words for the paths: the first one, how many more, and a verb."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more} {'is' if len(paths) == 1 else 'are'}"
