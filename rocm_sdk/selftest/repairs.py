"""Repairs of `rocm-sdk test --fix`: only those that cannot do harm."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rocm_sdk.devel.layout import find_site
from rocm_sdk.devel.prepare import prepare
from rocm_sdk.devel.progress import Reporter
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.problems import ENTRIES, Problem

from .installation import Installation
from .recorder import Recorder


def repair(installation: Installation, recorders: Iterable[Recorder]) -> list[str]:
    """Mends what can be mended; what was done and what failed, one line each."""
    found = [(ENTRIES[each.code].repair, each) for recorder in recorders for each in recorder.problems]
    lines = [_make_init_file(each) for repair, each in found if repair == "init-file"]
    if any(repair in {"finish-extraction", "update-links"} for repair, _ in found):
        lines.append(_finish_tree(installation))
    return lines


def _make_init_file(found: Problem) -> str:
    path = os.path.join(str(found.path), "__init__.py")
    try:
        with open(path, "x", encoding="utf-8"):
            pass
    except OSError as error:
        return f"could not make {path}: {error.strerror}"
    return f"made {path}"


def _finish_tree(installation: Installation) -> str:
    if find_site() != installation.site:  # --target, or another development tree comes first on sys.path
        return f"left the development tree alone: run rocm-sdk init in the environment of {installation.site}"
    try:
        return f"brought the development tree up to date: {prepare(Reporter(quiet=True), verify=True)}"
    except RocmSdkError as error:
        return f"could not bring the development tree up to date: {error.message}"
