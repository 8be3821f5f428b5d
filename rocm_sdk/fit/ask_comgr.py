"""The questions to the installed SDK's comgr about facts that its file does not show.

The program is `python -m rocm_sdk.fit.ask_comgr QUESTION`; a target follows the question `knows`. The process
prints "yes", "no", or nothing if the answer means nothing. The numbers come from amd_comgr.h, the containers from
clang's documentation of the offload bundler.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import sys
import zlib
from pathlib import Path

import rocm_sdk
from rocm_sdk.base.own_place import scratch_place
from rocm_sdk.base.scratch import scratch_directory

_LOG, _EXECUTABLE = 0x5, 0x8  # kinds of data
_FAT_BINARY, _BUNDLE, _SPIRV = 0x10, 0x14, 0x15
_UNBUNDLE, _SPIRV_TO_BITCODE = 0xF, 0x13  # actions
_TARGET = b"amdgcn-amd-amdhsa--"
_ENTRY = b"hipv4-" + _TARGET + b"gfx1030"
_NO_TRANSLATOR = b"COMGR_DISABLE_SPIRV"  # in the log of a comgr without one


class _Handle(ctypes.Structure):
    _fields_ = (("handle", ctypes.c_uint64),)


class _CodeObject(ctypes.Structure):
    _fields_ = (("isa", ctypes.c_char_p), ("size", ctypes.c_size_t), ("offset", ctypes.c_uint64))


class _FailedError(Exception):
    """The error for a refusal by comgr: it is not the comgr that is known here."""


class _Comgr:
    """The functions of the library, which raise _FailedError for another status than success."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def call(self, name: str, *arguments: object) -> None:
        function = getattr(self._library, f"amd_comgr_{name}", None)
        if function is None or function(*arguments) != 0:
            raise _FailedError(name)

    def data(self, kind: int, content: bytes) -> _Handle:
        made = _Handle()
        self.call("create_data", kind, ctypes.byref(made))
        self.call("set_data", made, ctypes.c_size_t(len(content)), content)
        return made

    def knows(self, processor: bytes) -> bool:
        """Return whether a processor is in comgr's list, in any mode."""
        count, name = ctypes.c_size_t(), ctypes.c_char_p()
        self.call("get_isa_count", ctypes.byref(count))
        for index in range(count.value):
            self.call("get_isa_name", ctypes.c_size_t(index), ctypes.byref(name))
            if (name.value or b"").rpartition(b"-")[2].partition(b":")[0] == processor:
                return True
        return False

    def finds(self, content: bytes, processor: bytes) -> bool:
        """Return whether comgr finds code for a processor in a bundle."""
        found = _CodeObject(_TARGET + processor, 0, 0)
        self.call("lookup_code_object", self.data(_FAT_BINARY, content), ctypes.byref(found), ctypes.c_size_t(1))
        return bool(found.size)

    def act(self, action: int, content: _Handle, entries: list[bytes]) -> tuple[bool, _Handle]:
        """Return whether an action works, and its result. entries: the entries of a bundle that are wanted."""
        given, result, order = _Handle(), _Handle(), _Handle()
        self.call("create_data_set", ctypes.byref(given))
        self.call("create_data_set", ctypes.byref(result))
        self.call("create_action_info", ctypes.byref(order))
        self.call("set_data_name", content, b"asked")
        self.call("data_set_add", given, content)
        if entries:
            names = (ctypes.c_char_p * len(entries))(*entries)
            self.call("action_info_set_bundle_entry_ids", order, names, ctypes.c_size_t(len(entries)))
        else:
            self.call("action_info_set_isa_name", order, _TARGET + b"gfx1030")
            self.call("action_info_set_logging", order, ctypes.c_bool(True))
        try:
            self.call("do_action", action, order, given, result)
        except _FailedError:
            return False, result
        return True, result

    def bytes_of(self, result: _Handle, kind: int) -> bytes:
        """Return the first data of a kind; b"" if there is none."""
        count, found, size = ctypes.c_size_t(), _Handle(), ctypes.c_size_t()
        self.call("action_data_count", result, kind, ctypes.byref(count))
        if not count.value:
            return b""
        self.call("action_data_get_data", result, kind, ctypes.c_size_t(0), ctypes.byref(found))
        self.call("get_data", found, ctypes.byref(size), None)
        content = ctypes.create_string_buffer(size.value)
        self.call("get_data", found, ctypes.byref(size), content)
        return content.raw


