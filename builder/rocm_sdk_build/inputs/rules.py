"""The rules for the content of packages, read from a table (`rules.txt`, or the user's own)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from rocm_sdk_build.base.errors import PackagingError

from .catalog import COMPONENTS
from .globs import matches

PACKAGES = ("core", "libraries", "device", "profiler")
MODES = ("kpack", "family")
_DEFAULT = Path(__file__).with_name("rules.txt")


class Script(NamedTuple):
    """A command of a package."""

    name: str
    path: str  # path below the package's platform directory
    expands: bool  # the command needs the development tree


class MetadataRule(NamedTuple):
    """A line of METADATA."""

    package: str  # a package or "all"
    field: str
    value: str


class PackageRules(NamedTuple):
    """The rules for the content of one runtime package."""

    artifacts: frozenset[tuple[str, str]]  # (name, component)
    includes: tuple[str, ...]
    excludes: tuple[str, ...]
    search: tuple[str, ...]
    scripts: tuple[Script, ...]
    linker_names: tuple[str, ...]  # patterns of libraries that the package has without version, too
    own_search: tuple[str, ...]


class Rewrite(NamedTuple):
    """A change of the texts in files of a prefix."""

    when: str  # "any", or "moved": only a file with another place than in the prefix; "tree": of artifacts, too
    files: str  # a pattern over paths
    pattern: re.Pattern[str]
    text: str


class PrefixRules(NamedTuple):
    """The rules for the files of an installed ROCm; of several rows that fit, the first counts."""

    places: tuple[tuple[str, str], ...]  # directory of a prefix, directory of the tree
    rewrites: tuple[Rewrite, ...]
    skipped: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]  # package or "devel", pattern
    licences: tuple[tuple[str, str], ...]  # package or "devel", pattern of its documents
    members: tuple[str, ...]  # patterns of files that only a part of ROCm has


class Rules(NamedTuple):
    """The whole table of rules."""

    packages: dict[str, PackageRules]
    devel: dict[str, frozenset[str]]  # mode -> names of artifacts, or NAME_COMPONENT
    prefix: PrefixRules
    metadata: tuple[MetadataRule, ...] = ()
    left: tuple[tuple[str, str], ...] = ()  # components, pattern of names: artifacts of no package

    def leaves(self, name: str, component: str) -> bool:
        """Return whether a row says that an artifact's files are in no package."""
        return any(component in components.split(",") and matches(name, glob) for components, glob in self.left)

    def libraries_of_others(self, *own: str) -> tuple[str, ...]:
        """Return patterns over the names of libraries that rows `take` give to packages other than these."""
        names = [glob.rpartition("/")[2] for part, glob in self.prefix.parts if part in PACKAGES and part not in own]
        return tuple(name for name in names if name.startswith("lib") and ".so" in name)


