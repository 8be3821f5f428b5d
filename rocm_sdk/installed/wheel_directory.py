"""The source of installed packages: the directories, addresses and source trees of direct_url.json (PEP 610).

A directory counts only for what it has: another release, or a package of another product, is elsewhere.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from rocm_sdk.base.files import names_in
from rocm_sdk.base.value_text import quoted_for_shell

from .distributions import Distribution, normalised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from urllib.parse import SplitResult

_EXACT = re.compile(r"([\w.-]+)(?:\[([\w.,-]*)\])?==([^\s,*;]+)")
_SELECTOR, _SDK = "rocm", "rocm-sdk-"


class Wheels(NamedTuple):
    """The place of the wheels of a requirement.

    packages: the words that install them without the selector, whose build may need what the directory lacks; "" for a
    requirement that names the package itself.
    """

    directory: str
    packages: str


def wheels_of(requirement: str, site: str, known: Iterable[Distribution]) -> Wheels | None:
    """Return the first directory that has the required package, in the required version; None if none has.

    known: the distributions of the SDK in `site`. The directory of the package itself is looked at first, then the
    directories of the SDK, or of the product that a package for one target belongs to.
    """
    wanted = _EXACT.fullmatch(requirement)
    if wanted is None:
        return None
    name, extras, version = normalised(wanted[1]), (wanted[2] or "").split(","), wanted[3]
    for directory in dict.fromkeys(_directories(name, site, known)):
        files = {each for each in map(_name_and_version, names_in(directory)) if each[1] == _canonical(version)}
        names = [each for each, _ in files]
        if name == _SELECTOR and (packages := [_package_of(extra, names) for extra in filter(None, extras)]):
            if all(packages):
                return Wheels(directory, " ".join(quoted_for_shell(f"{each}=={version}") for each in packages))
        elif name in names:
            return Wheels(directory, "")
    return None


def address_of(requirement: str, known: Iterable[Distribution]) -> str | None:
    """Return the address of the required wheel, which was installed from the network; None for another package.

    direct_url.json has no password: those who need one have it in ~/.netrc.
    """
    found = next((each for each in known if each.requirement == requirement), None)
    url = _url_of(found)
    if url is None or url.scheme not in {"http", "https"} or not url.netloc or not url.path.endswith(".whl"):
        return None
    return url._replace(netloc=url.netloc.rpartition("@")[2], query="", fragment="").geturl()


def tree_of(requirement: str, known: Iterable[Distribution]) -> str | None:
    """Return the words that install the required package from its source tree, as it was installed.

    The result is None for another package, and if the tree is gone.
    """
    import json
    from urllib.parse import unquote

    found = next((each for each in known if each.requirement == requirement), None)
    url = _url_of(found)
    path = unquote(url.path) if url is not None and url.scheme == "file" else ""
    if found is None or "\0" in path or not os.path.isdir(path):
        return None
    how = json.loads(found.read("direct_url.json")).get("dir_info")
    is_editable = isinstance(how, dict) and how.get("editable") is True
    return f"{'--editable ' if is_editable else ''}{quoted_for_shell(path)}"


def _directory_of(metadata: Distribution | None) -> str | None:
    """Return the directory of the wheel that was installed from a path, if it is still there; else None."""
    from urllib.parse import unquote

    url = _url_of(metadata)
    path = unquote(url.path) if url is not None else ""
    if url is None or url.scheme != "file" or "\0" in path or not os.path.isfile(path):
        return None
    return os.path.dirname(path)


def _url_of(metadata: Distribution | None) -> SplitResult | None:
    """Return the URL of direct_url.json; None if it says nothing."""
    text = metadata.read("direct_url.json") if metadata is not None else b""
    if not text:
        return None
    import json
    from urllib.parse import urlsplit

    try:
        url = json.loads(text)["url"]
        return urlsplit(url) if isinstance(url, str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _directories(name: str, site: str, known: Iterable[Distribution]) -> Iterator[str]:
    found = {each.name: each for each in known}
    if name not in found and not name.startswith(_SELECTOR):
        found = {each.name: each for each in _products(name, site)}
    for distribution in (found.get(name), *found.values()):
        if directory := _directory_of(distribution):
            yield directory


def _products(name: str, site: str) -> Iterator[Distribution]:
    """Yield a package that is not part of the SDK, and its product, if they are installed.

    The package is for one target, and the product's.
    """
    from .installable_table import INSTALLABLES  # here: most packages are packages of the SDK

    rows = [row for row in INSTALLABLES if row[3]]
    names = (name, *(normalised(row[1]) for row in rows if name.startswith(row[3])))
    for directory in names_in(site):
        base = directory.removesuffix(".dist-info")
        if base != directory and normalised(base.rpartition("-")[0]) in names:
            yield Distribution(os.path.join(site, directory))


def _name_and_version(file: str) -> tuple[str, str]:
    """Return the name and version of a wheel or a source distribution; ("", "") for another file."""
    if file.endswith(".whl"):
        name, version, *_ = [*file.split("-"), ""]
    elif file.endswith(".tar.gz"):
        name, _, version = file.removesuffix(".tar.gz").rpartition("-")
    else:
        return "", ""
    return normalised(name), _canonical(version)


def _canonical(version: str) -> str:
    """Return a version with one spelling of its separators.

    After the `+`, file names have `_` where versions may have `-`.
    """
    return version.lower().replace("_", ".").replace("-", ".")


def _package_of(extra: str, names: list[str]) -> str:
    """Return the package that an extra of the selector brings.

    The result is "" if there is none, or one for each of several families.
    """
    package = _SDK + normalised(extra)
    if package in names:
        return package
    of_families = [each for each in names if each.startswith(f"{package}-")]
    return of_families[0] if len(of_families) == 1 else ""
