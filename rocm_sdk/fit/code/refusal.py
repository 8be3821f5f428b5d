"""The error for a file that cannot be rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm_sdk.errors import RewriteError
from rocm_sdk.problems.problem import problem

if TYPE_CHECKING:
    from rocm_sdk._native import Code


def refusal(path: str, detail: str = "", code: Code = "E-CODE-010", **facts: object) -> RewriteError:
    """Return the error to raise, by default because the file is not of a form that can be rewritten."""
    found = problem(code, path, detail=detail, **facts)
    unnamed = problem(code, "", None, lambda *_: {}, detail=detail, **facts)
    short = f"{unnamed.title}: {unnamed.cause}".lstrip()
    return RewriteError(f"{found.title}: {found.cause}", found.fix, path, code, found, detail=short)
