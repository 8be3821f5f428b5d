"""Names of reports that many nodes write to one directory."""

from __future__ import annotations

import os

from .facts import node_name

# Variables with the number of this task: those of Slurm, Flux, PMI, Open MPI.
_TASKS = ("SLURM_PROCID", "FLUX_TASK_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")


class BadPatternError(ValueError):
    """A pattern of a name with a letter that stands for nothing."""


def name_of_report(pattern: str) -> str:
    """The pattern with %h (host), %n (node), %t (task, else 0), %p (process) and %% filled in.

    Raises BadPatternError for another letter. What is filled in is one part of a path.
    """
    parts = pattern.split("%%")
    return "%".join(map(_filled, parts))


def _filled(text: str) -> str:
    first, *rest = text.split("%")
    values = {
        "h": os.uname().nodename,
        "n": node_name(),
        "t": next((value for name in _TASKS if (value := os.environ.get(name))), "0"),
        "p": str(os.getpid()),
    }
    found = [first]
    for each in rest:
        if each[:1] not in values:
            raise BadPatternError(f"%{each[:1]} stands for nothing; %h, %n, %t, %p and %% do")
        value = values[each[0]].replace("/", "_").replace("\0", "_")
        found.append((f"_{value}" if value in (".", "..") else value) + each[1:])
    return "".join(found)
