"""`rocm-sdk list`: the libraries that can be asked for by a short name, and where they are."""

from rocm_sdk.terminal.output import tell_json, tell_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from rocm_sdk._native import LibraryLocation
    from rocm_sdk.installed.installation import Installed

EXAMPLE = "rocm-sdk list --installed"


def add_arguments(parser: "ArgumentParser") -> None:
    """Which libraries, and the form of the output."""
    parser.add_argument("--installed", action="store_true", help="only those that are installed")
    parser.add_argument("--json", action="store_true", help='for programs: {"schema": 1, "libraries": []}')


def run(options: "Namespace") -> int:
    """Prints a table with a line for each library; status 1 if none is to be printed."""
    from rocm_sdk._native import catalog
    from rocm_sdk.base.value_text import size_text
    from rocm_sdk.installed.installation import current

    installed = current()
    rows = zip(catalog(), _places(installed), strict=True)
    libraries = [_document(shortname, package, optional, place) for (shortname, package, *_, optional), place in rows]
    if options.installed:
        libraries = [each for each in libraries if each["path"] is not None]
    if options.json:
        tell_json(1, libraries=libraries)
        return 0 if libraries else 1
    heading, above = _column_of_files(installed)
    lines = [
        (
            each["shortname"],
            each["package"],
            "-" if each["bytes"] is None else size_text(each["bytes"]),
            (each["path"] or "").removeprefix(above),
        )
        for each in libraries
    ]
    if lines:
        tell_table(("library", "package", "size", heading), lines, {"size"})
    return 0 if lines else 1


def _column_of_files(installed: "Installed") -> tuple[str, str]:
    """The heading of the files, and what their paths are without: on a terminal, site-packages, which it names once."""
    import sys

    from rocm_sdk.terminal.style import width_of

    if width_of(sys.stdout) is None:
        return "file", ""
    return f"file below {installed.site}", f"{installed.site}/"


def _places(installed: "Installed") -> "Sequence[LibraryLocation | None]":
    """Where each library of the catalog is; None if it is not installed, or damaged."""
    from rocm_sdk._native import catalog
    from rocm_sdk.errors import RocmSdkError

    if installed.chosen_by is not None:
        installed.sdk.facts()  # an error about the chosen directory is not one about each library
    try:
        return installed.sdk.located()
    except RocmSdkError:
        return [None] * len(catalog())


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
