"""The problems of an installation, with their causes and fixes: the C library's table, and problems made from it."""

from .problem import Problem, SaidFixes, example, exception, fix_of, in_general, problem, problem_of
from .registry import ALIASES, ENTRIES, Entry

__all__ = [
    "ALIASES",
    "ENTRIES",
    "Entry",
    "Problem",
    "SaidFixes",
    "example",
    "exception",
    "fix_of",
    "in_general",
    "problem",
    "problem_of",
]
