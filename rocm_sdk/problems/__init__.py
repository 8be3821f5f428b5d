"""Problems as users see them."""

from typing import NamedTuple


class Problem(NamedTuple):
    """One problem: what is wrong, where, and what to do about it."""

    code: str
    title: str
    cause: str
    fix: str
    path: str | None
    facts: dict[str, str]


def gpu_problem(kind: str, node: int | None, path: str | None, cause: str, fix: str) -> Problem:
    """Make the problem that the C library found with a GPU."""
    where = "" if node is None else str(node)
    facts = {"what": kind, "detail": cause, "fix": fix, "node": where}
    return Problem("W-GPU-001", "A GPU cannot be used", cause, fix, path, facts)
