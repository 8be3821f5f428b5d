"""RECORD files of installed distributions, which list the files of each. They are read and written as a whole."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """One file: its path relative to site-packages, and its digest and size when it was installed ("" if unknown)."""

    name: str
    digest: str = ""  # as in "sha256=rVpQ..."
    size: str = ""


def parse(content: bytes) -> tuple[Row, ...]:
    """The rows of a RECORD."""
    lines = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    return tuple(Row(*[*line, "", ""][:3]) for line in lines if line)


def text(rows: Iterable[Row]) -> bytes:
    """A RECORD with these rows."""
    target = io.StringIO(newline="")
    csv.writer(target, lineterminator="\n").writerows(rows)
    return target.getvalue().encode("utf-8")


def row(name: str, content: bytes) -> Row:
    """The row of a file with this content."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")
    return Row(name, f"sha256={digest}", str(len(content)))


def holds(path: Path, expected: Row) -> bool:
    """Whether the file exists as it was installed; False also if it is not a file."""
    try:
        return row(expected.name, path.read_bytes())[1:] == expected[1:]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
