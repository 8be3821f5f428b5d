"""The command `rocm-sdk list`, which prints the libraries that have a short name, and where they are."""

import sys

from rocm_sdk.terminal.output import complain_of, tell_json, tell_table, tell_wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence
    from typing import Any

    from rocm_sdk._native import LibraryLocation
    from rocm_sdk.errors import RocmSdkError
    from rocm_sdk.installed.view import Installed

EXAMPLE = "rocm-sdk list --installed"


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the options: the libraries, and the form of the output."""
    parser.add_argument("--installed", action="store_true", help="only those that are installed")
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, "libraries": []}')


def run(options: "Namespace") -> int:
    """Print a table with a line for each library. Return status 1 if there is none to print, or one is damaged."""
    from rocm_sdk._native import catalog
    from rocm_sdk.installed.view import current

    installed = current()
    places, version = _places(installed)
    rows = zip(catalog(version), places, strict=True)
    libraries = [_document(shortname, package, optional, place) for (shortname, package, *_, optional), place in rows]
    if options.installed:
        libraries = [each for each in libraries if each["path"] is not None]
    if options.json:
        tell_json(1, libraries=libraries)
    else:
        _print_table(libraries, installed)
    damages = list(_damages(installed))
    for error in damages:
        complain_of(error)
    return 1 if damages or not libraries else 0


def _damages(installed: "Installed") -> "Iterator[RocmSdkError]":
    """Yield what is wrong with libraries that are there but cannot be used."""
    try:
        failures = installed.sdk.failures()
    except ModuleNotFoundError:  # no SDK
        return
    for name, kind in failures.items():
        if kind not in {"PackageNotInstalledError", "LibraryNotFoundError"}:
            from rocm_sdk.errors import RocmSdkError

            try:
                installed.sdk.locate(name)
            except RocmSdkError as error:
                yield error


def _print_table(libraries: "Sequence[dict[str, Any]]", installed: "Installed") -> None:
    """Print a row for each library. On a terminal, absent libraries are named below the table, without columns."""
    from rocm_sdk.base.value_text import size_text
    from rocm_sdk.terminal.style import width_of

    is_read = width_of(sys.stdout) is not None
    above = f"{installed.site}/" if is_read else ""
    rows = [
        (
            each["shortname"],
            each["package"],
            "-" if each["bytes"] is None else size_text(each["bytes"]),
            (each["path"] or "").removeprefix(above),
        )
        for each in libraries
        if each["path"] is not None or not is_read
    ]
    if rows:
        heading = f"file below {installed.site}" if is_read else "file"
        tell_table(("library", "package", "size", heading), rows, {"size"})
    if not is_read:
        return
    absent: dict[str, list[str]] = {}
    for each in libraries:
        if each["path"] is None:
            absent.setdefault(each["package"], []).append(each["shortname"])
    if not rows:
        tell_wrapped("no library is installed here: rocm-sdk install installs them")
    for package, names in absent.items():
        tell_wrapped(f"not installed, of {package}: {', '.join(names)}")


def _places(installed: "Installed") -> "tuple[Sequence[LibraryLocation | None], str | None]":
    """Return the place of each library of the catalog, None if it is not installed, or damaged; the SDK's version."""
    from rocm_sdk._native import catalog
    from rocm_sdk.errors import PackageNotInstalledError

    if installed.chosen_by is not None:
        installed.sdk.facts()  # raise an error about the chosen directory once, not for each library
    try:
        return installed.sdk.located(), installed.sdk.facts()["version"]
    except PackageNotInstalledError:
        return [None] * len(catalog()), None


def _document(shortname: str, package: str, optional: bool, place: "LibraryLocation | None") -> "dict[str, Any]":
    import os

    path = None if place is None else place.path
    return {
        "shortname": shortname,
        "package": package,
        "optional": optional,
        "path": path,
        "bytes": None if path is None else os.path.getsize(path),
        "found_via": None if place is None else place.found_via,
    }
