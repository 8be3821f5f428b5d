"""The note that a rewritten file carries: the digest of the original, and what was done to it.

An ELF note, owner `rocm-sdk`, type 1; its description is JSON: {"schema": 1, "sha256": of the file that it began with,
"steps": [{"operation": "keep", "targets": ["gfx1030"]}, ...]}, in the order in which they were done.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from .refusal import refusal

NOTE_SECTION = ".note.rocm-sdk"


class Step(NamedTuple):
    """One rewriting."""

    operation: str  # "keep", "decompress", "compress", "retarget", "split"
    targets: tuple[str, ...]


class History(NamedTuple):
    """What was done to a file."""

    sha256: str  # hexadecimal, of the file as its maker made it
    steps: tuple[Step, ...]


def parse_history(text: str, path: str) -> History:
    """What the note of a file says (`DeviceCode.history`). Refuses a note that is damaged."""
    try:
        document = json.loads(text)
        steps = tuple(Step(str(each["operation"]), tuple(map(str, each["targets"]))) for each in document["steps"])
        return History(str(document["sha256"]), steps)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise refusal(path, f"its note of what was done to it is damaged: {error}") from error


def describe_history(text: str, path: str) -> str:
    """The note in words. Raises RewriteError if it is damaged."""
    history = parse_history(text, path)
    steps = [
        f"{step.operation} {':'.join(step.targets) if step.operation == 'retarget' else ', '.join(step.targets)}"
        for step in history.steps
    ]
    unofficial = " (unofficial)" if any(step.operation == "retarget" for step in history.steps) else ""
    return f"{'; '.join(map(str.strip, steps))}{unofficial}; made of a file with SHA-256 {history.sha256}"
