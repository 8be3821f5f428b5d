"""The artifacts of a ROCm build: directories `{name}_{component}_{family}`, each with a manifest of its content."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.installed.directory_walk import DEPTH_LIMIT
from rocm_sdk.installed.readers import package_owner
from rocm_sdk_build.base.damaged import read_document
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.named_directory import require_directory

from .archives import MANIFEST, SUFFIXES, stem_of, unpack

COMPONENTS = ("lib", "run", "dbg", "dev", "doc", "test")
GENERIC = "generic"
OVERLAY = "base_lib_generic"  # the artifact that says how a build made the others; every package needs it
_FACTS = "base/aux-overlay/stage/share/therock/therock_manifest.json"
NAME_IT = "name the directory that has the artifacts"
_FIELDS = 3
_FORM, _SIGNS = "NAME_COMPONENT_FAMILY", "none of the three has a _"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_FAMILY = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*([:-][a-z]+[+-])*")  # a target may have features: gfx942:xnack+
_CHUNK = 1 << 20


class Entry(NamedTuple):
    """A file, directory or link of an artifact."""

    path: str  # relative, with `/`
    source: Path  # for a link: any path that leads to the same place
    kind: str  # "file", "directory", "link"
    link: str = ""  # the text of the link


class Artifact(NamedTuple):
    """The content of one artifact."""

    name: str
    component: str
    family: str
    directory: Path
    roots: tuple[Path, ...]  # directories that are laid over each other
    entries: tuple[Entry, ...]  # sorted by path, a directory before its members

    @property
    def target(self) -> str:
        """The owner of the family's packages: `gfx942` of `gfx942:xnack+`, `gfx1250` of `gfx1250-strict`."""
        return package_owner(self.family)


def everything(_stem: str) -> bool:
    """Return True: all artifacts are wanted."""
    return True


def read_catalog(
    directories: Sequence[Path], cache: Path, is_wanted: Callable[[str], bool] = everything
) -> list[Artifact]:
    """Return the artifacts in directories, sorted: directories, and archives, which are unpacked into the cache.

    `is_wanted` says whether an artifact of this name is read; the function does not look at the others. Other names are
    ignored, and so is an archive beside its own directory.

    Raise PackagingError for an artifact without manifest, for a manifest that leads out of its artifact, and if two
    directories have one artifact, or different files for one path: nothing says which of them is meant.
    """
    found: dict[str, Artifact] = {}
    for directory in directories:
        require_directory(directory, NAME_IT)
        paths = _directories(directory, cache, is_wanted)
        own = [artifact for path in paths if (artifact := _read(path)) is not None]
        if not own and is_wanted is everything:
            raise PackagingError(
                f"{directory}: no artifact is in it",
                f"artifacts are directories NAME_COMPONENT_FAMILY with a file {MANIFEST}, or archives of them",
            )
        for artifact in own:
            other = found.setdefault(artifact.directory.name, artifact)
            if other is not artifact:
                raise PackagingError(f"{other.directory} and {artifact.directory} are both {artifact.directory.name}")
    return [found[name] for name in sorted(found)]


def _directories(directory: Path, cache: Path, is_wanted: Callable[[str], bool]) -> list[Path]:
    """Return the directories of all wanted entries that may be artifacts, sorted by their names."""
    found = {path.name: path for path in sorted(directory.iterdir()) if is_wanted(path.name) and path.is_dir()}
    for suffix in SUFFIXES:
        for path in sorted(directory.glob(f"*{suffix}")):
            stem = stem_of(path)
            if not is_name(stem) and not {*COMPONENTS}.isdisjoint(stem.split("_")[1:]):
                raise PackagingError(f"{path}: its name is not {_FORM}{suffix}", f"name it so; {_SIGNS}")
            if stem not in found and is_name(stem) and is_wanted(stem):
                found[stem] = unpack(path, cache)
    return [found[name] for name in sorted(found)]


def is_name(stem: str) -> bool:
    """Return whether a text is the name of an artifact, NAME_COMPONENT_FAMILY."""
    fields = stem.split("_")
    return len(fields) == _FIELDS and all(fields)


def _read(directory: Path) -> Artifact | None:
    manifest = directory / MANIFEST
    if not is_name(directory.name):
        if manifest.is_file():
            raise PackagingError(
                f"{directory}: has {MANIFEST}, and its name is not {_FORM}", f"name it {_FORM}; {_SIGNS}"
            )
        return None
    name, component, family = directory.name.split("_")
    if not manifest.is_file():
        if component not in COMPONENTS:
            return None
        raise PackagingError(
            f"{directory}: has the name of an artifact, and no {MANIFEST}", "fetch it again, or remove it"
        )
    for text, pattern, what in ((name, _NAME, "name"), (family, _FAMILY, "family")):
        if not pattern.fullmatch(text) or text in COMPONENTS:
            raise PackagingError(
                f"{str(directory)!r}: {text!r} is not a {what} of an artifact", f"name it {_FORM}; {_SIGNS}"
            )
    if component not in COMPONENTS:
        raise PackagingError(f"{directory}: {component} is not a component; there are {', '.join(COMPONENTS)}")
    roots = tuple(_roots(directory, manifest))
    return Artifact(name, component, family, directory, roots, tuple(_overlay(roots)))


