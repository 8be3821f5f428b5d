"""The files that the bare loop of dlopen opens, so that it loads the same files as the package's plan."""

from __future__ import annotations

from pathlib import Path

from rocm_sdk._native import inspect_library

from .observation import observe
from .stage import SHORTNAMES, Environment


def planned_files(environment: Environment) -> set[str]:
    """Return the SDK's files in the plan: n of the bound on system calls."""
    return {path for _, _, *paths in _plan(environment) for path in paths}


def dlopen_order(environment: Environment) -> list[str]:
    """Return the arguments of measured_process.open_all.

    Dependencies come first where the linker finds nothing by itself.
    """
    order: list[str] = []
    for method, scope, path, *members in _plan(environment):
        if method == "anchor":
            by_name = {Path(member).name: member for member in members}
            order += [f"local:{member}" for member in _dependencies_first(path, by_name) if member != path]
        order.append(f"{scope}:{path}")
    return list(dict.fromkeys(order))


def _plan(environment: Environment) -> list[list[str]]:
    return observe(environment.command("show_plan", *SHORTNAMES)).facts["step"]


def _dependencies_first(path: str, by_name: dict[str, str]) -> list[str]:
    order: list[str] = []

    def visit(member: str) -> None:
        for name in inspect_library(Path(member)).needed:
            if name in by_name and by_name[name] not in order:
                visit(by_name[name])
        order.append(member)

    visit(path)
    return list(dict.fromkeys(order))