def read_rules(path: Path | None = None) -> Rules:
    """Return the rules of a file, by default the established ones.

    Raise PackagingError, which names the line that is wrong.
    """
    file = path or _DEFAULT
    rows: dict[str, list[tuple[str, ...]]] = {kind: [] for kind in _COLUMNS}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PackagingError(f"{file}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        kind, *fields = line.partition("#")[0].split() or [""]
        if not kind:
            continue
        if kind in _OPEN:
            fields = line.split(None, len(_COLUMNS[kind]))[1:]
        if kind not in _COLUMNS or len(fields) != len(_COLUMNS[kind]):
            known = "; ".join(f"{name} {' '.join(columns)}" for name, columns in _COLUMNS.items())
            raise PackagingError(f"{file}:{number}: {line.strip()!r} is not a rule", f"rules are: {known}")
        for column, value in zip(_COLUMNS[kind], fields, strict=True):
            wrong = [each for each in value.split(",") if column in _VALUES and each not in _VALUES[column]]
            if wrong:
                raise PackagingError(f"{file}:{number}: {wrong[0]!r} is none of {', '.join(_VALUES[column])}")
        if kind == "rewrite":
            _check_rewrite(f"{file}:{number}", *fields[2:])
        if fields[1:2] == ["License-Expression"]:
            _check_licence(fields[2], f"{file}:{number}")
        rows[kind].append(tuple(fields))
    return Rules(
        {package: _package(rows, package) for package in PACKAGES},
        {mode: frozenset(name for each, name in rows["devel"] if each == mode) for mode in MODES},
        _prefix(rows),
        tuple(MetadataRule(package, field, value.strip()) for package, field, value in rows["metadata"]),
        tuple((components, glob) for components, glob, _ in rows["leave"]),
    )


def _check_licence(text: str, place: str) -> None:
    try:
        canonicalize_license_expression(text.strip())
    except InvalidLicenseExpression as error:
        raise PackagingError(f"{place}: {error}", "identifiers of SPDX, with AND, OR and WITH") from error


_COLUMNS = {
    "artifact": ("PACKAGE", "COMPONENTS", "NAME"),
    "exclude": ("PACKAGE", "GLOB"),
    "include": ("PACKAGE", "GLOB"),
    "devel": ("MODE", "NAME"),
    "leave": ("COMPONENTS", "GLOB", "WHY"),
    "search": ("PACKAGE", "DIRECTORY"),
    "script": ("PACKAGE", "EXPAND", "NAME", "PATH"),
    "unversioned": ("PACKAGE", "GLOB"),
    "metadata": ("DISTRIBUTION", "FIELD", "VALUE"),
    "place": ("FROM", "TO"),
    "rewrite": ("WHEN", "FILES", "PATTERN", "TEXT"),
    "skip": ("GLOB",),
    "take": ("PART", "GLOB"),
    "own": ("PACKAGE", "DIRECTORY"),
    "licence": ("PART", "GLOB"),
    "member": ("GLOB",),
}
_OPEN = ("leave", "metadata")  # the last column goes to the end of the line
_FIELDS = (
    *("Author", "Author-email", "Maintainer", "Maintainer-email", "License-Expression", "Keywords", "Classifier"),
    "Project-URL",
)
_VALUES = {
    "PACKAGE": PACKAGES,
    "PART": (*PACKAGES, "devel"),
    "COMPONENTS": COMPONENTS,
    "MODE": MODES,
    "EXPAND": ("expand", "plain"),
    "DISTRIBUTION": (*PACKAGES, "devel", "all"),
    "FIELD": _FIELDS,
    "WHEN": ("any", "moved", "tree"),
}


def _check_rewrite(line: str, pattern: str, text: str) -> None:
    try:
        re.compile(pattern).sub(text, "")
    except (re.error, IndexError) as error:
        raise PackagingError(f"{line}: {pattern!r} cannot be replaced by {text!r}: {error}") from error


def _prefix(rows: dict[str, list[tuple[str, ...]]]) -> PrefixRules:
    return PrefixRules(
        tuple((before, after) for before, after in rows["place"]),
        tuple(Rewrite(when, files, re.compile(pattern), text) for when, files, pattern, text in rows["rewrite"]),
        tuple(glob for (glob,) in rows["skip"]),
        tuple((part, glob) for part, glob in rows["take"]),
        tuple((part, glob) for part, glob in rows["licence"]),
        tuple(glob for (glob,) in rows["member"]),
    )


def _package(rows: dict[str, list[tuple[str, ...]]], package: str) -> PackageRules:
    own = {kind: [row[1:] for row in found if row[0] == package] for kind, found in rows.items()}
    return PackageRules(
        frozenset((name, component) for components, name in own["artifact"] for component in components.split(",")),
        tuple(glob for (glob,) in own["include"]),
        tuple(glob for (glob,) in own["exclude"]),
        tuple(directory for (directory,) in own["search"]),
        tuple(Script(name, path, expand == "expand") for expand, name, path in own["script"]),
        tuple(glob for (glob,) in own["unversioned"]),
        tuple(directory for (directory,) in own["own"]),
    )
