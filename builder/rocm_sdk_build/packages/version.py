"""The versions of packages: the form for each kind of build (PEP 440, Debian, RPM)."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from rocm_sdk.base.processes import run
from rocm_sdk_build.base.damaged import read_document
from rocm_sdk_build.base.errors import AbsentInputError, PackagingError

_DATE = re.compile(r"\d{8}")
_SHORT_SHA = 8
_DEVELOPMENT = ".dev0"
VERSION_FILE = Path("version.json")  # path in the source tree of a build


class Versions(NamedTuple):
    """The version of one build in the forms of three package formats."""

    wheel: str
    deb: str
    rpm: str


class VersionFile(NamedTuple):
    """The facts of `version.json`."""

    base: str  # "7.10.0"
    base_date: str  # "20260811", or ""


def default_version(file: Path | None) -> str:
    """Return the version that the established packager would take: a file's version, as a development version.

    None stands for VERSION_FILE; the version is "" if that file is not there.
    """
    if file is None and not VERSION_FILE.exists():
        return ""
    return versions_of_suffix(read_version_file(file or VERSION_FILE).base, _DEVELOPMENT).wheel


def version_of_artifacts(of_packages: str, of_rocm: str) -> str:
    """Return the version of packages from the facts that the build of the artifacts states.

    The version is the one of the build's own packages, or the one of its ROCm as a development version. Raise
    PackagingError if the build states neither.
    """
    if version := _canonical(of_packages) or _canonical(of_rocm and f"{of_rocm}{_DEVELOPMENT}"):
        return version
    raise PackagingError(
        f"no version is given: {VERSION_FILE} is not there, and the artifact base_lib_generic does not say one",
        "name the version of the ROCm that was built: --version 7.10.0",
    )


def _canonical(version: str) -> str:
    """Return the version as Python packages spell it; "" for a text that is not a version."""
    try:
        return str(Version(version))
    except InvalidVersion:
        return ""


def check_version(version: str) -> None:
    """Raise PackagingError for a text that is not a canonical version of Python packages."""
    try:
        canonical = str(Version(version))
    except InvalidVersion as error:
        raise PackagingError(
            f"{version!r} is not a version of a Python package", "such as 7.10.0 or 7.10.0rc1"
        ) from error
    if canonical != version:
        raise PackagingError(f"the version {version!r} is not canonical", f"write {canonical}")


def read_version_file(path: Path) -> VersionFile:
    """Return the facts of the file.

    Raise PackagingError for a file that is absent or damaged, and for an invalid base date; raise OSError if the file
    cannot be read.
    """
    try:
        document = read_document(path)
    except FileNotFoundError as error:
        raise AbsentInputError(f"{path}: there is no such file", "name it: --version-file FILE") from error
    if not isinstance(document, dict) or not isinstance(base := document.get("rocm-version"), str) or not base:
        raise PackagingError(f'{path}: it has no text "rocm-version"')
    metadata = document.get("release-metadata", {})
    if not isinstance(metadata, dict):
        raise PackagingError(f"{path}: release-metadata is not an object")
    date = metadata.get("base-date", "")
    if date and not _is_date(date):
        raise PackagingError(f"{path}: release-metadata.base-date must be a valid date in YYYYMMDD format: {date!r}")
    return VersionFile(base, date)


def _is_date(text: object) -> bool:
    if not isinstance(text, str) or not _DATE.fullmatch(text):
        return False
    try:
        datetime.datetime.strptime(text, "%Y%m%d").replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return False
    return True


def versions_of_suffix(base: str, suffix: str) -> Versions:
    """Return the versions with a suffix of the caller's own, the same for all formats."""
    return Versions(**dict.fromkeys(Versions._fields, f"{base}{suffix}"))


def versions(kind: str, file: VersionFile, today: str, sha: Callable[[], str], prerelease: str | None) -> Versions:
    """Return the versions of a build of this type.

    `today` is YYYYMMDD. `sha` returns the commit, and is called only if the commit is needed. Raise PackagingError for
    a prerelease without number, and for a build of a type that needs a base date without base date.
    """
    base, date = file
    if kind.endswith("-bkc") and not date:
        raise PackagingError(f"a build of type {kind} needs release-metadata.base-date in version.json")
    if kind == "release":
        return Versions(base, base, base)
    if kind == "prerelease":
        if not prerelease:
            raise PackagingError("a prerelease needs its number", "--prerelease-version N")
        return Versions(f"{base}rc{prerelease}", f"{base}~pre{prerelease}", f"{base}~rc{prerelease}")
    if kind == "nightly":
        return Versions(f"{base}a{today}", f"{base}~{today}", f"{base}~{today}")
    if kind == "nightly-bkc":
        system = f"{base}~{date}.bkc.{today}"
        return Versions(f"{base}a{date}+bkc.{today}", system, system)
    commit = sha()
    return Versions(f"{base}.dev0+{commit}", f"{base}~dev{today}", f"{base}~{today}g{commit[:_SHORT_SHA]}")


def commit(override: str | None) -> str:
    """Return the commit that is built: the given one, the CI system's, or the current directory's.

    Raise PackagingError if git is not there or knows no commit.
    """
    if found := override or os.environ.get("GITHUB_SHA"):
        return found
    command = ["git", "rev-parse", "--verify", "HEAD"]
    try:
        done = run(command)
    except FileNotFoundError as error:
        raise PackagingError("git: not found", "give the commit: --override-git-sha SHA") from error
    if done.returncode:
        raise PackagingError(f"git knows no commit here: {done.stderr.strip()}", "--override-git-sha SHA")
    return done.stdout.strip()
