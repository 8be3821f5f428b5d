"""The program of `make test-wheels` in a Debian system of its own: the loader from its wheel, an SDK beside it.

usage: use_sdk.py VERSION      the SDK's; prints what was loaded, and fails where something is not as it should be
"""

import ctypes
import platform
import sys
from pathlib import Path

import rocm_sdk

version = sys.argv[1]
rocm_sdk.initialize_process(preload_shortnames=["hipsparse", "hiprand"], check_version=version)
loaded = {Path(library.location.path).name for library in rocm_sdk.loaded_libraries()}
assert {"libhipsparse.so.0", "librocsparse.so.0", "libhiprand.so.1", "libamdhip64.so.5"} <= loaded, loaded
number = ctypes.c_int()
assert ctypes.CDLL(None).hipRuntimeGetVersion(ctypes.byref(number)) == 0
assert number.value == 50200000, number
assert rocm_sdk.check_process() == ()
assert "libelf" not in Path("/proc/self/maps").read_text(encoding="utf-8")
libc = platform.libc_ver()[1]
print(f"{platform.machine()}, glibc {libc}, Python {platform.python_version()}: {len(loaded)} libraries loaded")
