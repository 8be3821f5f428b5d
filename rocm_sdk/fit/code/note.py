"""The note in a rewritten file: the digest of the original, and the steps of its rewriting.

The note is an ELF note, owner `rocm-sdk`, type 1; its description is JSON: {"schema": 1, "sha256": of the file that it
began with, "steps": [{"operation": "keep", "targets": ["gfx1030"]}, ...]}, in the order in which they were done.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from .refusal import refusal

NOTE_SECTION = ".note.rocm-sdk"


class Step(NamedTuple):
    """A single rewriting."""

    operation: str  # "keep", "decompress", "compress", "retarget", "split"
    targets: tuple[str, ...]


class History(NamedTuple):
    """The rewritings of a file."""

    sha256: str  # hexadecimal, of the file as its maker made it
    steps: tuple[Step, ...]

    @property
    def is_unofficial(self) -> bool:
        """True if code of one target is offered for another."""
        return any(step.operation == "retarget" for step in self.steps)


def parse_history(text: str, path: str) -> History:
    """Return the history in the note of a file (`DeviceCode.history`). Refuse a damaged note."""
    try:
        return _parsed(text)
    except _DAMAGES as error:
        raise refusal(path, f"its note of what was done to it is damaged: {error}") from error


def read_history(text: str) -> History | None:
    """Return the history in the note of a file; None if it is damaged."""
    try:
        return _parsed(text)
    except _DAMAGES:
        return None


def describe_history(history: History | None) -> str:
    """Return the note in words."""
    if history is None:
        return "nothing readable: the note is damaged"
    steps = [
        f"{step.operation} {':'.join(step.targets) if step.operation == 'retarget' else ', '.join(step.targets)}"
        for step in history.steps
    ]
    unofficial = " (unofficial)" if history.is_unofficial else ""
    return f"{'; '.join(map(str.strip, steps))}{unofficial}; made of a file with SHA-256 {history.sha256}"


_DAMAGES = (ValueError, LookupError, TypeError, RecursionError)


def _parsed(text: str) -> History:
    document = json.loads(text)
    steps = tuple(Step(str(each["operation"]), tuple(map(str, each["targets"]))) for each in document["steps"])
    return History(str(document["sha256"]), steps)
