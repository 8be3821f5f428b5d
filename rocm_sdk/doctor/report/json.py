"""The report for programs: one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem

SCHEMA = 3  # of the JSON document; incremented when the meaning of a field changes


def as_document(
    installation: Installed, recorders: Sequence[Recorder], problems: Sequence[Problem], *, interrupted: bool = False
) -> dict[str, Any]:
    """Return the document of `rocm-sdk test --json`."""
    return {
        "schema": SCHEMA,
        "version": installation.version,
        "site": installation.site,
        "chosen_by": installation.chosen_by,
        "distributions": {each.name: each.version for each in installation.distributions},
        "interrupted": interrupted,
        "subjects": [
            {
                "subject": each.subject,
                "count": each.count,
                "unit": each.unit,
                "failed": each.failed,
                "seconds": round(each.seconds, 3),
                "not_tried": each.not_tried,
            }
            for each in recorders
        ],
        "problems": [found.as_document() for found in problems],
    }
