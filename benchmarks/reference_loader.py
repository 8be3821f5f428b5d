"""The reference: the obvious way to preload ROCm's libraries in Python, with pathlib, importlib, fnmatch and ctypes.

The reference finds the packages by importing them, a library by its file name, and opens the library with ctypes. The
reference knows nothing of dependencies: the libraries must have RPATHs.
"""

import ctypes
import fnmatch
import importlib
from pathlib import Path

# Shortname -> the package that has the library, and its file there.
# fmt: off
LIBRARIES = {
    "amd_comgr":  ("_rocm_sdk_core",      "lib/libamd_comgr.so*"),
    "amdhip64":   ("_rocm_sdk_core",      "lib/libamdhip64.so*"),
    "hiprand":    ("_rocm_sdk_libraries", "lib/libhiprand.so*"),
    "hipsparse":  ("_rocm_sdk_libraries", "lib/libhipsparse.so*"),
    "rocm_smi64": ("_rocm_sdk_core",      "lib/librocm_smi64.so*"),
}
# fmt: on

loaded: dict[str, ctypes.CDLL] = {}


def find_library(shortname: str) -> Path:
    """Return the library's file.

    Raise KeyError, ModuleNotFoundError or FileNotFoundError if the library is not found.
    """
    package_name, pattern = LIBRARIES[shortname]
    package = importlib.import_module(package_name)
    assert package.__file__ is not None
    matches = sorted(Path(package.__file__).parent.glob(pattern))
    if not matches:
        raise FileNotFoundError(f"{shortname}: no file {pattern} in {package.__file__}")
    return matches[0]


def initialize_process(preload_shortnames: list[str], check_version: str) -> None:
    """Open the libraries, then check the SDK's version.

    Raise RuntimeError if the version does not match.
    """
    for shortname in preload_shortnames:
        loaded[shortname] = ctypes.CDLL(str(find_library(shortname)), mode=ctypes.RTLD_GLOBAL)
    version = importlib.import_module("rocm_sdk_core._dist_info").__version__
    if not fnmatch.fnmatch(version, check_version):
        raise RuntimeError(f"the ROCm SDK has version {version}, expected is {check_version}")
