"""The directories of the SDK with libraries, for a linker that finds nothing by itself.

The libraries of a package's `lib` are for programs. Libraries that lie deeper are for the package's own: plug-ins,
tools, and copies of libraries that systems have too.
"""

from __future__ import annotations

import os

from rocm_sdk._native import library_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk._native import HostFile

    from .view import Installed


def packages_of(installed: Installed) -> tuple[str, ...]:
    """Return the directories of all installed packages of the SDK: core, libraries, then others.

    The development tree is left out.
    """
    others = () if installed.fallback is not None or installed.prefix is not None else installed.platform_directories
    found = (*installed.directories, *(each for each in others if "devel" not in os.path.basename(each)))
    first: dict[str, str] = {}
    for each in found:
        first.setdefault(os.path.realpath(each), each)
    return tuple(first.values())


def open_directories(packages: Iterable[str]) -> list[str]:
    """Return the directories in packages with libraries for any program."""
    from rocm_sdk.base.files import names_in

    own = [place for place, private_root in library_places() if private_root is None]
    places = (f"{package}/{place}" for package in packages for place in own)
    return [place for place in places if any(".so" in name for name in names_in(place))]


def further_libraries(installed: Installed, known: Iterable[str]) -> list[str]:
    """Return the paths of libraries that only other packages than core and libraries have.

    known: the paths of other libraries, whose names are left out. Private libraries are left out, as is the development
    tree.
    """
    from rocm_sdk.installed.directory_walk import walk

    found = {os.path.basename(path): "" for path in known}
    for package in packages_of(installed)[len(installed.directories) :]:
        for parent, _, names in walk(package):
            for name in sorted(names):
                if ".so" in name and not is_private(parent, package):
                    found.setdefault(name, os.path.join(parent, name))
    return list(filter(None, found.values()))


def is_private(directory: str, package: str) -> bool:
    """Return whether a directory in a package has its own copies of libraries that a system has too."""
    below = f"{os.path.relpath(directory, package)}/"
    return any(below.startswith(f"{root}/") for _, root in library_places() if root is not None)


def shared_libraries(directories: Iterable[str]) -> tuple[str, ...]:
    """Return the paths below directories that have the names of shared libraries, links among them."""
    from rocm_sdk.installed.directory_walk import walk

    found = ((parent, name) for directory in directories for parent, _, names in walk(directory) for name in names)
    return tuple(os.path.join(parent, name) for parent, name in found if ".so" in name)


def led_on(
    path: str,
    directories: Iterable[str],
    libraries: tuple[str, ...],
    places: Iterable[str] = ("SDK",),
    beside: tuple[str, ...] = (),
) -> tuple[HostFile | None, list[str]]:
    """Return the row of a file where LD_LIBRARY_PATH also leads to the libraries that it does not find, and how.

    directories: where the linker looks already. libraries: the paths of the SDK. places: of HostNeed, to lead it to.
    beside: files of the same package. The second value is the further directories. The row is None for a script.
    """
    from rocm_sdk._native import check_host_files

    further: list[str] = []
    while True:
        files = check_host_files((path,), libraries, directories=(*directories, *further), beside=beside).files
        unfound = [each for file in files for each in file.unfound if each.place in places]
        paths = (each.path for each in unfound if each.path is not None and os.path.basename(each.path) == each.name)
        new = [each for each in dict.fromkeys(map(os.path.dirname, paths)) if each not in further]
        if not new:
            return (files[0] if files else None), further
        further += new
