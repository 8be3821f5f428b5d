"""The packages of a Debian release that have ROCm, according to a table (`debian_packages.txt`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.meant import did_you_mean
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError

_TABLE = Path(__file__).with_name("debian_packages.txt")
_NAMED = 3  # packages that a message names


class Release(NamedTuple):
    """A release of Debian."""

    suite: str
    codename: str  # VERSION_CODENAME in its os-release
    name: str  # the name that users know
    is_changing: bool

    def __str__(self) -> str:
        return f"Debian {self.name}"


class Row(NamedTuple):
    """A package of libraries or tools, or none, and the packages to develop with it; patterns with `#`."""

    is_followed: bool  # dependencies of the package are needed, too
    suites: tuple[str, ...]
    package: str  # "": none
    development: tuple[str, ...]


class Choice(NamedTuple):
    """The packages that apt has, by name; earlier ones count more."""

    version: str  # the package whose version is the SDK's
    libraries: tuple[str, ...]
    tools: tuple[str, ...]
    development: tuple[str, ...]
    absent: tuple[str, ...]  # packages of the table that apt does not have; N is a number


def release_of(suite: str) -> Release:
    """Return the release with this suite or name.

    Raise WrongUsageError if the table does not have the release.
    """
    for release in _releases():
        if suite in (release.suite, release.name):
            return release
    raise WrongUsageError(f"--suite {suite}: is not a release whose packages of ROCm are known", known_releases())


def release_with_codename(codename: str) -> Release | None:
    """Return the release of a system with this VERSION_CODENAME in its os-release, or None."""
    return next((release for release in _releases() if release.codename == codename), None)


def known_releases() -> str:
    """Return a fix: the releases of the table, and the options that ask for them."""
    listed = ", ".join(f"--suite {release.suite} ({release})" for release in _releases())
    return f"take the packages of a release that is known: {listed}"


def offered(release: Release) -> tuple[str, ...]:
    """Return the packages with libraries or tools that the table has of a release, without numbers."""
    return tuple(_stem(row.package) for row in _rows() if row.package and release.suite in row.suites)


def named(release: Release, names: Iterable[str]) -> list[str]:
    """Return the names that rows of the release are about."""
    rows = [row for row in _rows() if release.suite in row.suites]
    patterns = (_compiled(pattern).pattern for row in rows for pattern in (row.package, *row.development) if pattern)
    either = re.compile("|".join(patterns), re.ASCII)  # a release has a hundred thousand names
    return [name for name in names if either.fullmatch(name)]


def choose(release: Release, wanted: Iterable[str], known: Iterable[str]) -> Choice:
    """Return the packages of a release that the table has and apt knows.

    `wanted` has names of packages with or without their number; empty, it stands for all. Raise WrongUsageError for a
    name that no row has, and PackagingError if apt does not know a package of a stable release.
    """
    rows = [row for row in _rows() if release.suite in row.suites]
    names = list(wanted)
    chosen = [row for row in rows if not names or not row.package or any(fits(row.package, name) for name in names)]
    _refuse_unknown(names, rows, release)
    available = set(known)
    found: dict[str, str | None] = {}
    for pattern in [pattern for row in chosen for pattern in (row.package, *row.development) if pattern]:
        found[pattern] = newest(pattern, available)
    absent = tuple(pattern.replace("#", "N") for pattern, name in found.items() if name is None)
    version = newest(rows[0].package, available)
    if version is None or (absent and not release.is_changing):
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        raise PackagingError(
            f"apt knows no package {', '.join(absent[:_NAMED])}{more}",
            f"{release} has these packages: see that apt's sources name it and can be reached",
        )

    def names_of(patterns: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for pattern in patterns if (name := found.get(pattern)) is not None))

    return Choice(
        version,
        names_of(row.package for row in chosen if row.is_followed),
        names_of(row.package for row in chosen if not row.is_followed),
        names_of(pattern for row in chosen for pattern in row.development),
        absent,
    )


def required(release: Release, development: Iterable[str], depends: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the packages with libraries or tools, without numbers, that -dev packages need to be of use.

    `development` has names of -dev packages. `depends` has for each package the names of its dependencies, alternatives
    too.
    """
    rows = [row for row in _rows() if row.package and release.suite in row.suites]
    found, reached, pending = set[str](), set[str](), list(development)
    while pending:
        name = pending.pop()
        if name in reached:
            continue
        reached.add(name)
        found |= {_stem(row.package) for row in rows if _compiled(row.package).fullmatch(name)}
        of_development = [row for row in rows if any(_compiled(each).fullmatch(name) for each in row.development)]
        if of_development:  # packages without a row stay Debian's
            # A package that several rows have belongs to the row in which it is the first.
            own = [row for row in of_development if _compiled(row.development[0]).fullmatch(name)] or of_development
            found.add(_stem(own[0].package))
            pending += depends.get(name, ())
    return found


def fits(pattern: str, name: str) -> bool:
    """Return whether a name is one of the pattern's, with or without the number."""
    return name in (pattern, _stem(pattern)) or _compiled(pattern).fullmatch(name) is not None


def newest(pattern: str, names: Iterable[str]) -> str | None:
    """Return the name with the highest number among the names that the pattern stands for, or None."""
    matching = [(match, name) for name in names if (match := _compiled(pattern).fullmatch(name))]
    return max(matching, key=lambda each: [int(number) for number in each[0].groups()])[1] if matching else None


def _refuse_unknown(names: Iterable[str], rows: Iterable[Row], release: Release) -> None:
    known = offered(release)
    for name in names:
        if not any(fits(row.package, name) for row in rows if row.package):
            raise WrongUsageError(
                f"--packages {name}: is not one of the packages of ROCm of {release}",
                did_you_mean(name, known, 2) or f"name some of {', '.join(known)}",
            )


def _stem(pattern: str) -> str:
    return pattern.replace("#", "").removesuffix("-")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(r"(\d+)".join(map(re.escape, pattern.split("#"))), re.ASCII)


@cache
def _releases() -> tuple[Release, ...]:
    return tuple(
        Release(suite, codename, name, state == "changing")
        for suite, codename, name, state in (fields for kind, *fields in _table() if kind == "release")
    )


@cache
def _rows() -> tuple[Row, ...]:
    rows = []
    for kind, suites, *packages in _table():
        if kind == "develop":
            rows.append(Row(False, tuple(suites.split(",")), "", tuple(packages)))
        elif kind != "release":
            rows.append(Row(kind == "library", tuple(suites.split(",")), packages[0], tuple(packages[1:])))
    return tuple(rows)


@cache
def _table() -> tuple[tuple[str, ...], ...]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split()) for line in lines if line and not line.startswith("#"))
