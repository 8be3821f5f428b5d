"""The report of the packages that a build would make, with their cost (`--dry-run`), for people and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from rocm_sdk.base.value_text import size_text
from rocm_sdk.terminal.output import tell, tell_table
from rocm_sdk_build.packages.costs import Cost, Estimate, cost_of_run

_SCHEMA = 1
_HEADINGS = ("package", "wheel", "disk", "memory", "file")


def tell_estimates(estimates: Sequence[Estimate]) -> None:
    """Print a table, then the artifacts of each package."""
    rows = [(each.name, *_texts(each.cost), each.file) for each in estimates]
    if len(rows) > 1:
        rows.append(("all in one run", *_texts(cost_of_run([each.cost for each in estimates])), ""))
    tell_table(_HEADINGS, rows, ("wheel", "disk", "memory"))
    for each in estimates:
        tell(f"{each.name} is made of {', '.join(each.artifacts)}")


def write_estimates(estimates: Sequence[Estimate]) -> None:
    """Print the estimates as a JSON document."""
    document = {
        "schema": _SCHEMA,
        "packages": [
            {"name": each.name, "file": each.file, "artifacts": list(each.artifacts), **_numbers(each.cost)}
            for each in estimates
        ],
        "run": _numbers(cost_of_run([each.cost for each in estimates])),
    }
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def _texts(cost: Cost) -> tuple[str, str, str]:
    return size_text(cost.wheel), size_text(cost.disk), size_text(cost.memory)


def _numbers(cost: Cost) -> dict[str, int]:
    return {**cost._asdict(), "disk": cost.disk}
