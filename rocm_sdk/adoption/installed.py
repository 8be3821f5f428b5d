"""A distribution that is installed in a site-packages directory by pip, uv or another writer of RECORD files."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import NamedTuple

from . import record
from .errors import AdoptionError

PLACEHOLDER_VERSIONS = frozenset({"0.0.1.dev0", "0.0.1", "0.0.2", "0.1.0"})
PLACEHOLDER_FILES = 2


class Installed(NamedTuple):
    """A distribution: its directory `NAME-VERSION.dist-info` in `site`, and the rows of its RECORD."""

    site: Path
    dist_info: Path
    rows: tuple[record.Row, ...]

    @property
    def version(self) -> str:
        """The version in the directory's name."""
        return self.dist_info.name.removesuffix(".dist-info").partition("-")[2]

    @property
    def is_placeholder(self) -> bool:
        """Whether it is one of the empty packages that the public index has under the names of the SDK.

        As rocm_sdk.installed.distributions says it, which may be overwritten; a test compares both.
        """
        own = f"{self.dist_info.name}/"
        files = [row for row in self.rows if not row.name.startswith(own) and not row.name.endswith(".pyc")]
        return self.version in PLACEHOLDER_VERSIONS and len(files) <= PLACEHOLDER_FILES

    def name_of(self, file: str) -> str:
        """The path of a file of the dist-info directory in RECORD."""
        return f"{self.dist_info.name}/{file}"

    def rows_by_name(self) -> dict[str, record.Row]:
        """The rows by normalised path, which two distributions spell the same."""
        return {posixpath.normpath(row.name): row for row in self.rows}

    def pip_name(self) -> str:
        """Name and version as pip accepts them."""
        return f"{self.dist_info.name.partition('-')[0].replace('_', '-')}=={self.version}"


def find(site: Path, name: str) -> Installed | None:
    """The distribution in `site` whose dist-info directory begins with `name`; None if it is not installed.

    Raises AdoptionError if there are several, or it has no RECORD.
    """
    found = sorted(site.glob(f"{name}-[0-9]*.dist-info"))
    if not found:
        return None
    if len(found) > 1:
        versions = " and ".join(path.name for path in found)
        raise AdoptionError(
            f"{site}: {versions}: an installation was interrupted",
            f"uninstall {name.replace('_', '-')} and install it again",
            str(site),
        )
    try:
        return Installed(site, found[0], record.parse((found[0] / "RECORD").read_bytes()))
    except FileNotFoundError as error:
        raise AdoptionError(
            f"{found[0]}: no RECORD: it was not installed by pip or uv",
            "use a virtual environment: python -m venv",
            str(found[0]),
        ) from error
