"""The compilation of GPU code at run time, as programs do with hiprtc; no GPU is needed."""

from __future__ import annotations

import ctypes

_SOURCE = b'extern "C" __global__ void add_one(float *values) { values[threadIdx.x] += 1; }'


class CompilationError(Exception):
    """The error of a function of hiprtc."""


def compile_for(library: ctypes.CDLL, target: str) -> bytes:
    """Return the code object of a small kernel. Raise CompilationError with hiprtc's words if it makes none."""
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


def _call(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    status = getattr(library, name)(*arguments)
    if status != 0:
        library.hiprtcGetErrorString.restype = ctypes.c_char_p
        words = library.hiprtcGetErrorString(status) or b"an unknown error"
        raise CompilationError(f"{name} answers {words.decode(errors='replace')} ({status})")
