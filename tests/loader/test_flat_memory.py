"""A process that asks for hours stays as large as it is: each function of Python, called thousands of times."""

from sample_site import LIBRARIES, Site

PROGRAM = """
import ctypes, gc, os, sys, time, warnings
import rocm_sdk
from rocm_sdk import _native, targets

warnings.simplefilter("ignore")
NUMBERS = [f"n{i}" for i in range(10)]

class MallocInformation(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in NUMBERS]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = MallocInformation

def in_use():
    gc.collect()
    facts = libc.mallinfo2()
    return facts.n7 + facts.n4 + 48 * sys.getallocatedblocks()  # uordblks, hblkhd, and blocks of Python

def refused(function, *words, **more):
    def call():
        try:
            function(*words, **more)
        except (rocm_sdk.RocmSdkError, OSError):
            return
        raise SystemExit(f"{function} is not refused")
    return call

sdk = _native.open_sdk()
plugin = os.environ["PLUGIN"]
CALLS = {
    "Sdk.facts": sdk.facts,
    "Sdk.built_targets": sdk.built_targets,
    "Sdk.package_directories": sdk.package_directories,
    "Sdk.package_directory": refused(sdk.package_directory, "devel"),
    "Sdk.locate": refused(sdk.locate, "miopen"),
    "Sdk.located": sdk.located,
    "Sdk.failures": sdk.failures,
    "Sdk.bindings": lambda: sdk.bindings("amdhip64"),
    "open_sdk": lambda: _native.open_sdk().package_directories(),
    "find_libraries": lambda: rocm_sdk.find_libraries("amdhip64"),
    "find_libraries in vain": refused(rocm_sdk.find_libraries, "miopen"),
    "load_plan": lambda: rocm_sdk.load_plan("hipsparse", new_process=True),
    "preload_libraries": lambda: rocm_sdk.preload_libraries("amdhip64"),
    "preload_libraries in vain": refused(rocm_sdk.preload_libraries, "miopen"),
    "preload_for": lambda: rocm_sdk.preload_for(plugin),
    "initialize_process": lambda: rocm_sdk.initialize_process(preload_shortnames=["hipsparse"]),
    "expand": lambda: targets.expand("gfx94X-dcgpu"),
    "expand in vain": refused(targets.expand, "gfx94"),
}
for name, call in CALLS.items():
    for _ in range(50):
        call()
    before, start, calls = in_use(), time.perf_counter(), 0
    while calls < 10000 and (calls < 1000 or time.perf_counter() - start < 1):
        call()
        calls += 1
    more = in_use() - before
    if more > (1 << 17) + 20 * calls:  # malloc itself takes and gives back some pages
        print(f"{name}: {more} bytes more after {calls} calls")
"""


def test_memory_is_flat(site: Site) -> None:
    hip = site.library("libamdhip64.so.7", "int hip(void) { return 7; }")
    site.library("libhipsparse.so.4", needed=(hip,), package=LIBRARIES)
    plugin = site.library("plugin.so", needed=(hip,), directory="lib/plugins")
    assert site.run(PROGRAM, PLUGIN=str(plugin)).stdout == ""