# ---- questions


def _others(comgr: _Comgr) -> bool | None:
    """Return whether comgr finds code for gfx1030 if it is asked for gfx1031; None if the answer means nothing.

    comgr must find none for gfx1100. Each query names one processor, because comgr gives an entry to the first of
    several.
    """
    own, other, unfit = (comgr.finds(_bundle(1), processor) for processor in (b"gfx1030", b"gfx1031", b"gfx1100"))
    return other if own and not unfit else None


def _spirv(comgr: _Comgr) -> bool | None:
    """Return whether comgr translates a small valid module; None if the answer means nothing."""
    try:
        module = comgr.data(_SPIRV, _module())
    except _FailedError:
        return False  # comgr is older than SPIR-V for HIP
    works, result = comgr.act(_SPIRV_TO_BITCODE, module, [])
    return True if works else False if _NO_TRANSLATOR in comgr.bytes_of(result, _LOG) else None


def _mixes(comgr: _Comgr) -> bool | None:
    """Return whether comgr's cache takes the code of one compressed bundle for another's; None without an answer."""
    first, second = (
        comgr.bytes_of(comgr.act(_UNBUNDLE, comgr.data(_BUNDLE, _compressed(_bundle(fill))), [_ENTRY])[1], _EXECUTABLE)
        for fill in (1, 2)
    )
    return None if first != _code(1) else second != _code(2)


_QUESTIONS = {"others": _others, "spirv": _spirv, "mixes": _mixes}


# ---- the given content


def _code(fill: int) -> bytes:
    """Return the ELF header of a code object for gfx1030, followed by some bytes."""
    head = b"\x7fELF\x02\x01\x01\x40\x02" + bytes(7)
    return head + struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, 0, 0x36, 64, 56, 0, 64, 0, 0) + bytes([fill]) * 64


def _bundle(fill: int) -> bytes:
    code = _code(fill)
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 4096, len(code), len(_ENTRY)) + _ENTRY
    return head.ljust(4096, b"\0") + code


def _compressed(plain: bytes) -> bytes:
    """Return a bundle in version 2 of the compressed format, with zlib."""
    packed, digest = zlib.compress(plain), hashlib.md5(plain, usedforsecurity=False).digest()[:8]
    return b"CCOB" + struct.pack("<HHII", 2, 0, 24 + len(packed), len(plain)) + digest + packed


# A module with a kernel that does nothing. Source: the specification of SPIR-V 1.0.
# fmt: off
_INSTRUCTIONS = (
    (17, 4), (17, 5), (17, 6), (17, 11),  # OpCapability Addresses, Linkage, Kernel, Int64
    (14, 2, 2),                           # OpMemoryModel Physical64 OpenCL
    (15, 6, 4, ord("k")),                 # OpEntryPoint Kernel %4 "k"
    (3, 3, 100000),                       # OpSource OpenCL_C
    (19, 1),                              # %1 = OpTypeVoid
    (33, 2, 1),                           # %2 = OpTypeFunction %1
    (54, 1, 4, 0, 2),                     # %4 = OpFunction %1 None %2
    (248, 3), (253,), (56,),              # OpLabel, OpReturn, OpFunctionEnd
)
# fmt: on


def _module() -> bytes:
    words = [0x07230203, 0x00010000, 0, 5, 0]  # magic, version, generator, bound of the numbers, schema
    for operation, *operands in _INSTRUCTIONS:
        words += [(1 + len(operands)) << 16 | operation, *operands]
    return struct.pack(f"<{len(words)}I", *words)


def main() -> int:
    """Answer the question, and return status 0.

    Without a comgr, RocmSdkError is raised, and ends the process with status 1.
    """
    with scratch_directory(Path(scratch_place()), "rocm-sdk-comgr-") as cache:
        os.environ |= {"AMD_COMGR_CACHE": "1", "AMD_COMGR_CACHE_DIR": str(cache)}
        rocm_sdk.preload_libraries("amd_comgr")
        try:
            comgr = _Comgr(rocm_sdk._ALL_CDLLS["amd_comgr"])
            if sys.argv[1] == "knows":
                answer: bool | None = comgr.knows(os.fsencode(sys.argv[2]))
            else:
                answer = _QUESTIONS[sys.argv[1]](comgr)
        except _FailedError:
            answer = None
    print({True: "yes", False: "no", None: ""}[answer])
    return 0


if __name__ == "__main__":
    sys.exit(main())
