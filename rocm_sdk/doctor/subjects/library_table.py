"""The facts about libraries, one row per line."""

import re

# Libraries that are not meant to be loaded alone, and why. Patterns of file names.
NOT_LOADED_ALONE = {
    r"libclang_rt\..*\.so": "a sanitizer's run-time library: it must be the first in its process",
    r"lib(omp|hip|asan|lsan)?[a-z]*_?asan.*\.so.*": "built for AddressSanitizer, which must be first in the process",
    r"liblldb\.so.*": "needs the Python that it was built for",
    r"_?lldb\.cpython-.*\.so": "an extension module of lldb's Python",
    r".*\.cpython-.*\.so|.*\.abi3\.so": "an extension module: Python loads it",
    r"libarcher\.so": "an OpenMP tool: its runtime loads it",
    r"libompd\.so": "a plug-in of debuggers",
    r"LLVM(Polly|gold)\.so|libLLVMgold\.so": "a plug-in of the linker or the compiler",
    r"librocprof-sys-(rt|dl|user)\.so.*": "works inside a program that it instruments",
    r"libtest_linking_lib[12]\.so": "made for a test of HIP",
    r"libLLVMOffload\.so.*": "a part of the OpenMP runtime: that loads it",
    r"libpyroc(pd|tx).*\.so.*": "a part of a Python module",
    r"librocprofiler-sdk-tool.*\.so.*|librocprofv3-.*\.so.*|libroctracer_tool\.so.*": "a tool that the profiler's"
    " programs preload",
    r"libopencl_(icd|test).*\.so": "a plug-in of OpenCL's own tests",
}

# A function that only this library has.
SYMBOLS = {
    "amdhip64": "hipGetDeviceCount",
    "hiprtc": "hiprtcCreateProgram",
    "amd_comgr": "amd_comgr_get_version",
    "rocm_smi64": "rsmi_init",
    "amd_smi": "amdsmi_init",
    "roctx64": "roctxMarkA",
    "roctracer64": "roctracer_version_major",
    "rocprofiler-sdk": "rocprofiler_get_version",
    "rocprofiler-sdk-roctx": "roctxMarkA",
    "rocblas": "rocblas_create_handle",
    "hipblas": "hipblasCreate",
    "hipblaslt": "hipblasLtCreate",
    "hipfft": "hipfftCreate",
    "rocfft": "rocfft_setup",
    "hiprand": "hiprandCreateGenerator",
    "rocrand": "rocrand_create_generator",
    "hipsparse": "hipsparseCreate",
    "rocsparse": "rocsparse_create_handle",
    "hipsparselt": "hipsparseLtInit",
    "hipsolver": "hipsolverCreate",
    "rocsolver": "rocsolver_dgetrf",
    "rccl": "ncclGetVersion",
    "miopen": "miopenCreate",
    "hipdnn": "hipdnnCreate",
    "rocm-openblas": "cblas_dgemm",
    "rocm_sysdeps_liblzma": "lzma_version_number",
}


def reason_not_loaded_alone(name: str) -> str | None:
    """Return why a library of this file name is not loaded alone; None if it is."""
    return next((reason for pattern, reason in NOT_LOADED_ALONE.items() if re.fullmatch(pattern, name)), None)
