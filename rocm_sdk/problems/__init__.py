"""What can be wrong with an installation: the registry of codes with causes and fixes, and the pages made from it."""

from .problem import Problem, Severity, gpu_problem, problem
from .registry import ENTRIES, Entry

__all__ = ["ENTRIES", "Entry", "Problem", "Severity", "gpu_problem", "problem"]