def _roots(directory: Path, manifest: Path) -> Iterator[Path]:
    try:
        lines = manifest.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise PackagingError(f"{manifest}: no UTF-8 text: {error}") from error
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        if text.startswith("/") or ".." in text.split("/"):
            raise PackagingError(f"{manifest}:{number}: {text!r} leads out of the artifact")
        root = directory / text
        if root.is_dir():
            if not root.resolve().is_relative_to(directory.resolve()):
                raise PackagingError(f"{manifest}:{number}: {text!r} leads out of the artifact through a link")
            yield root


def _overlay(roots: tuple[Path, ...]) -> list[Entry]:
    entries: dict[str, Entry] = {}
    for root in roots:
        for entry in scan(root):
            add_entry(entries, entry)
    return sorted(entries.values(), key=lambda entry: entry.path)


def add_entry(entries: dict[str, Entry], entry: Entry) -> None:
    """Add an entry at its path.

    Raise PackagingError if a different entry is there.
    """
    other = entries.setdefault(entry.path, entry)
    if other is not entry and not _is_same(other, entry):
        raise PackagingError(f"{other.source} and {entry.source} are different, and go to one place: {entry.path}")


def scan(root: Path, prefix: str = "") -> Iterator[Entry]:
    """Yield the entries below a directory, sorted, each directory before its members; links are not followed.

    Raise PackagingError for a directory that is too deep, for a name that a wheel cannot have, and for an entry of
    another kind.
    """
    if prefix.count("/") > DEPTH_LIMIT:
        raise PackagingError(f"{root}: has directories more than {DEPTH_LIMIT} deep in each other: {prefix[:60]}...")
    with os.scandir(root / prefix) as found:
        for each in sorted(found, key=lambda each: each.name):
            path = f"{prefix}{each.name}"
            refuse_name(path, root)
            if each.is_symlink():
                yield Entry(path, Path(each.path), "link", str(Path(each.path).readlink()))
            elif each.is_dir(follow_symlinks=False):
                yield Entry(path, Path(each.path), "directory")
                yield from scan(root, f"{path}/")
            elif each.is_file(follow_symlinks=False):
                yield Entry(path, Path(each.path), "file")
            else:
                raise PackagingError(f"{each.path}: neither a file nor a directory nor a link")


def refuse_name(path: str, root: Path) -> None:
    """Raise PackagingError for a path that a wheel cannot have."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PackagingError(f"{str(root / path)!r}: its name is not UTF-8 text, which wheels need") from error
    if any(c in path for c in "\n\r\0\\"):
        raise PackagingError(f"{str(root / path)!r}: wheels have no names with line breaks or backslashes")


def _is_same(one: Entry, other: Entry) -> bool:
    if one.kind != other.kind:
        return False
    if one.kind == "link":
        return one.link == other.link
    return one.kind == "directory" or is_same_file(one.source, other.source)


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two files have the same content, read in pieces, and both or neither are programs."""
    first, second = one.stat(), other.stat()
    if first.st_size != second.st_size or stat.S_IXUSR & (first.st_mode ^ second.st_mode):
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while True:
            chunk = left.read(_CHUNK)
            if chunk != right.read(_CHUNK):
                return False
            if not chunk:
                return True


def is_kpack_split(catalog: Iterable[Artifact], usual: Path) -> bool:
    """Return whether the build has put GPU code into archives.

    `usual` is a directory that would have the artifact. Raise PackagingError if the artifact is not there, and OSError
    if the artifact cannot be read.
    """
    flags = _facts_of_build(catalog, usual).get("flags")
    return bool(isinstance(flags, dict) and flags.get("KPACK_SPLIT_ARTIFACTS"))


def versions_of_build(catalog: Iterable[Artifact], usual: Path) -> tuple[str, str]:
    """Return the version that the build gave its packages, and the version of its ROCm; "" for an unknown one.

    The arguments and errors are the same as for `is_kpack_split`.
    """
    facts = _facts_of_build(catalog, usual)
    found = [facts.get(name) for name in ("rocm_package_version", "rocm_version")]
    of_packages, of_rocm = (each if isinstance(each, str) else "" for each in found)
    return of_packages, of_rocm


def _facts_of_build(catalog: Iterable[Artifact], usual: Path) -> dict[str, object]:
    """Return the facts that the build states about itself."""
    directory = next((each.directory for each in catalog if each.directory.name == OVERLAY), usual / OVERLAY)
    path = directory / _FACTS
    try:
        document = read_document(path)
    except FileNotFoundError as error:
        raise PackagingError(
            f"{path}: not found: it says how the artifacts were made", "fetch the artifact base_lib_generic too"
        ) from error
    return document if isinstance(document, dict) else {}
