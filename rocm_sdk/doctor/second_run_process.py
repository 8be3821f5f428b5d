"""The process that `second_run` starts: it tests an installation, and prints the document on a line."""

from __future__ import annotations

import json
import sys

from rocm_sdk.installed import view

from .causes.established_causes import problems_of
from .causes.problem_groups import grouped
from .recorder import Options, Recorder
from .report.json import as_document
from .second_run import Wanted
from .subject_run import run


def main() -> None:
    """Test the installation that the first argument describes, and print the document."""
    wanted = Wanted(**json.loads(sys.argv[1]))
    tested = view.at(wanted.target) if wanted.target is not None else view.current()
    options = Options(
        deep=wanted.deep, seconds=wanted.seconds, only=frozenset(wanted.only), skip=frozenset(wanted.skip)
    )
    recorders: list[Recorder] = []
    for _ in run(tested, options, recorders):
        pass
    seen = [(each.subject, found.code, found.title) for each in recorders for found in each.problems]
    found = problems_of(tested, recorders, options) if wanted.explains else grouped(recorders)
    print(json.dumps(as_document(tested, recorders, found) | {"seen": seen}))
