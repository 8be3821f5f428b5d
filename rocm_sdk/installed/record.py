"""RECORD, the list of the files that an installer removes with a distribution (PEP 376, PEP 627), read and written."""

from __future__ import annotations

import base64
import csv
import io
import os
from typing import TYPE_CHECKING, NamedTuple

from rocm_sdk.base.files import beginning_of, chunks_of, open_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from hashlib import _Hash

_ALGORITHMS = frozenset({"sha256", "sha384", "sha512"})
_CHUNK = 1 << 20  # bytes
_LIMIT = 1 << 28  # bytes; half a million files fit


class Row(NamedTuple):
    """A row of RECORD as texts."""

    path: str
    digest: str = ""  # "sha256=..."; "" if RECORD has none
    size: str = ""


class RecordedFile(NamedTuple):
    """A row of RECORD with its fields converted."""

    path: str  # normalised, relative to the site-packages directory
    digest: str  # "sha256=...", "" if RECORD has none
    size: int | None


class RecordText(NamedTuple):
    """The rows of RECORD, and the result of fstat for the file before it was read."""

    rows: list[Row]
    facts: os.stat_result

    def files(self) -> list[RecordedFile]:
        """Return the rows with their fields converted; rows without a path are skipped."""
        return [_recorded_file(row) for row in self.rows if row.path]


def read_record(path: str) -> RecordText:
    """Read a RECORD file. Raise OSError, and ValueError if it is not a text of comma-separated values."""
    with open_file(path) as file:
        facts = os.fstat(file.fileno())
        data = beginning_of(file, _LIMIT + 1)
    if len(data) > _LIMIT:
        raise ValueError(f"it is larger than {_LIMIT} bytes")
    return RecordText(parse_record(data), facts)


def parse_record(data: bytes) -> list[Row]:
    """Return the rows of a RECORD. Raise ValueError if it is not a text of comma-separated values."""
    text = data.decode("utf-8")
    if "\0" in text:
        raise ValueError("it contains NUL bytes")
    try:
        lines = csv.reader(io.StringIO(text, newline=""))
        fields = ((*line, "", "")[:3] for line in lines if line)
        return [Row(path=path, digest=digest, size=size) for path, digest, size in fields]
    except csv.Error as error:
        raise ValueError(str(error)) from error


def digest_text(digest: _Hash) -> str:
    """Return a digest in the form of RECORD: "sha256=" and base64 without padding."""
    return f"{digest.name}={base64.urlsafe_b64encode(digest.digest()).rstrip(b'=').decode()}"


def has_digest(path: str, digest: str) -> bool:
    """Return whether a file has this digest, "sha256=" and base64 without padding. Raise OSError.

    The result is False for an algorithm that RECORD may not use (PEP 427).
    """
    import hashlib

    algorithm = digest.partition("=")[0]
    if algorithm not in _ALGORITHMS:
        return False
    content = hashlib.new(algorithm)
    with open_file(path) as file:
        for chunk in chunks_of(file):
            content.update(chunk)
    return digest_text(content) == digest


def row_of(path: str, content: bytes) -> Row:
    """Return the row of a file with this content."""
    import hashlib

    return Row(path, digest_text(hashlib.sha256(content)), str(len(content)))


def record_text(rows: Iterable[Row]) -> str:
    """Return the text of a RECORD with these rows."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def with_new_digests(rows: Iterable[Row], site: str, files: Mapping[str, str]) -> list[Row]:
    """Return the rows of a RECORD in `site`, with the digests and sizes of files that changed.

    files: path of a file, whose directory has no symbolic link in it -> the path of its new content. A row may lead to
    the file through links.
    """
    return [_row_of_file(row.path, files[path]) if (path := _reached(site, row.path, files)) else row for row in rows]


def without_files(rows: Iterable[Row], site: str, files: Mapping[str, object]) -> list[Row]:
    """Return the rows of a RECORD in `site` that lead to none of the files.

    files: their paths, as in with_new_digests.
    """
    return [row for row in rows if not _reached(site, row.path, files)]


def _reached(site: str, name: str, files: Mapping[str, object]) -> str:
    """Return the one of the files that a row leads to, or ""."""
    path = os.path.join(site, name)
    parent, last = os.path.split(path)
    own = os.path.join(os.path.realpath(parent), last)
    real = os.path.realpath(path)
    return own if own in files else real if real in files else ""


def _row_of_file(path: str, source: str) -> Row:
    import hashlib

    digest, size = hashlib.sha256(), 0
    with open(source, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Row(path=path, digest=digest_text(digest), size=str(size))


def _recorded_file(row: Row) -> RecordedFile:
    size = row.size
    number = int(size) if size.isascii() and size.isdigit() and len(size) < 20 else None
    return RecordedFile(os.path.normpath(row.path), row.digest, number)
