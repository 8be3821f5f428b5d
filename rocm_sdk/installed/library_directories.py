"""The directories of the SDK with libraries, for a linker that finds nothing by itself.

The libraries of a package's `lib` are for programs. Libraries that lie deeper are for the package's own: plug-ins,
tools, and copies of libraries that systems have too.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .view import Installed

_OPEN = ("lib", "lib/host-math/lib")  # places of libraries in a package
_PRIVATE = ("lib/llvm", "lib/rocm_sysdeps")  # places of libraries that a system has too: LLVM, libomp, libelf
_OF_SYSTEM = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


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
    places = (f"{package}/{place}" for package in packages for place in _OPEN)
    return [place for place in places if any(".so" in name for name in _names_in(place))]


def further_libraries(installed: Installed, known: Iterable[str]) -> list[str]:
    """Return the paths of libraries that only other packages than core and libraries have.

    known: the paths of other libraries, whose names are left out. Private libraries are left out, as is the development
    tree.
    """
    from rocm_sdk.installed.walking import walk

    found = {os.path.basename(path): "" for path in known}
    for package in packages_of(installed)[len(installed.directories) :]:
        for parent, _, names in walk(package):
            for name in sorted(names):
                if ".so" in name and not is_private(parent, package):
                    found.setdefault(name, os.path.join(parent, name))
    return list(filter(None, found.values()))


def is_private(directory: str, package: str) -> bool:
    """Return whether a directory in a package has its own copies of libraries that a system has too."""
    return f"{os.path.relpath(directory, package)}/".startswith(tuple(f"{place}/" for place in _PRIVATE))


def directories_for(program: str, directories: Iterable[str], packages: Iterable[str]) -> list[str]:
    """Return further directories of packages, which a program needs a library of.

    directories: where the program looks already. For a file that is no ELF file the result is [], as nobody knows what
    a script needs. A private directory counts where nothing else has the library, the system neither.
    """
    from rocm_sdk._native import inspect_library
    from rocm_sdk.errors import RocmSdkError

    searched = list(directories)
    found: dict[str, None] = {}
    deeper: _Deeper | None = None
    pending, seen = [program], {program}
    for path in pending:  # the list grows
        try:
            needed = inspect_library(path).needed
        except (RocmSdkError, OSError):
            continue
        for name in needed:
            file = next((place for each in searched if os.path.exists(place := f"{each}/{name}")), None)
            if file is None and "/" not in name and not _is_in_default_place(name):
                deeper = deeper or _Deeper(packages)
                file = deeper.find(name, path)
                if file is not None:
                    found[os.path.dirname(file)] = None
            if file is not None and file not in seen:
                seen.add(file)
                pending.append(file)
    return list(found)


class _Deeper:
    """The libraries of packages by their names, the first of several with one name."""

    def __init__(self, packages: Iterable[str]) -> None:
        from rocm_sdk.installed.walking import walk

        self._own: dict[str, str] = {}
        self._private: dict[str, str] = {}
        for package in packages:
            for parent, directories, names in walk(package):
                directories.sort()
                chosen = self._private if is_private(parent, package) else self._own
                for name in names:
                    if ".so" in name:
                        chosen.setdefault(name, os.path.join(parent, name))

    def find(self, name: str, needing: str) -> str | None:
        """Return the library of this name that a file needs; None if there is none, or the file has another one."""
        if name in self._own or name not in self._private:
            return self._own.get(name)
        from rocm_sdk._native import check_host_files

        needs = (need for file in check_host_files((needing,), ()).files for need in file.needs)
        has_other = any(need.name == name and need.path is not None for need in needs)
        return None if has_other else self._private[name]


def _is_in_default_place(name: str) -> bool:
    """Return whether the linker finds a library without being told where: most needs, quickly."""
    triplet = f"{os.uname().machine}-linux-gnu"
    places = (*_OF_SYSTEM, f"/lib/{triplet}", f"/usr/lib/{triplet}")
    return any(os.path.exists(f"{place}/{name}") for place in places)


def _names_in(directory: str) -> list[str]:
    from rocm_sdk.base.files import names_in

    return names_in(directory)
