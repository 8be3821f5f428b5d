"""Reads RECORD, the list of the files that an installer removes with a distribution (PEP 376, PEP 627)."""

from __future__ import annotations

import base64
import csv
import io
import os
from typing import TYPE_CHECKING, NamedTuple

from .files import open_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from hashlib import _Hash

_CHUNK = 1 << 20  # bytes
_LIMIT = 1 << 28  # bytes; half a million files fit


class RecordedFile(NamedTuple):
    """A row of RECORD."""

    path: str  # normalised, relative to the site-packages directory
    digest: str  # "sha256=...", "" if RECORD has none
    size: int | None


class RecordText(NamedTuple):
    """The rows of RECORD as texts (path, digest, size), and what fstat said of the file before it was read."""

    rows: list[list[str]]
    facts: os.stat_result

    def files(self) -> list[RecordedFile]:
        """The rows with their fields converted; rows without a path are skipped."""
        return [_recorded_file(row) for row in self.rows if row[0]]


def read_record(path: str) -> RecordText:
    """Reads a RECORD file. Raises OSError, and ValueError if it is not a text of comma-separated values."""
    with open_file(path) as file:
        facts = os.fstat(file.fileno())
        data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise ValueError(f"it is larger than {_LIMIT} bytes")
    text = data.decode("utf-8")
    if "\0" in text:
        raise ValueError("it contains NUL bytes")
    try:
        return RecordText([row for row in csv.reader(io.StringIO(text, newline="")) if row], facts)
    except csv.Error as error:
        raise ValueError(str(error)) from error


def digest_text(digest: _Hash) -> str:
    """A digest as RECORD has it: "sha256=" and base64 without padding."""
    return f"{digest.name}={base64.urlsafe_b64encode(digest.digest()).rstrip(b'=').decode()}"


def with_new_digests(rows: list[list[str]], files: Mapping[str, str]) -> str:
    """The text of RECORD with the digests and sizes of files that changed. files: normalised path in it -> the file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [row[0], *_digest_and_size(files[name])] if (name := os.path.normpath(row[0])) in files else row for row in rows
    )
    return text.getvalue()


def _digest_and_size(path: str) -> tuple[str, str]:
    import hashlib

    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest_text(digest), str(size)


def _recorded_file(row: list[str]) -> RecordedFile:
    path, digest, size = (*row, "", "")[:3]
    number = int(size) if size.isascii() and size.isdigit() and len(size) < 20 else None
    return RecordedFile(os.path.normpath(path), digest, number)
