"""The distributions of the SDK in a site-packages directory, read from their `.dist-info` directories.

Not by importlib.metadata: it remembers directories by their modification time, and before Python 3.13 nothing makes it
forget.
"""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

from . import sdk_metadata

_POST_RELEASE = re.compile(r"\.post\d+")


class Distribution(NamedTuple):
    """An installed distribution: normalised name, version, path of its RECORD (which may be absent)."""

    name: str
    version: str
    record: str

    def files(self) -> list[str]:
        """The paths in its RECORD, relative to site-packages. OSError where there is none; csv.Error, ValueError."""
        with open(self.record, encoding="utf-8", newline="") as file:
            return [row[0] for row in csv.reader(file) if row and row[0]]


def sdk_distributions(site: str) -> list[Distribution]:
    """The distributions of the SDK in `site`, in the order of their names."""
    found = (_read(f"{site}/{name}") for name in sdk_metadata(site))
    return [distribution for distribution in found if distribution is not None]


def normalised(name: str) -> str:
    """The spelling of a distribution's name that is equal for all spellings (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def same_release(one: str, other: str) -> bool:
    """Whether two versions are equal, post-releases aside."""
    return _POST_RELEASE.sub("", one, count=1) == _POST_RELEASE.sub("", other, count=1)


def _read(directory: str) -> Distribution | None:
    """None: pip is about to install or remove it."""
    fields: dict[str, str] = {}
    try:
        with open(f"{directory}/METADATA", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, colon, value = line.partition(":")
                if not colon:  # the end of the headers
                    break
                fields.setdefault(name.lower(), value.strip())
    except FileNotFoundError:
        return None
    return Distribution(normalised(fields.get("name", "")), fields.get("version", ""), f"{directory}/RECORD")
