"""Which artifacts feed which package, read from a table (`rules.txt`, or the user's own)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.errors import PackagingError

from .catalog import COMPONENTS

PACKAGES = ("core", "libraries", "device", "profiler")
MODES = ("kpack", "family")
_DEFAULT = Path(__file__).with_name("rules.txt")


class Script(NamedTuple):
    """A command of a package."""

    name: str
    path: str  # below the package's platform directory
    expands: bool  # it needs the development tree


class PackageRules(NamedTuple):
    """What one runtime package consists of."""

    artifacts: frozenset[tuple[str, str]]  # (name, component)
    includes: tuple[str, ...]
    excludes: tuple[str, ...]
    search: tuple[str, ...]
    scripts: tuple[Script, ...]


class Rules(NamedTuple):
    """The whole table."""

    packages: dict[str, PackageRules]
    devel: dict[str, frozenset[str]]  # mode -> names of artifacts


def read_rules(path: Path | None = None) -> Rules:
    """The rules of a file, by default the established ones. PackagingError names the line that is wrong."""
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
        if kind not in _COLUMNS or len(fields) != len(_COLUMNS[kind]):
            known = "; ".join(f"{name} {' '.join(columns)}" for name, columns in _COLUMNS.items())
            raise PackagingError(f"{file}:{number}: {line.strip()!r} is no rule", f"rules are: {known}")
        for column, value in zip(_COLUMNS[kind], fields, strict=True):
            wrong = [each for each in value.split(",") if column in _VALUES and each not in _VALUES[column]]
            if wrong:
                raise PackagingError(f"{file}:{number}: {wrong[0]!r} is none of {', '.join(_VALUES[column])}")
        rows[kind].append(tuple(fields))
    return Rules(
        {package: _package(rows, package) for package in PACKAGES},
        {mode: frozenset(name for each, name in rows["devel"] if each == mode) for mode in MODES},
    )


_COLUMNS = {
    "artifact": ("PACKAGE", "COMPONENTS", "NAME"),
    "exclude": ("PACKAGE", "GLOB"),
    "include": ("PACKAGE", "GLOB"),
    "devel": ("MODE", "NAME"),
    "search": ("PACKAGE", "DIRECTORY"),
    "script": ("PACKAGE", "EXPAND", "NAME", "PATH"),
}
_VALUES = {"PACKAGE": PACKAGES, "COMPONENTS": COMPONENTS, "MODE": MODES, "EXPAND": ("expand", "plain")}


def _package(rows: dict[str, list[tuple[str, ...]]], package: str) -> PackageRules:
    own = {kind: [row[1:] for row in found if row[0] == package] for kind, found in rows.items()}
    return PackageRules(
        frozenset((name, component) for components, name in own["artifact"] for component in components.split(",")),
        tuple(glob for (glob,) in own["include"]),
        tuple(glob for (glob,) in own["exclude"]),
        tuple(directory for (directory,) in own["search"]),
        tuple(Script(name, path, expand == "expand") for expand, name, path in own["script"]),
    )
