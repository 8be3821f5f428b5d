"""The headers, static libraries, bitcode and tools of the SDK, by the names under which their users know them.

The runtime packages are searched first, then the development tree, which is extracted if needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from rocm_sdk._native import package_directory
from rocm_sdk.base.file_location import FileLocation
from rocm_sdk.base.meant import did_you_mean
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.value_text import quoted_for_shell
from rocm_sdk.errors import (
    BadArchiveError,
    DevelopmentTreeError,
    LibraryNotFoundError,
    PackageNotInstalledError,
    UnknownLibraryError,
)

from .archive import Archive
from .layout import EXTRACTED, LIBRARY_PLACES, PACKED, find_archive, find_site, tree_state
from .root import development_root, ready_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from rocm_sdk.base.reporter import Reporter


class Kind(NamedTuple):
    """A kind of file. Names of files are `beginning + name + ending`, each ending is tried."""

    title: str
    directories: tuple[str, ...]  # of a package, in search order
    beginning: str
    endings: tuple[str, ...]
    is_found: Callable[[str], bool]  # returns whether a path is what was looked for
    gives_directory: bool = False  # the answer is the directory


def _is_tool(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


HEADERS = Kind("headers", ("include", "lib/llvm/include"), "", ("", ".h", ".hpp"), os.path.exists, gives_directory=True)
STATIC_LIBRARY = Kind(
    "static library",
    LIBRARY_PLACES,
    "lib",
    (".a",),
    os.path.isfile,
)
BITCODE = Kind("bitcode", ("lib/llvm/amdgcn/bitcode", "amdgcn/bitcode"), "", (".bc",), os.path.isfile)
TOOL = Kind("tool", ("bin", "lib/llvm/bin"), "", ("",), _is_tool)

# Short names of libraries whose headers have another name.
_HEADERS_OF_LIBRARIES = {
    "LLVM": "llvm",
    "OpenCL": "CL",
    "amdhip64": "hip",
    "amdocl64": "CL",
    "clang": "clang-c",
    "hip_runtime": "hip",
    "hiprtc": "hip/hiprtc.h",
    "hsa-amd-aqlprofile64": "hsa",
    "hsa-runtime64": "hsa",
    "rocm_smi64": "rocm_smi",
    "roctracer64": "roctracer",
    "roctx64": "roctracer",
}
_RUNTIME_PACKAGES = ("core", "libraries")


def find(kind: Kind, name: str, make_reporter: Callable[[], Reporter] | None) -> FileLocation:
    """Return the file with this name. make_reporter: for messages of the extraction; None: do not extract the tree.

    Raises UnknownLibraryError for a text that cannot be a name, LibraryNotFoundError, and the errors of the extraction.
    """
    wanted = _HEADERS_OF_LIBRARIES.get(name, name) if kind is HEADERS else name
    parts = wanted.split("/") if kind is HEADERS else [wanted]
    if any(part in {"", ".", ".."} or "/" in part or "\0" in part for part in parts):
        fix = f"name what lies below {kind.directories[0]}" if kind is HEADERS else "name a file without its directory"
        raise UnknownLibraryError(f"{name!r}: no {kind.title} can have this name", fix)
    roots: dict[str, str] = {}
    for package in (*_RUNTIME_PACKAGES, "devel"):
        if package == "devel" and make_reporter is not None:
            paths = [
                f"{place}/{kind.beginning}{wanted}{ending}" for place in kind.directories for ending in kind.endings
            ]
            packed = archive_without(paths, kind.directories)
            if packed is not None:  # the archive has no such file: it stays packed
                raise _not_found(kind, name, wanted, {**roots, "devel": packed.tree}, packed)
        root = _development_root(kind, name, make_reporter) if package == "devel" else _runtime_root(package)
        if root is not None:
            roots[package] = root
            if found := _look_in(root, kind, wanted):
                return FileLocation(name, found[0], package, found[1])
    raise _not_found(kind, name, wanted, roots)


def _look_in(root: str, kind: Kind, wanted: str) -> tuple[str, str] | None:
    """Return the path and how it was found; None if there is none."""
    for directory in kind.directories:
        for ending in kind.endings:
            path = f"{root}/{directory}/{kind.beginning}{wanted}{ending}"
            if kind.is_found(path):
                found_via = "directory name" if os.path.isdir(path) else "file name"
                return (f"{root}/{directory}" if kind.gives_directory else path), found_via
    return None


def _runtime_root(package: str) -> str | None:
    try:
        return package_directory(package)
    except PackageNotInstalledError:
        return None


def _development_root(kind: Kind, name: str, make_reporter: Callable[[], Reporter] | None) -> str | None:
    if make_reporter is None:
        return ready_root() or (package_directory("devel") if tree_state() == EXTRACTED else None)
    try:
        return development_root(make_reporter)
    except PackageNotInstalledError as error:
        message = f"the runtime packages have no {kind.title} {name!r}, and {error.message}"
        raise PackageNotInstalledError(message, error.fix, error.path, error.code, error.problem) from None


def _not_found(
    kind: Kind, name: str, wanted: str, roots: Mapping[str, str], packed: Packed | None = None
) -> LibraryNotFoundError:
    """Return the error for a name that is not found, with similar names.

    packed: the archive of the development tree, if that is not extracted.
    """
    places = [f"{root}/{directory}" for root in roots.values() for directory in kind.directories]
    message = f"the SDK has no {kind.title} {name!r}; looked into {', '.join(places) or 'nothing'}"
    names = {*_names(kind, places), *_named(kind, packed.names if packed is not None else ())}
    if meant := did_you_mean(wanted, sorted(names)):
        return LibraryNotFoundError(message, meant)
    if "devel" not in roots:
        return LibraryNotFoundError(message, "extract the development tree: rocm-sdk init")
    listing = (
        f"ls {places[-len(kind.directories)]}" if packed is None else f"tar -tf {quoted_for_shell(packed.archive)}"
    )
    return LibraryNotFoundError(message, f"name one that is there: {listing}")


def _names(kind: Kind, places: list[str]) -> Iterator[str]:
    """Yield the names that exist."""
    for place in places:
        files = os.listdir(place) if os.path.isdir(place) else ()
        yield from _named(kind, (file for file in files if kind.is_found(f"{place}/{file}")))


def _named(kind: Kind, files: Iterable[str]) -> Iterator[str]:
    """Yield the names of the files of a kind, without beginning and ending."""
    for file in files:
        for ending in kind.endings:
            if file.startswith(kind.beginning) and file.endswith(ending):
                yield file[len(kind.beginning) : len(file) - len(ending)]


class Packed(NamedTuple):
    """An archive that lacks what was looked for.

    archive: its path. tree: where its tree would be. names: the names in some directories.
    """

    archive: str
    tree: str
    names: frozenset[str]


def archive_without(wanted: Collection[str], directories: Collection[str]) -> Packed | None:
    """Return the archive of a packed tree that has no wanted path; None: it may have one.

    Paths are relative to the tree. None, too, if the tree is not packed, one of the directories is a link, or the
    archive cannot be read: the extraction says what is wrong with it.
    """
    site = find_site()
    path = find_archive(site) if site is not None and tree_state(site) == PACKED else None
    if path is None:
        return None
    found: set[str] = set()
    tree = ""
    try:
        with Archive(path) as archive:
            for header in archive.headers():
                tree, _, member = header.name.partition("/")
                if any(f"{member}/".startswith(f"{each}/") for each in wanted):
                    return None
                if not header.isdir() and any(f"{each}/".startswith(f"{member}/") for each in directories):
                    return None
                found |= {_first(member, each) for each in directories if member.startswith(f"{each}/")}
    except (BadArchiveError, DevelopmentTreeError, OSError):
        return None
    return Packed(path, f"{site}/{tree}", frozenset(found))


def _first(member: str, directory: str) -> str:
    """Return the name in the directory that a member is, or is below."""
    return member[len(directory) + 1 :].partition("/")[0]
