"""What can be wrong with an installation: one registry of codes, with causes and cures, and the pages made from it."""

from .problem import Problem, Severity, problem
from .registry import ENTRIES, Entry

__all__ = ["ENTRIES", "Entry", "Problem", "Severity", "problem"]
