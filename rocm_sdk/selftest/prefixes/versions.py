"""The versions that the files of a prefix say, and whether they agree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from rocm_sdk.installed.files import read_beginning
from rocm_sdk.selftest.recorder import Recorder

from .place import Prefix

_LIMIT = 1 << 18  # bytes of a file
_NUMBERS = re.compile(r"\s*(\d+(?:\.\d+)+)")
_PACKAGE_VERSION = re.compile(r'^\s*set\s*\(\s*PACKAGE_VERSION\s+"?(\d+(?:\.\d+)*)', re.MULTILINE | re.IGNORECASE)
_MACRO = re.compile(r"^\s*#\s*define\s+(\w*VERSION_(MAJOR|MINOR|PATCH))\s+(\d+)\b", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^(HIP_VERSION_(MAJOR|MINOR|PATCH))=(\d+)", re.MULTILINE)
_HEADER = re.compile(r"(\w+?)[-_]version\.h(?:pp)?")
_CMAKE = re.compile(r"(.+?)-?config-?version\.cmake", re.IGNORECASE)
_HIP_FILE = re.compile(r"libamdhip64\.so\.(\d+\.\d+\.\d+)")

# What a file is about, where its name does not say it: the release of ROCm itself.
_ROCM = frozenset({"rocm", "rocmcore"})
_RELEASE = "ROCm"

# How many numbers must agree: the third of HIP counts its builds, and not all of its files have it.
_NUMBERS_OF = {"hip": 2}
_OTHERS = 3


class Said(NamedTuple):
    """A version that a file says."""

    path: str
    about: str  # "ROCm", "hip", "rocsparse"
    version: str


def check_versions(prefix: Prefix, recorder: Recorder) -> None:
    """Compares what is said about one thing, as far as both say it: 5.2.21153 fits 5.2."""
    by_subject: dict[str, list[Said]] = {}
    for said in _versions(prefix):
        by_subject.setdefault(said.about, []).append(said)
    for about, said_of_it in by_subject.items():
        usual = max(said_of_it, key=lambda said: sum(_agree(said, other) for other in said_of_it))
        if len(said_of_it) == 1:
            recorder.skip(f"version of {about}: only {os.path.relpath(usual.path, prefix.root)} says one")
        for other in (each for each in said_of_it if each is not usual):
            if _agree(usual, other):
                names = (os.path.relpath(each.path, prefix.root) for each in (usual, other))
                recorder.good(f"{' and '.join(names)} say version {usual.version}")
            else:
                _complain(prefix, other, usual, recorder)
    release, hip = (by_subject.get(about) for about in (_RELEASE, "hip"))
    if release and hip and release[0].version.split(".")[0] != hip[0].version.split(".")[0]:
        _complain(prefix, hip[0], release[0], recorder)
    if not by_subject:
        recorder.skip("versions: no file says one")


def release_of(prefix: Prefix) -> str:
    """The version of ROCm that the prefix says it has, or else that of HIP; "unknown" without both."""
    found = {said.about: said.version for said in reversed(list(_versions(prefix)))}
    return found.get(_RELEASE) or found.get("hip") or "unknown"


def _agree(first: Said, other: Said) -> bool:
    length = min(_NUMBERS_OF.get(first.about, _OTHERS), first.version.count(".") + 1, other.version.count(".") + 1)
    return first.version.split(".")[:length] == other.version.split(".")[:length]


def _complain(prefix: Prefix, said: Said, other: Said, recorder: Recorder) -> None:
    facts = {"version": said.version, "other": other.path, "wanted": other.version, "name": said.about}
    recorder.bad("E-PREFIX-007", said.path, **facts, **prefix.facts)


def _versions(prefix: Prefix) -> Iterator[Said]:
    info = os.path.join(prefix.root, ".info/version")
    if (match := _NUMBERS.match(_text_of(info))) is not None:
        yield Said(info, _RELEASE, match[1])
    for path in prefix.files:
        name = os.path.basename(path)
        version = None
        if (match := _HIP_FILE.fullmatch(name)) is not None and not os.path.islink(path):
            yield Said(path, "hip", match[1])
            continue
        if (match := _CMAKE.fullmatch(name)) is not None:
            version = next((found[1] for found in _PACKAGE_VERSION.finditer(_text_of(path))), None)
        elif (match := _HEADER.fullmatch(name)) is not None and not os.path.islink(path):
            version = _of_assignments(_MACRO, _text_of(path))
        elif name == ".hipVersion" or path.endswith("share/hip/version"):
            version = _of_assignments(_ASSIGNMENT, _text_of(path))
        if version is not None and version.strip("0."):
            yield Said(path, _about(match[1] if match is not None else "hip"), version)


def _about(name: str) -> str:
    plain = re.sub(r"[-_]", "", name.lower())
    return _RELEASE if plain in _ROCM else plain


def _of_assignments(pattern: re.Pattern[str], text: str) -> str | None:
    """The version that three names say; None unless all of them do, each once."""
    found: dict[str, set[str]] = {}
    for _, part, value in pattern.findall(text):
        found.setdefault(part, set()).add(value)
    values = [found.get(part, set()) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(next(iter(each)) for each in values) if all(len(each) == 1 for each in values) else None


def _text_of(path: str) -> str:
    try:
        return read_beginning(path, _LIMIT).decode(errors="replace")
    except OSError:
        return ""
