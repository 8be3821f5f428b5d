"""The test of an installation in a separate process: with other variables, or in a copy.

`question` makes the command. The process answers with a line of JSON: the document of `rocm-sdk test --json`, and
`seen`, the findings of the subjects: subject, code and title of each.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from rocm_sdk.base.processes import Done, own_code, run

from .surroundings import Surroundings

_CODE = "from rocm_sdk.doctor.second_run_process import main; main()"


class Wanted(NamedTuple):
    """What is tested, and how."""

    target: str | None  # the directory that has the packages; None: the packages that this interpreter imports
    only: tuple[str, ...]  # subjects and codes; empty: all
    skip: tuple[str, ...] = ()
    deep: bool = False
    seconds: int = 60  # the time limit of each program
    explains: bool = True  # looks for causes


def question(wanted: Wanted) -> list[str]:
    """Return the command of the process."""
    return own_code(_CODE, json.dumps(wanted._asdict()))


def answer(done: Done) -> dict[str, Any] | None:
    """Return the document that the process has printed; None if it did not get that far."""
    for line in reversed(done.stdout.splitlines()):  # libraries may print something first
        if line.startswith("{"):
            document: dict[str, Any] = json.loads(line)
            return document
    return None


def seen_again(wanted: Wanted, surroundings: Surroundings, seconds: float) -> set[tuple[str, str, str]] | None:
    """Return what the subjects find in other surroundings; None if the process does not answer in time."""
    try:
        done = run(question(wanted), base=surroundings.variables, directory=surroundings.directory, seconds=seconds)
    except (OSError, TimeoutError):
        return None
    document = answer(done)
    return {(subject, code, title) for subject, code, title in document["seen"]} if document is not None else None
