"""The installation that is tested: a site-packages directory, the distributions of the SDK in it, and their files.

Everything is read from the directory itself: importlib.metadata keeps caches, and a test must not trust what an earlier
import has seen.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from rocm_sdk import _native
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.distributions import normalised
from rocm_sdk.installed.files import open_file, read_beginning

_OURS = re.compile(r"rocm(-sdk(-.+)?|-profiler)?")
_PLATFORM = re.compile(r"_rocm_(sdk|profiler).*")
_HEADER_LIMIT = 1 << 20  # bytes of METADATA that are looked at
_RECORD_LIMIT = 1 << 28  # bytes; half a million files fit in


@dataclass(frozen=True)
class RecordedFile:
    """A row of RECORD."""

    path: str  # relative to the site-packages directory
    digest: str  # "sha256=...", "" where RECORD has none
    size: int | None


@dataclass(frozen=True)
class Distribution:
    """An installed distribution of the SDK."""

    name: str  # normalised: "rocm-sdk-core"
    version: str
    metadata: str  # absolute path of its .dist-info directory
    files: tuple[RecordedFile, ...]
    fault: str | None = None  # why its metadata cannot be used

    @property
    def facts(self) -> dict[str, object]:
        """For reports: its name, its version, and what to tell pip to install just that."""
        return {"distribution": self.name, "version": self.version, "requirement": f"{self.name}=={self.version}"}


@dataclass(frozen=True)
class Installation:
    """A site-packages directory with an SDK, or where one should be."""

    site: str  # absolute
    is_current: bool  # whether it is the one that this process would use
    distributions: tuple[Distribution, ...] = field(default=())

    def distribution(self, name: str) -> Distribution | None:
        return next((found for found in self.distributions if found.name == name), None)

    @cached_property
    def core(self) -> Distribution | None:
        return self.distribution("rocm-sdk-core")

    @property
    def version(self) -> str:
        """The version of the core package; "unknown" without one."""
        return self.core.version if self.core is not None else "unknown"

    @cached_property
    def names(self) -> list[str]:
        """What is in the directory."""
        return sorted(_names_in(self.site))

    @cached_property
    def platform_directories(self) -> tuple[str, ...]:
        """Absolute paths of the directories that hold the SDK's files, the development tree's too."""
        names = [name for name in self.names if _PLATFORM.fullmatch(name)]
        return tuple(path for name in names if os.path.isdir(path := os.path.join(self.site, name)))

    @cached_property
    def owners(self) -> dict[str, Distribution]:
        """The distribution that RECORD says a file belongs to, by the file's path relative to `site`."""
        return {file.path: each for each in self.distributions for file in each.files}

    def owner_of(self, path: str) -> dict[str, object]:
        """Facts for cures: the distribution that a file belongs to, or core, by name and as pip wants it."""
        owner = self.owners.get(os.path.relpath(path, self.site)) or self.core
        return owner.facts if owner is not None else {"distribution": "rocm-sdk-core", "requirement": "rocm-sdk-core"}

    def has(self, path: str) -> bool:
        """Whether a file, by its real path, lies in the directory."""
        return path.startswith(os.path.realpath(self.site) + os.sep)

    def requirement_of(self, package: str) -> str:
        """What pip has to install for a package of the SDK ("core", "libraries" ...) to be there."""
        name = "rocm-sdk-core" if package == "core" else f"rocm[{package}]"
        return f"{name}=={self.version}" if self.core is not None else name


def current() -> Installation:
    """The installation that this process would use: where core is, else where we are."""
    try:
        site = os.path.dirname(_native.package_directory("core"))
    except (ModuleNotFoundError, RocmSdkError):  # not installed, or too damaged to be found
        site = (
            _site_of("rocm-sdk-core")
            or _site_of("rocm-sdk-", "rocm-profiler")
            or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        )
    return Installation(site, True, tuple(_distributions(site)))


def _site_of(*beginnings: str) -> str | None:
    """The first entry of sys.path that has something whose name begins so, ourselves left out."""
    for entry in sys.path:
        site = os.path.abspath(entry)
        names = (normalised(name) for name in _names_in(site))
        if any(name.startswith(beginnings) and not name.startswith("rocm-sdk-loader") for name in names):
            return site
    return None


def at(directory: str) -> Installation:
    """The installation in a directory, which this process need not see."""
    site = os.path.abspath(directory)
    return Installation(site, False, tuple(_distributions(site)))


def distributions_in(site: str) -> tuple[Distribution, ...]:
    """Those of the SDK in another directory."""
    return tuple(_distributions(site))


def _names_in(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _distributions(site: str) -> Iterator[Distribution]:
    for name in sorted(_names_in(site)):
        stem = name.removesuffix(".dist-info")
        if stem != name and _OURS.fullmatch(normalised(stem.rpartition("-")[0])):
            yield _read(os.path.join(site, name), stem)


def _read(metadata: str, stem: str) -> Distribution:
    """`stem`: "rocm_sdk_core-7.10.0", what the directory says of name and version; METADATA must say the same."""
    name, _, version = stem.rpartition("-")
    name, fault = normalised(name), None
    files: tuple[RecordedFile, ...] = ()
    try:
        headers = _headers(os.path.join(metadata, "METADATA"))
        if (normalised(headers.get("name", "")), _letters(headers.get("version", ""))) != (name, _letters(version)):
            fault = f"METADATA does not say {name} {version}, as the directory's name does"
        else:
            version = headers["version"]
        files = tuple(_rows(os.path.join(metadata, "RECORD")))
        if not any(file.path == f"{os.path.basename(metadata)}/RECORD" for file in files):
            fault = fault or "RECORD does not list itself: it is cut short, or another file"
    except OSError as error:
        fault = f"{error.filename}: {error.strerror}"
    except (ValueError, csv.Error) as error:
        fault = f"RECORD or METADATA holds what is no text: {error}"
    return Distribution(name, version, metadata, files, fault)


def _letters(version: str) -> str:
    """A version without the signs between its parts, which names of directories spell differently."""
    return re.sub(r"[^0-9a-z]", "", version.lower())


def _headers(path: str) -> dict[str, str]:
    text = read_beginning(path, _HEADER_LIMIT).decode("utf-8", errors="replace").partition("\n\n")[0]
    fields = [line.partition(":") for line in text.splitlines() if not line.startswith((" ", "\t"))]
    return {key.lower(): value.strip() for key, separator, value in reversed(fields) if separator}


def _rows(path: str) -> Iterator[RecordedFile]:
    with open_file(path) as file:
        text = file.read(_RECORD_LIMIT).decode("utf-8")
    if "\0" in text:
        raise ValueError("it has NUL bytes")
    for row in csv.reader(io.StringIO(text, newline="")):
        if row and row[0]:
            path_text, digest, size = (*row, "", "")[:3]
            number = int(size) if size.isascii() and size.isdigit() and len(size) < 20 else None
            yield RecordedFile(os.path.normpath(path_text), digest, number)
