"""The check that a tree has the files and packages that its CMake packages require and name."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rocm_sdk.installed.prefix import is_own_package

from .reading import PACKAGE, PATH, Place, Reader

_CONFIG = re.compile(r"(.+)-config\.cmake|(.+)Config\.cmake")
_SHOWN = 3


class Fault(NamedTuple):
    """A package, target or path that CMake packages require or name, and that is not there."""

    path: str  # of the text that says it, or the first of several
    name: str  # of the package or target, or a path
    said: str  # a sentence whose object is missing: "package hip requires hsa-runtime64"
    is_path: bool


class Checked(NamedTuple):
    """The result of a check: the faults, and the number of paths that were looked at."""

    faults: list[Fault]  # each package and target once, of each text the first path
    counted: dict[str, int]  # text -> how many paths it names


def package_of(path: str) -> str | None:
    """Return the package that find_package finds by a file of this path; None if it finds none."""
    match = _CONFIG.fullmatch(posixpath.basename(path))
    return None if match is None else match[1] or match[2]


def texts_of(package: str) -> tuple[str, ...]:
    """Return the names of files by which find_package finds a package."""
    return f"{package}Config.cmake", f"{package.lower()}-config.cmake", f"Find{package}.cmake"


def check_packages(place: Place) -> Checked:
    """Look for everything that the texts of a place require and name, and return what is missing.

    Parts that only CMake can tell do not count.
    """
    reader = _read(place)
    counted = Counter(need.file for need in reader.needs if need.kind == PATH)
    present = {posixpath.basename(path) for path in place.texts}
    required: dict[str, list[str]] = {}  # package -> the texts that require it
    linked: dict[str, list[str]] = {}  # target -> the texts that link it
    faults: dict[tuple[str, str], Fault] = {}
    for need in reader.needs:
        if need.kind == PATH:
            key = "path", need.file
            if key not in faults and place.exists(need.name) is False:
                faults[key] = Fault(need.file, need.name, f"{need.what} is {need.name}", is_path=True)
        elif need.kind == PACKAGE:
            is_there = not present.isdisjoint(texts_of(need.name))
            if not is_there and is_own_package(need.name) and place.has_package(need.name) is False:
                required.setdefault(need.name, []).append(need.file)
        elif need.name not in reader.targets:
            linked.setdefault(need.name, []).append(need.file)
    for name, files in required.items():
        faults["package", name] = Fault(files[0], name, _told(files, "requires", "require", name), is_path=False)
    for name, files in linked.items():
        scope = name.partition("::")[0]
        # Nobody knows the targets of a package that is not here.
        if is_own_package(scope) and _defines(reader.targets, scope):
            faults["target", name] = Fault(files[0], name, _told(files, "links", "link", name), is_path=False)
    return Checked(list(faults.values()), dict(counted))


def _read(place: Place) -> Reader:
    """Read all texts: first the texts of packages, then the ones that these do not include for certain."""
    reader = Reader(place)
    texts = sorted(place.texts, key=lambda path: path.removesuffix(".cmake"))
    for path in texts:
        if (package := package_of(path)) is not None:
            reader.read_package(path, package)
    for path in texts:
        if path not in reader.read:
            reader.read_text(path)
    return reader


def _defines(targets: Iterable[str], scope: str) -> bool:
    return any(each.startswith(f"{scope}::") for each in targets)


def _told(files: Iterable[str], verb: str, plural: str, name: str) -> str:
    """Return a sentence about the packages that require a name."""
    owners = list(dict.fromkeys(_owners(files)))
    if len(owners) == 1:
        return f"package {owners[0]} {verb} {name}"
    more = f" and {len(owners) - _SHOWN} more" if len(owners) > _SHOWN else ""
    shown = ", ".join(owners[:_SHOWN]) if more else f"{', '.join(owners[:-1])} and {owners[-1]}"
    return f"packages {shown}{more} {plural} {name}"


def _owners(files: Iterable[str]) -> Iterator[str]:
    for path in files:
        yield package_of(path) or posixpath.basename(posixpath.dirname(path))
