"""Compiles a kernel at run time, as programs do with hiprtc; no GPU is needed. Runs in a process of its own.

hiprtc opens amd_comgr and its built-in headers by their bare names, so this shows that they are found too.
"""

from __future__ import annotations

import ctypes
import json
import sys
import tempfile
import warnings

import rocm_sdk

# `main` prints one of them and a JSON value.
COMPILED, LACKING, FAILED, PROBLEM = "compiled", "lacking", "failed", "problem"

_SOURCE = b'extern "C" __global__ void add_one(float *values) { values[threadIdx.x] += 1; }'


class CompilationError(Exception):
    """A function of hiprtc has answered with an error."""


def main(shortname: str, target: str) -> None:
    """shortname: the library that has hiprtc's functions. Prints what `COMPILED` and its like stand for."""
    warnings.simplefilter("ignore")
    try:
        rocm_sdk.preload_libraries(shortname)
        library = rocm_sdk._ALL_CDLLS[shortname]
        if not hasattr(library, "hiprtcCompileProgram"):
            _say(LACKING, "hiprtcCompileProgram")
            return
        code = compile_for(library, target)
        _say(COMPILED, [targets_of(code), len(code)])
    except rocm_sdk.RocmSdkError as error:
        _say(PROBLEM, [error.code, error.path, error.facts])
    except CompilationError as error:
        _say(FAILED, str(error))


def compile_for(library: ctypes.CDLL, target: str) -> bytes:
    """The code object of a small kernel; CompilationError with hiprtc's words if it makes none."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={target}".encode())
    _call(library, "hiprtcCreateProgram", ctypes.byref(program), _SOURCE, b"add_one.hip", 0, None, None)
    try:
        _call(library, "hiprtcCompileProgram", program, 1, options)
    except CompilationError as error:
        _call(library, "hiprtcGetProgramLogSize", program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        _call(library, "hiprtcGetProgramLog", program, log)
        lines = log.value.decode(errors="replace").split("\n")
        raise CompilationError(f"{error}: {lines[0]}" if lines[0] else str(error)) from error
    _call(library, "hiprtcGetCodeSize", program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    _call(library, "hiprtcGetCode", program, code)
    _call(library, "hiprtcDestroyProgram", ctypes.byref(program))
    return code.raw


def targets_of(code: bytes) -> list[str]:
    """What the code of a compiler runs on, as the reader of GPU code says; CompilationError if it cannot be read."""
    with tempfile.NamedTemporaryFile(prefix="rocm-sdk-test-") as file:
        file.write(code)
        file.flush()
        try:
            return [each.target for each in rocm_sdk.device_code(file.name).targets]
        except rocm_sdk.RocmSdkError as error:
            raise CompilationError(f"what it has compiled cannot be read: {error.detail}") from error


def _call(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    status = getattr(library, name)(*arguments)
    if status != 0:
        library.hiprtcGetErrorString.restype = ctypes.c_char_p
        words = library.hiprtcGetErrorString(status) or b"an unknown error"
        raise CompilationError(f"{name} answers {words.decode(errors='replace')} ({status})")


def _say(outcome: str, value: object) -> None:
    print(outcome, json.dumps(value))


if __name__ == "__main__":
    main(*sys.argv[1:])
