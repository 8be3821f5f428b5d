"""The command `rocm-sdk info --build-id`: build IDs and licences of libraries, and where their debug information is."""

import os
from functools import partial
from typing import NamedTuple

from rocm_sdk import _native
from rocm_sdk.cli.info.licences import Licences
from rocm_sdk.cli.path import complain_of_absence
from rocm_sdk.fit.debug_names import (
    DEFAULT_DIRECTORY,
    debug_directories,
    debug_file,
    debuginfod_path,
    installed_debug_file,
)
from rocm_sdk.installed.catalog import shortnames_by_stem
from rocm_sdk.installed.view import Installed, current
from rocm_sdk.terminal.output import attempt, complain, tell, tell_json, tell_table

_SCHEMA = 1  # of --json; incremented when the meaning of a field changes


class _File(NamedTuple):
    path: str
    build_id: str | None  # None: it has none


def print_build_ids(names: list[str], *, for_programs: bool) -> int:
    """Print the build IDs of libraries: short names, or files; without names of all.

    Return status 1 if a file has none.
    """
    installed = current()
    found: list[_File] = []
    status = max(attempt(name, partial(_add, found, installed, name)) for name in names) if names else 0
    is_whole = len(found) == len(names) if names else _add_all(found, installed)
    directories, licences = debug_directories(installed.site), Licences(installed)
    if for_programs:
        tell_json(
            _SCHEMA,
            files=[
                {
                    **each._asdict(),
                    "licence": (licence := licences.of(each.path)) and licence._asdict(),
                    "debuginfod": each.build_id and debuginfod_path(each.build_id),
                    "debug_file": each.build_id and debug_file(each.build_id),
                    "installed_debug_file": each.build_id and installed_debug_file(each.build_id, directories),
                }
                for each in found
            ],
        )
    elif found:
        rows = [
            (
                os.path.basename(each.path),
                each.build_id or "none",
                licence.text if (licence := licences.of(each.path)) is not None else "unknown",
                _place(each, directories),
            )
            for each in found
        ]
        tell_table(("file", "build ID", "licence", "debug file"), rows, ())
        if directories:
            tell(f"gdb: set debug-file-directory {':'.join([*directories, DEFAULT_DIRECTORY])}")
    return status or (0 if found and is_whole and all(each.build_id for each in found) else 1)


def _place(file: _File, directories: list[str]) -> str:
    """Return the debug information that is installed, else the file in which debuggers look."""
    if file.build_id is None:
        return ""
    return installed_debug_file(file.build_id, directories) or debug_file(file.build_id)


def _add_all(found: list[_File], installed: Installed) -> bool:
    """Add all shared libraries of the SDK. Return whether all can be read; complain about the others."""
    faulty = [each for each in installed.shared_objects if each.facts is None]
    for each in faulty:
        complain(f"{each.fault} [{each.code}]")
    found += [_File(each.path, each.facts.build_id) for each in installed.shared_objects if each.facts is not None]
    if not found and not faulty:
        complain("no library of a ROCm SDK is installed", "rocm-sdk install sdk")
    return not faulty


def _add(found: list[_File], installed: Installed, name: str) -> None:
    """Add the library of a short name, else the file of this name. Complain of a library that is not there."""
    path = name
    is_file = os.sep in name or (os.path.exists(name) and name not in shortnames_by_stem().values())
    if not is_file:
        location = installed.sdk.locate(name)
        if location.path is None:
            complain_of_absence(name, location)
            return
        path = location.path
    found.append(_File(path, _native.inspect_library(path).build_id))
