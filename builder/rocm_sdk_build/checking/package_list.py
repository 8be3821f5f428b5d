"""The packages of a directory, and the other files there."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from shlex import quote

from rocm_sdk_build.base.named_directory import require_directory
from rocm_sdk_build.output.package_files import NAME_IT, PackageFile, read_name

from .problems import Problems

LOADER = "rocm-sdk-loader"
BESIDE = (".metadata", ".sha256sum")  # files about the package whose name comes before the ending
ELSEWHERE = "move it out of the directory"
_PAGES = ("simple", "links.html")  # pages of `index`


def list_packages(directory: Path, problems: Problems) -> list[PackageFile]:
    """Return the packages in a directory and directly below it, sorted; hidden files are ignored."""
    require_directory(directory, NAME_IT)
    found = _packages_in(directory, problems, below=True)
    if not found and not problems:
        fix = "rocm-sdk-build artifacts ARTIFACTS --output DIR makes packages"
        problems.tell(directory, "there are no packages in it", fix)
    return found


def _packages_in(directory: Path, problems: Problems, *, below: bool) -> list[PackageFile]:
    found: list[PackageFile] = []
    paths = sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    names = {path.name for path in paths}
    for path in paths:
        kind = path.lstat().st_mode
        about = next((path.name.removesuffix(end) for end in BESIDE if path.name.endswith(end)), "")
        if path.name in _PAGES or (about in names and stat.S_ISREG(kind)):
            continue
        if below and stat.S_ISDIR(kind):
            with problems.of(path):
                own = _packages_in(path, problems, below=False)
                if not own:
                    problems.tell(path, "is a directory without packages", ELSEWHERE)
                found += own
        elif stat.S_ISLNK(kind):
            copy = f"cp --remove-destination {quote(os.path.realpath(path))} {quote(str(path))}"
            problems.tell(path, "is a symbolic link", copy if path.is_file() else ELSEWHERE)
        elif not stat.S_ISREG(kind):
            problems.tell(path, "is not a file", ELSEWHERE)
        elif not path.name.endswith((".whl", ".tar.gz")):
            problems.tell(path, "is neither a package nor package metadata", ELSEWHERE)
        else:
            with problems.of(path, ELSEWHERE):
                found += _accepted(read_name(path), found, problems)
    return found


def _accepted(package: PackageFile, others: list[PackageFile], problems: Problems) -> list[PackageFile]:
    """Return the package in a list, or [] if the package belongs to no SDK.

    A second package of the same project is reported, too.
    """
    path = package.path
    if not package.is_of_sdk and package.project != LOADER:
        index = "add it to the pages by rocm-sdk-build index DIR --root ITS_DIRECTORY"
        problems.tell(path, "belongs to no SDK", f"{ELSEWHERE}, and {index}")
        return []
    for other in others:
        if other.project == package.project and other.path.parent == path.parent:
            problems.tell(path, f"is a second {package.project} beside {other.path.name}", "leave one of them out")
    return [package]
