"""The compilation of a kernel at run time, as programs do with hiprtc, in a separate process; no GPU is needed.

hiprtc opens amd_comgr and its built-in headers by their bare names, so this shows that they are found, too.
"""

from __future__ import annotations

import json
import tempfile
import warnings

import rocm_sdk
from rocm_sdk.fit.code.run_time_compilation import HEADERS, CompilationError, compile_for

# `_say` writes one of them and a JSON value.
COMPILED, LACKING, FAILED, PROBLEM = "compiled", "lacking", "failed", "problem"


def main(shortname: str, target: str, *words: str) -> None:
    """Compile a kernel, and write the outcome.

    shortname: the library that has hiprtc's functions. words: "cupy" and options, for a kernel with its headers; a
    descriptor, which gets what `_say` writes.
    """
    *further, answers = words
    warnings.simplefilter("ignore")
    try:
        rocm_sdk.preload_libraries(shortname)
        library = rocm_sdk._ALL_CDLLS[shortname]
        if not hasattr(library, "hiprtcCompileProgram"):
            _say(answers, LACKING, "hiprtcCompileProgram")
            return
        code = compile_for(library, target, HEADERS if further else b"", further[1:])
        _say(answers, COMPILED, [targets_of(code), len(code)])
    except rocm_sdk.RocmSdkError as error:
        _say(answers, PROBLEM, [error.code, error.path, error.facts])
    except CompilationError as error:
        _say(answers, FAILED, str(error))


def targets_of(code: bytes) -> list[str]:
    """Return the targets that a compiler's code runs on, as the reader of GPU code says.

    Raises CompilationError if the code cannot be read.
    """
    with tempfile.NamedTemporaryFile(prefix="rocm-sdk-test-") as file:
        file.write(code)
        file.flush()
        try:
            return [each.target for each in rocm_sdk.device_code(file.name).targets]
        except rocm_sdk.RocmSdkError as error:
            raise CompilationError(f"the compiled code cannot be read: {error.detail}") from error


def _say(answers: str, outcome: str, value: object) -> None:
    with open(int(answers), "w", encoding="utf-8") as file:
        print(outcome, json.dumps(value), file=file)
