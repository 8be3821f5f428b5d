"""The versions that the files of a prefix state."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from rocm_sdk.base.files import read_beginning

from .distributions import sdk_distributions, without_closure
from .prefix import Prefix

_LIMIT = 1 << 18  # bytes of a file
_NUMBERS = re.compile(r"\s*(\d+(?:\.\d+)+)")
_PACKAGE_VERSION = re.compile(r'^\s*set\s*\(\s*PACKAGE_VERSION\s+"?(\d+(?:\.\d+)*)', re.MULTILINE | re.IGNORECASE)
_MACRO = re.compile(r"^\s*#\s*define\s+(\w*VERSION_(MAJOR|MINOR|PATCH))\s+(\d+)\b", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^(HIP_VERSION_(MAJOR|MINOR|PATCH))=(\d+)", re.MULTILINE)
_HEADER = re.compile(r"(\w+?)[-_]version\.h(?:pp)?")
_CMAKE = re.compile(r"(.+?)-?config-?version\.cmake", re.IGNORECASE)
_HIP_FILE = re.compile(r"libamdhip64\.so\.(\d+\.\d+\.\d+)")

# The subjects of files whose names do not show them: the release of ROCm itself.
_ROCM = frozenset({"rocm", "rocmcore"})
RELEASE = "ROCm"
_TOOLS = "rocm-cmake"
_PLATFORM_DIRECTORY = "_rocm_sdk_"  # the beginning of the names of directories that packages of an SDK have

# The count of numbers that must agree: the third of HIP counts its builds, and not all of its files have it.
_NUMBERS_OF = {"hip": 2}
_OTHERS = 3


class Said(NamedTuple):
    """A version that a file states."""

    path: str
    about: str  # "ROCm", "hip", "rocsparse"
    version: str


def release_of(prefix: Prefix) -> str | None:
    """Return the version of the packages, of ROCm or of HIP in a prefix; None if it states none of them.

    The packages are those whose directory the prefix is. The release of ROCm is the one that the prefix states.
    """
    if version := _version_of_packages(prefix):
        return version
    found = {said.about: said.version for said in reversed(list(versions(prefix)))}
    return found.get(RELEASE) or found.get("hip")


def _version_of_packages(prefix: Prefix) -> str | None:
    """Return the version of an SDK's packages, for one of their directories; None for another one.

    `_rocm_sdk_devel` is such a directory.
    """
    site, name = os.path.split(os.path.abspath(prefix.root))
    if not name.startswith(_PLATFORM_DIRECTORY):
        return None
    found = {each.name: each.version for each in sdk_distributions(site)}
    version = found.get("rocm-sdk-devel") or found.get("rocm-sdk-core")
    return without_closure(version) if version else None


def agree(first: Said, other: Said) -> bool:
    """Return whether two versions of one thing are equal, up to the shorter one."""
    length = min(_NUMBERS_OF.get(first.about, _OTHERS), first.version.count(".") + 1, other.version.count(".") + 1)
    return first.version.split(".")[:length] == other.version.split(".")[:length]


def versions(prefix: Prefix) -> Iterator[Said]:
    """Yield the version of each file that states one."""
    info = os.path.join(prefix.root, ".info/version")
    if (match := _NUMBERS.match(_text_of(info))) is not None:
        yield Said(info, RELEASE, match[1])
    for path in prefix.files:
        name = os.path.basename(path)
        version, of_tools = None, False
        if (match := _HIP_FILE.fullmatch(name)) is not None and not os.path.islink(path):
            yield Said(path, "hip", match[1])
            continue
        if (match := _CMAKE.fullmatch(name)) is not None:
            version = next((found[1] for found in _PACKAGE_VERSION.finditer(_text_of(path))), None)
            of_tools = match[1].lower() == "rocm"  # the package ROCM of rocm-cmake, which counts its own releases
        elif (match := _HEADER.fullmatch(name)) is not None and not os.path.islink(path):
            version = _of_assignments(_MACRO, _text_of(path))
        elif name == ".hipVersion" or path.endswith("share/hip/version"):
            version = _of_assignments(_ASSIGNMENT, _text_of(path))
        if version is not None and version.strip("0."):
            yield Said(path, _TOOLS if of_tools else _about(match[1] if match is not None else "hip"), version)


def _about(name: str) -> str:
    plain = re.sub(r"[-_]", "", name.lower())
    return RELEASE if plain in _ROCM else plain


def _of_assignments(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the version that three assignments state; None unless all are there, each once."""
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
