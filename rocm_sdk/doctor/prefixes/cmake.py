"""The paths that the CMake packages of a prefix name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from rocm_sdk.base.files import read_beginning
from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.prefix import Prefix

# Where a path counts: properties of targets that CMake wrote itself, and what a package checks for itself.
_PROPERTY = re.compile(
    r"\b(IMPORTED_LOCATION\w*|IMPORTED_IMPLIB\w*|INTERFACE_INCLUDE_DIRECTORIES|INTERFACE_SYSTEM_INCLUDE_DIRECTORIES)"
    r'\s+"([^"]*)"'
)
_CHECKED = re.compile(r'\bset_and_check\s*\(\s*(\w+)\s+"?([^")]*)"?\s*\)', re.IGNORECASE)
# How CMake's own texts come from the file's directory to the prefix.
_STEP = re.compile(r'get_filename_component\s*\(\s*_IMPORT_PREFIX\s+"\$\{_IMPORT_PREFIX\}"\s+PATH\s*\)')
_PACKAGE_PREFIX = re.compile(r'get_filename_component\s*\(\s*PACKAGE_PREFIX_DIR\s+"\$\{\w+\}/([./]*)"\s+ABSOLUTE\s*\)')
_LIMIT = 1 << 24  # bytes of a file


def check_paths(prefix: Prefix, path: str, text: str, recorder: Recorder) -> None:
    """Checks the paths in one file; those that only CMake can tell are left alone."""
    counted = 0
    for name, value in _named(text, _variables(prefix, path, text)):
        counted += 1
        if not prefix.exists(value):
            detail = f"{name} is {value}, which is in neither the prefix nor the build root"
            recorder.bad("E-PREFIX-009", path, name=value, detail=detail, **prefix.facts)
            return
    if counted:
        recorder.good(f"the {counted} paths in {os.path.relpath(path, prefix.root)}")


def _variables(prefix: Prefix, path: str, text: str) -> dict[str, str]:
    """The prefix by the names that CMake's texts have for it, as far as they say where it is."""
    directory, found = prefix.installed(os.path.dirname(path)), {}
    if steps := len(_STEP.findall(text)) or _steps_beside(prefix, path):
        found["${_IMPORT_PREFIX}"] = os.path.normpath(os.path.join(directory, *[".."] * steps)).rstrip("/")
    if (match := _PACKAGE_PREFIX.search(text)) is not None:
        found["${PACKAGE_PREFIX_DIR}"] = os.path.normpath(os.path.join(directory, match[1])).rstrip("/")
    return found


def _steps_beside(prefix: Prefix, path: str) -> int:
    """The steps in `x-targets.cmake`, which includes `x-targets-release.cmake`; 0: it is not there."""
    stem = path
    while "-" in os.path.basename(stem):
        stem = stem[: stem.rindex("-")]
        if f"{stem}.cmake" in prefix.files:
            with suppress(OSError):
                return len(_STEP.findall(read_beginning(f"{stem}.cmake", _LIMIT).decode(errors="replace")))
    return 0


def _named(text: str, variables: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What names a path, and the path after the installation."""
    code = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    for match in (*_PROPERTY.finditer(code), *_CHECKED.finditer(code)):
        for each in match[2].split(";"):
            value = each
            for variable, place in variables.items():
                value = value.replace(variable, place)
            if value.startswith("/") and "$" not in value and "@" not in value:
                yield match[1], os.path.normpath(value)
