"""What can be wrong, why, and what to do about it: the table of the C library, and problems that are made of it."""

from .problem import Problem, exception, fix_of, in_general, problem, problem_of
from .registry import ALIASES, ENTRIES, Entry

__all__ = [
    "ALIASES",
    "ENTRIES",
    "Entry",
    "Problem",
    "exception",
    "fix_of",
    "in_general",
    "problem",
    "problem_of",
]
