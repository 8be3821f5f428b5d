"""The public names now: a table for each file of tests/promised/recorded."""

from __future__ import annotations

from collections.abc import Callable

from .c_names import c_names
from .commands import commands, exit_statuses, problem_codes, variables
from .documents import json_keys
from .python_names import python_names
from .tables import Table

PRESENT: dict[str, Callable[[], Table]] = {
    "c": c_names,
    "codes": problem_codes,
    "commands": commands,
    "exit_statuses": exit_statuses,
    "json": json_keys,
    "python": python_names,
    "variables": variables,
}
