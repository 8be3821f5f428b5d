"""The dist-info directories of a closure's packages: their own version, and RECORDs of the files that are there.

The version names the GPUs of the package (`7.10.0+closure.gfx942`), so nobody mistakes it for the whole package. pip
and uv accept the version where `==7.10.0` is required. `_dist_info.py` stays as it is: programs compare the SDK's
version.
"""

from __future__ import annotations

import configparser
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from rocm_sdk.installed.distributions import without_closure
from rocm_sdk.installed.record import Row, digest_text, read_record, record_text, row_of
from rocm_sdk_build.base.damaged import read_small, refusing_damage
from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.text_files import write_text
from rocm_sdk_build.closure.source_sdk import SdkPackage

NOTE = "closure.json"
_AGAIN = "install the package again"
_SCHEMA = 1
_MATERIALS = "sboms/"  # directory of the whole package's bill of materials
_OF_INSTALLATION = ("direct_url.json", "REQUESTED")  # a closure has not been installed
COMMAND_GROUPS = ("console_scripts", "gui_scripts")
_NAMED = 4  # number of GPUs; more become a digest in the version

EntryPoints = dict[str, dict[str, str]]  # group -> name -> the object that it starts


class ClosureVersion(NamedTuple):
    """The addition to the versions of a closure's packages."""

    gpus: tuple[str, ...]  # targets; (): all
    is_kept: bool  # the versions stay as they are

    def of(self, version: str) -> str:
        """Return the version of a closure of a package; the package's own version if versions are kept.

        Raise PackagingError for an invalid version.
        """
        if self.is_kept:
            return version
        version = without_closure(version)
        processors = sorted({gpu.partition(":")[0].replace("-", "") for gpu in self.gpus})
        if len(processors) > _NAMED:
            processors = [sha256(",".join(processors).encode()).hexdigest()[:8]]
        local = ".".join(["closure", *processors])
        try:
            before = Version(version).local
        except InvalidVersion as error:
            raise PackagingError(f"{version}: is no version of a package", _AGAIN) from error
        return f"{version}.{local}" if before else f"{version}+{local}"


class Note(NamedTuple):
    """The facts of `closure.json` in a dist-info directory."""

    command: str
    gpus: tuple[str, ...]
    version: str  # version of the original package

    @property
    def text(self) -> str:
        """The note as JSON, as documented in docs/closure.md."""
        return json.dumps({"schema": _SCHEMA, **self._asdict()}, indent=2) + "\n"


def write_dist_info(
    site: Path, package: SdkPackage, version: ClosureVersion, note: Note, left_out: frozenset[str]
) -> Path:
    """Write the dist-info directory without RECORD; return the directory.

    `left_out` are commands that are removed.
    """
    old = Path(package.distribution.directory)
    new = version.of(package.distribution.version)
    base = old.name.removesuffix(".dist-info").rpartition("-")[0]
    target = site / f"{base}-{new}.dist-info"
    target.mkdir()
    for row in package.distribution.files:
        directory, _, name = row.path.partition("/")
        if directory != old.name or not name or name == "RECORD" or name in _OF_INSTALLATION:
            continue
        if name.startswith(_MATERIALS):  # the bill of materials names a version and files that have changed
            continue
        text: bytes | None = _read(old / name)
        if name == "METADATA":
            text = _with_version(_read(old / name), package.distribution.version, new, old)
        elif name == "entry_points.txt":
            text = _without_commands(_read(old / name), left_out, old)
        if text is not None:
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text)
    if new != without_closure(package.distribution.version):
        write_text(target / NOTE, note.text)
    return target


def write_record(site: Path, dist_info: Path, files: Iterable[str], digests: Mapping[str, str]) -> None:
    """Write RECORD: the given files, relative to the site, and the files of the dist-info directory.

    `digests` are the digests that are known.
    """
    own = [str(path.relative_to(site)) for path in dist_info.rglob("*") if path.is_file()]
    paths = {name: site / name for name in sorted({*files, *own})}
    rows = [
        Row(name, digests.get(name) or digest_text(sha256_of(path)), str(path.stat().st_size))
        for name, path in paths.items()
    ]
    record = dist_info / "RECORD"
    write_text(record, record_text([*rows, Row(str(record.relative_to(site)))]))


