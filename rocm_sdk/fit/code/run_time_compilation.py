"""The compilation of GPU code at run time, as programs do with hiprtc; no GPU is needed."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HEADERS = b"#include <stddef.h>\n#include <cstdint>\n"  # what cupy includes
_SOURCE = b'extern "C" __global__ void add_one(float *values) { values[threadIdx.x] += 1; }'


class CompilationError(Exception):
    """The error of a function of hiprtc."""


def compile_for(library: ctypes.CDLL, target: str, headers: bytes = b"", further: Sequence[str] = ()) -> bytes:
    """Return the code object of a small kernel. Raise CompilationError with hiprtc's words if it makes none.

    headers: lines that include some. further: options.
    """
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [each.encode() for each in (f"--gpu-architecture={target}", *further)]
    _call(library, "hiprtcCreateProgram", ctypes.byref(program), headers + _SOURCE, b"add_one.hip", 0, None, None)
    try:
        _call(library, "hiprtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
    except CompilationError as error:
        _call(library, "hiprtcGetProgramLogSize", program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        _call(library, "hiprtcGetProgramLog", program, log)
        lines = log.value.decode(errors="replace").split("\n")
        line = next((each for each in lines if "error: " in each), lines[0])
        raise CompilationError(f"{error}: {line}" if line else str(error)) from error
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
