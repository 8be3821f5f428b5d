"""The repairs of `rocm-sdk test --fix`. Only safe ones are made."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rocm_sdk.devel.layout import find_site
from rocm_sdk.devel.make_ready import Request, make_ready
from rocm_sdk.devel.reporter import Reporter
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.record import read_record, record_text, with_new_digests
from rocm_sdk.problems import Problem
from rocm_sdk.rewriting.executable_stack import clear_executable_stack, writes_trampolines
from rocm_sdk.rewriting.new_file import new_file
from rocm_sdk.rewriting.pieces import read_range, write_all

from .installation import Installation
from .recorder import Recorder


def repair(installation: Installation, recorders: Iterable[Recorder]) -> list[str]:
    """Repairs what can be repaired; returns what was done and what failed, one line each."""
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


def _clear_executable_stack(installation: Installation, path: str) -> str:
    """Puts a copy without the flag in the place of a library: other names of the file, as in uv's cache, stay."""
    if installation.fallback is not None:
        return f"{path} is unchanged: it belongs to no package of Python"
    try:
        if writes_trampolines(path):
            return f"{path} is unchanged: its code writes to the stack what it executes there"
        with open(path, "rb", buffering=0) as source, new_file(source.fileno(), path) as new:
            for chunk in read_range(source.fileno(), 0, os.fstat(source.fileno()).st_size, path):
                write_all(new, chunk, os.lseek(new, 0, os.SEEK_END))
            clear_executable_stack(new, path)
            _renew_digest(installation, path, new)
    except RocmSdkError as error:
        return f"{path} is unchanged: {error.message}"
    except (OSError, ValueError) as error:
        return f"{path} is unchanged: {error}"
    return f"cleared the flag for an executable stack of {path}"


def _renew_digest(installation: Installation, path: str, new: int) -> None:
    """Puts the digest of the new file into RECORD, before the file gets its name: what is cut short is made again."""
    name = os.path.relpath(path, installation.site)
    owner = installation.owners.get(name)
    if owner is None:
        return
    record = os.path.join(owner.directory, "RECORD")
    rows = with_new_digests(read_record(record).rows, {name: f"/proc/self/fd/{new}"})
    with open(record, "rb", buffering=0) as source, new_file(source.fileno(), record) as renewed:
        write_all(renewed, record_text(rows).encode(), 0)


def _finish_tree(installation: Installation) -> str:
    if find_site() != installation.site:  # --target, or another development tree comes first on sys.path
        return f"the development tree is unchanged: run rocm-sdk init in the environment of {installation.site}"
    try:
        return f"updated the development tree: {make_ready(Reporter(), Request(verify=True))}"
    except RocmSdkError as error:
        return f"could not update the development tree: {error.message}"
