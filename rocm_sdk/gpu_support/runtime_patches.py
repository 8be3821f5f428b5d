"""Whether the installed runtime tries code for other processors: what unofficial compatibility depends on.

comgr can be asked without a GPU: it looks for the code for one processor in a bundle that has it for another one. HIP
and ROCr decide for themselves too, but only where there is a GPU, and their binaries do not show whether they would.
"""

from rocm_sdk.base.starting import own_code, run

_SECONDS = 20.0

# A bundle with an ELF header for gfx1030 as its only code. comgr must find code for gfx1030 and none for gfx1100:
# otherwise its answer means nothing. Each query names one processor, because comgr gives an entry to the first of
# several.
_PROGRAM = """
import ctypes, struct
import rocm_sdk
rocm_sdk.preload_libraries("amd_comgr")
comgr = rocm_sdk._ALL_CDLLS["amd_comgr"]

class Data(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_uint64)]

class Info(ctypes.Structure):
    _fields_ = [("isa", ctypes.c_char_p), ("size", ctypes.c_size_t), ("offset", ctypes.c_uint64)]

code = b"\\x7fELF\\x02\\x01\\x01\\x40\\x02" + bytes(7)
code += struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, 0, 0x36, 64, 56, 0, 64, 0, 0)
entry = b"hipv4-amdgcn-amd-amdhsa--gfx1030"
head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 4096, len(code), len(entry)) + entry
bundle = head.ljust(4096, b"\\0") + code
comgr.amd_comgr_set_data.argtypes = [Data, ctypes.c_size_t, ctypes.c_char_p]
comgr.amd_comgr_lookup_code_object.argtypes = [Data, ctypes.POINTER(Info), ctypes.c_size_t]
FAT_BINARY = 16
data = Data()
status = comgr.amd_comgr_create_data(FAT_BINARY, ctypes.byref(data))
status = status or comgr.amd_comgr_set_data(data, len(bundle), bundle)
found = []
for name in (b"gfx1030", b"gfx1031", b"gfx1100"):
    info = Info(b"amdgcn-amd-amdhsa--" + name, 0, 0)
    status = status or comgr.amd_comgr_lookup_code_object(data, ctypes.byref(info), 1)
    found.append(bool(info.size))
print({(True, False, False): "exact", (True, True, False): "others"}.get(tuple(found)) if not status else None)
"""


def comgr_tries_other_processors() -> bool | None:
    """Whether the SDK's comgr finds code for gfx1030 if it is asked for gfx1031; None if that is unknown.

    comgr is loaded in a process of its own.
    """
    try:
        done = run(own_code(_PROGRAM), seconds=_SECONDS)
    except OSError:
        return None
    return {"exact": False, "others": True}.get(done.stdout.strip()) if done.returncode == 0 else None
