"""The releases of ROCm that the wheels to install fit, judging by what their files need, and by their names."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from rocm_sdk.errors import LibraryAccessError, RocmSdkError

from .names_to_open import release_of
from .subject import of_wheel, open_subject
from .variants import check_files

_IN_NAME = re.compile(r"[-_]rocm[-_]?(\d+)[-_](\d+)(?=[-_])")  # cupy_rocm_7_0-14.2.0-...
_IN_VERSION = re.compile(r"\+rocm(\d+(?:[._]\d+)*)")  # 2.12.0+rocm10.0.0

Release = tuple[int, ...]


class Range(NamedTuple):
    """The releases from the first to the last; (): not known, or no end. text is the range in words."""

    wheel: str
    first: Release
    last: Release
    text: str

    @property
    def specifier(self) -> str:
        """The range as a version of a requirement: ">=7.0,<7.15"."""
        first = f">={_joined(self.first)}"
        return first if not self.last else f"{first},<{_joined((*self.last[:-1], self.last[-1] + 1))}"


def releases_of_wheels(things: list[str]) -> tuple[str, ...]:
    """Return what to ask an index for, the best first: the release in a wheel's name, then a range.

    The range is the one that the files of all wheels fit. Things that are not wheels say nothing. Raises RocmSdkError
    if the ranges of two wheels do not overlap, or one cannot be read.
    """
    wheels = [thing for thing in things if thing.endswith(".whl") and os.path.isfile(thing)]
    ranges = [found for wheel in wheels if (found := _range_of(wheel)) is not None]
    for one in ranges:
        for other in ranges:
            if one.last and other.first > one.last:
                raise RocmSdkError(
                    f"{one.wheel} is for {one.text}, {other.wheel} for {other.text}: no SDK fits both",
                    "take builds for one release of ROCm",
                )
    first = max((each.first for each in ranges), default=())
    last = min((each.last for each in ranges if each.last), default=())
    both = Range("", first, last, "")
    labels = [label for wheel in wheels if (label := _label_of(os.path.basename(wheel))) and _is_in(label, both)]
    return (*labels[:1], *([both.specifier] if first else ()))


def _range_of(wheel: str) -> Range | None:
    """Return the range of a wheel by the SONAMEs and versions that its files need.

    The result is None for a wheel with libraries for several releases: nothing is known.
    """
    try:
        with open_subject(wheel) as subject:
            found, _ = check_files(subject.files, ())
    except LibraryAccessError:  # no room to unpack it: the installer needs none there
        return None
    if found.first_release is None or found.built_for is None:
        return None
    return Range(os.path.basename(wheel), _parsed(found.first_release), _parsed(found.last_release), found.built_for)


def _label_of(name: str) -> str | None:
    """Return the release in a wheel's name: in its version's label, or its project; or its version is ROCm's."""
    label = _IN_VERSION.search(name)
    if label is not None:
        return label[1].replace("_", ".")
    project = _IN_NAME.search(name.partition("-")[0] + "-")
    return f"{project[1]}.{project[2]}" if project is not None else release_of(*of_wheel(name))


def _is_in(label: str, both: Range) -> bool:
    release = (*_parsed(label), 0)[:2]
    return release >= both.first and (not both.last or release <= both.last)


def _parsed(release: str | None) -> Release:
    return tuple(map(int, release.split("."))) if release is not None else ()


def _joined(release: Release) -> str:
    return ".".join(map(str, release))
