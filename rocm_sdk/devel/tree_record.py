"""Changes of RECORD: with them, pip removes what this package has added to a distribution."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from rocm_sdk.errors import BadMetadataError, DevelopmentTreeError
from rocm_sdk.installed.distributions import name_of_directory
from rocm_sdk.installed.record import Row, read_record, record_text
from rocm_sdk.problems.problem import reinstall_fix

from .replace import replace_file
from .stamp import Identity, identify

_ALGORITHMS = ("sha256", "sha384", "sha512")


class Digest(NamedTuple):
    """A hash of RECORD: the algorithm's name for hashlib, and the value."""

    algorithm: str
    value: bytes


class Record:
    """A RECORD file as it was when it was read.

    rows has the files that it lists. identity (see `stamp`) is the identity of the file as last read or written.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.rows, facts = read_record(path)
        except ValueError as error:
            raise self._damaged(str(error)) from error
        self._mode = stat.S_IMODE(facts.st_mode)
        self.identity: Identity = (facts.st_ino, facts.st_size, facts.st_mtime_ns)

    @property
    def paths(self) -> set[str]:
        """The paths that RECORD lists."""
        return {row.path for row in self.rows}

    def digest_of(self, path: str) -> Digest | None:
        """Return the hash of a path; None if RECORD has none that a wheel may have."""
        text = next((row.digest for row in self.rows if row.path == path), "")
        algorithm, _, value = text.partition("=")
        if algorithm not in _ALGORITHMS:
            return None
        try:
            return Digest(algorithm, base64.urlsafe_b64decode(value + "=="))
        except ValueError as error:
            raise self._damaged(f"{path} has the hash {text!r}") from error

    def require(self, paths: Iterable[str], staging: str, *, below: str | None = None) -> None:
        """Rewrite RECORD, through a staging directory, so that it lists each of `paths` and nothing twice.

        below: remove other paths below this one. Raises DevelopmentTreeError if another program has changed the file
        since it was read. Nothing is done if RECORD lists all this already.
        """
        first: dict[str, Row] = {}
        for row in self.rows:
            if below is None or not f"{row.path}/".startswith(f"{below}/"):
                first.setdefault(row.path, row)
        new = [*first.values(), *(Row(path) for path in dict.fromkeys(paths) if path not in first)]
        if sorted(new) == sorted(self.rows):
            return
        self.require_unchanged()
        facts = replace_file(self.path, record_text(new).encode(), staging, self._mode)
        self.rows = new
        self.identity = (facts.st_ino, facts.st_size, facts.st_mtime_ns)

    def require_unchanged(self) -> None:
        """Raise DevelopmentTreeError if another program has changed or removed the file since we read or wrote it."""
        if identify(self.path) != self.identity:
            raise DevelopmentTreeError(f"{self.path} was changed meanwhile (is pip running?)", "try again", self.path)

    def _damaged(self, what: str) -> BadMetadataError:
        directory = os.path.dirname(self.path)
        name = name_of_directory(os.path.basename(directory))
        fix = reinstall_fix(name, os.path.dirname(directory))
        return BadMetadataError(f"{self.path} is damaged: {what}", fix, self.path)
