"""Runs inside the demonstration's virtual environment, which has rocm_sdk, an SDK and nothing else; prints JSON.

usage: python process.py plan|load CHECK_VERSION SHORTNAME...
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any


def describe_plan(shortnames: list[str]) -> list[dict[str, Any]]:
    """The load plan of initialize_process; nothing is loaded."""
    import rocm_sdk

    return [
        {
            "shortname": step.shortname,
            "soname": step.soname,
            "path": str(step.path),
            "method": step.method,
            "why_opened": "" if step.requested else step.reason,
            "members": [str(member) for member in step.members],
        }
        for step in rocm_sdk.load_plan(*shortnames).steps
    ]


def load(shortnames: list[str], check_version: str) -> dict[str, Any]:
    """Loads the libraries and calls into them; times in seconds."""
    start = perf_counter()
    import rocm_sdk

    imported = perf_counter()
    rocm_sdk.initialize_process(preload_shortnames=shortnames, check_version=check_version)
    initialized = perf_counter()
    loaded = [library for library in rocm_sdk.loaded_libraries() if library.requested]
    sonames = {library.location.shortname: str(library.location.soname) for library in loaded}
    return {
        "version": rocm_sdk.__version__,
        "loader_version": rocm_sdk.loader_version,
        "import_seconds": imported - start,
        "initialize_seconds": initialized - imported,
        "seconds": {str(library.location.path): library.seconds for library in loaded},
        "proofs": [
            call_version(sonames["amdhip64"], "hipRuntimeGetVersion"),
            call_version(sonames["hiprand"], "hiprandGetVersion"),
            open_by_name(sonames["hipsparse"]),
        ],
    }


def call_version(soname: str, function: str) -> str:
    """Calls `int function(int *version)` of a library that is opened by its bare name."""
    import ctypes

    version = ctypes.c_int()
    status = getattr(ctypes.CDLL(soname), function)(ctypes.byref(version))
    if status != 0:
        raise RuntimeError(f"{function} of {soname} answered with the error {status}")
    return f'ctypes.CDLL("{soname}").{function}(&version): version = {version.value}'


def open_by_name(soname: str) -> str:
    """Opens a library that no search path leads to."""
    import ctypes

    ctypes.CDLL(soname)
    return f'ctypes.CDLL("{soname}"): found by its bare name'


def main(action: str, check_version: str, *shortnames: str) -> None:
    """Carries out one action and prints its result as the last line."""
    result = describe_plan([*shortnames]) if action == "plan" else load([*shortnames], check_version)
    import json

    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