def add_file(site: Path, package: str, name: str, content: bytes) -> None:
    """Add a further file to a package; its name is relative to the site."""
    (info,) = site.glob(f"{package.replace('-', '_')}-*.dist-info")
    record = info / "RECORD"
    *rows, own = read_record(str(record)).rows
    (site / name).parent.mkdir(exist_ok=True)
    (site / name).write_bytes(content)
    rows = sorted([*rows, row_of(name, content)], key=lambda row: row.path)
    write_text(record, record_text([*rows, own]))


def required(packages: Sequence[SdkPackage], requirements: Iterable[str]) -> frozenset[str]:
    """Return the names of the packages to which the requirements lead, extras included."""
    by_name = {package.name: package for package in packages}
    pending = list(applying(requirements))
    found: set[str] = set()
    done: set[tuple[str, frozenset[str]]] = set()
    while pending:
        name, extras = pending.pop()
        if name not in by_name or (name, extras) in done:
            continue
        done.add((name, extras))
        found.add(name)
        pending += _requires(by_name[name], extras)
    return frozenset(found)


def _requires(package: SdkPackage, extras: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    headers = _read(Path(package.distribution.directory) / "METADATA").decode("utf-8", "replace").partition("\n\n")[0]
    lines = (line.partition(":")[2].strip() for line in headers.splitlines() if line.startswith("Requires-Dist:"))
    return list(applying(lines, extras))


def applying(lines: Iterable[str], extras: Iterable[str] = ()) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the normalised names, and the extras, of the requirements that apply here.

    A text that is not a requirement is left out. `lines` are values of Requires-Dist, and `extras` the extras that are
    asked for.
    """
    for line in lines:
        with suppress(InvalidRequirement, UndefinedComparison, UndefinedEnvironmentName):
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def _read(path: Path) -> bytes:
    if path.is_symlink() and not os.path.isabs(path.readlink()):
        raise PackagingError(f"{path}: is a symbolic link", _AGAIN)
    with path.open("rb") as file, refusing_damage(lambda what: PackagingError(f"{path}: {what}", _AGAIN)):
        return read_small(file)


def _with_version(text: bytes, old: str, new: str, place: Path) -> bytes:
    pattern = rb"(?m)^Version: " + re.escape(old.encode()) + rb"[ \t\r]*$"
    changed, count = re.subn(pattern, f"Version: {new}".encode(), text, count=1)
    if not count:
        raise PackagingError(f"{place}/METADATA: does not say the version {old}", _AGAIN)
    return changed


def read_entry_points(text: bytes, place: Path) -> EntryPoints:
    """Return the entry points of an entry_points.txt.

    Raise PackagingError for a text that cannot be read.
    """
    points = configparser.ConfigParser(delimiters="=", interpolation=None, strict=False)
    points.optionxform = str  # type: ignore[assignment,method-assign]  # names are not lowered
    try:
        points.read_string(text.decode("utf-8"))
    except (configparser.Error, UnicodeDecodeError) as error:
        what = f"{place}/entry_points.txt: cannot be read: {error}"
        raise PackagingError(what, _AGAIN) from error
    return {group: dict(points.items(group)) for group in points.sections()}


def entry_points_text(points: EntryPoints) -> str:
    """Return the text of entry_points.txt; groups without entries are left out."""
    lines: list[str] = []
    for group, rows in points.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in rows.items()), ""] if rows else []
    return "\n".join(lines)


def _without_commands(text: bytes, left_out: frozenset[str], place: Path) -> bytes | None:
    """Return entry_points.txt without the removed commands; None if nothing is left."""
    points = {
        group: {name: value for name, value in rows.items() if group not in COMMAND_GROUPS or name not in left_out}
        for group, rows in read_entry_points(text, place).items()
    }
    return entry_points_text(points).encode() or None
