"""The repairs of `rocm-sdk test --fix`. Only safe ones are made."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rocm_sdk.base.processes import run
from rocm_sdk.base.reporter import Reporter
from rocm_sdk.devel.layout import find_site
from rocm_sdk.devel.make_ready import Request, make_ready
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.build_command import NotInstalledError, build_command
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem

from .recorder import Recorder

_SECONDS = 600.0  # of a program that changes a file


def repair(installation: Installed, recorders: Iterable[Recorder]) -> list[str]:
    """Repair what can be repaired. Return what was done and what failed, one line each."""
    found = [(each.entry.repair, each) for recorder in recorders for each in recorder.problems]
    lines = [_make_init_file(each) for repair, each in found if repair == "init-file"]
    flagged = dict.fromkeys(str(each.path) for repair, each in found if repair == "executable-stack")
    lines += [_clear_executable_stack(installation, path) for path in flagged]
    if any(repair in {"finish-extraction", "update-links"} for repair, _ in found):
        lines.append(_finish_tree(installation))
    return lines


def _make_init_file(found: Problem) -> str:
    path = os.path.join(str(found.path), "__init__.py")
    try:
        with open(path, "x", encoding="utf-8"):
            pass
    except OSError as error:
        return f"could not create {path}: {error.strerror}"
    return f"created {path}"


def _clear_executable_stack(installation: Installed, path: str) -> str:
    """Clear the flag of a library's executable stack. Return what was done, or why the library is unchanged.

    rocm-sdk-build writes the library, because the loader only reads.
    """
    if installation.fallback is not None:
        return f"{path} is unchanged: it belongs to no package of Python"
    owner = installation.owners.get(os.path.relpath(path, installation.site))
    record = [f"--record={os.path.join(owner.directory, 'RECORD')}"] if owner is not None else []
    try:
        command = build_command("clear-execstack", *record, "--", path)
    except NotInstalledError as error:
        return f"{path} is unchanged: {error}: {error.fix}"
    try:
        done = run(command, seconds=_SECONDS)
    except TimeoutError as error:
        return f"{path} is unchanged: {command[0]}: {error}"
    return done.stdout.strip() or f"{path} is unchanged: {done.stderr.strip()}"


def _finish_tree(installation: Installed) -> str:
    if find_site() != installation.site:  # --target, or another development tree comes first on sys.path
        return f"the development tree is unchanged: run rocm-sdk init in the environment of {installation.site}"
    try:
        return f"updated the development tree: {make_ready(Reporter(), Request(verify=True))}"
    except RocmSdkError as error:
        return f"could not update the development tree: {error.message}"
