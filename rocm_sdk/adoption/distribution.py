"""A distribution that is installed in a site-packages directory by pip, uv or another writer of RECORD files."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.record import Row, read_record, row_of


class AdoptionError(RocmSdkError):
    """The error for an environment that does not allow an adoption, or a file that cannot be restored."""

    code = "E-PKG-006"


class Installed(NamedTuple):
    """A distribution: its directory `NAME-VERSION.dist-info` in `site`, and the rows of its RECORD."""

    site: Path
    dist_info: Path
    rows: tuple[Row, ...]

    @property
    def distribution(self) -> Distribution:
        """The distribution as METADATA describes it."""
        return Distribution(str(self.dist_info))

    def name_of(self, file: str) -> str:
        """Return the path of a file of the dist-info directory in RECORD."""
        return f"{self.dist_info.name}/{file}"

    def rows_by_name(self) -> dict[str, Row]:
        """Return the rows by normalised path, which two distributions spell the same."""
        return {posixpath.normpath(row.path): row for row in self.rows}


def find(site: Path, name: str) -> Installed | None:
    """Return the distribution in `site` whose dist-info directory begins with `name`; None if it is not installed.

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
        return Installed(site, found[0], rows_in(found[0] / "RECORD"))
    except FileNotFoundError as error:
        raise AdoptionError(
            f"{found[0]}: no RECORD: it was not installed by pip or uv",
            "use a virtual environment: python -m venv",
            str(found[0]),
        ) from error


def rows_in(record: Path) -> tuple[Row, ...]:
    """Return the rows of a RECORD file. Raise OSError, and AdoptionError if the file is not a RECORD."""
    try:
        return tuple(read_record(str(record)).rows)
    except ValueError as error:
        raise AdoptionError(
            f"{record} is not valid: {error}", "install the distribution that it belongs to again", str(record)
        ) from error


def holds(path: Path, expected: Row) -> bool:
    """Return whether the file exists as it was installed; False also if it is not a file."""
    try:
        return row_of(expected.path, path.read_bytes())[1:] == expected[1:]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
