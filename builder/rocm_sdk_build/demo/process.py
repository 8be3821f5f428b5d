"""The process inside the demonstration's virtual environment, which has rocm_sdk, an SDK and nothing else.

The process prints JSON.

usage: python process.py plan|load CHECK_VERSION SHORTNAME...
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any


def describe_plan(shortnames: list[str]) -> list[dict[str, Any]]:
    """Return the load plan of initialize_process; nothing is loaded."""
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
    """Load the libraries and call into them; return the results, with times in seconds."""
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
        "proofs": [proof(sonames[name], *arguments) for name, (proof, *arguments) in PROOFS.items() if name in sonames],
    }


def call_version(soname: str, function: str) -> str:
    """Call `int function(int *version)` of a library that is opened by its bare name; return a line about the call.

    Raise RuntimeError if the function returns an error.
    """
    import ctypes

    version = ctypes.c_int()
    status = getattr(ctypes.CDLL(soname), function)(ctypes.byref(version))
    if status != 0:
        raise RuntimeError(f"{function} of {soname} answered with the error {status}")
    return f'ctypes.CDLL("{soname}").{function}(&version): version = {version.value}'


def call_version_text(soname: str, function: str) -> str:
    """Call `int function(char *text, size_t size)` of a library that is opened by its bare name.

    Return a line about the call. Raise RuntimeError if the function returns an error.
    """
    import ctypes

    text = ctypes.create_string_buffer(64)
    status = getattr(ctypes.CDLL(soname), function)(text, ctypes.c_size_t(len(text)))
    if status != 0:
        raise RuntimeError(f"{function} of {soname} answered with the error {status}")
    return f'ctypes.CDLL("{soname}").{function}(text, size): {text.value.decode()}'


def compile_kernel(soname: str, target: str) -> str:
    """Compile a kernel for a target, which needs no GPU; return a line about the code."""
    import ctypes

    from rocm_sdk.fit.code.run_time_compilation import compile_for

    size = len(compile_for(ctypes.CDLL(soname), target))
    return f'ctypes.CDLL("{soname}").hiprtcCompileProgram(...): {size} bytes of code for {target}'


def open_by_name(soname: str) -> str:
    """Open a library to which no search path leads; return a line about that."""
    import ctypes

    ctypes.CDLL(soname)
    return f'ctypes.CDLL("{soname}"): found by its bare name'


# Shortname -> function that shows that the library works, and its further arguments.
PROOFS: dict[str, tuple[Any, ...]] = {
    "amdhip64": (call_version, "hipRuntimeGetVersion"),
    "hiprtc": (compile_kernel, "gfx1100"),
    "hiprand": (call_version, "hiprandGetVersion"),
    "hipsparse": (open_by_name,),
    "rocblas": (call_version_text, "rocblas_get_version_string"),
}


def main(action: str, check_version: str, *shortnames: str) -> None:
    """Carry out an action and print its result as the last line."""
    result = describe_plan([*shortnames]) if action == "plan" else load([*shortnames], check_version)
    import json

    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
