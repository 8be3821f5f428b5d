/* Dlopen dependencies: libraries that ROCm's libraries open with dlopen, by bare name, without a DT_NEEDED entry. With
 * RPATHs in place the opener finds them; without, only a library that is already in the process can be found, so the
 * loader brings it in too. The releases are those of HIP whose libraries have the name in them. Not here are names that
 * no preloaded library answers to: amd_smi and rocm_smi64 open libdrm_amdgpu.so, without a number, and hipSOLVER
 * libcholmod.so.5, which are the system's. Candidates for new rows: `rocm-sdk-build dlopen-dependencies DIRECTORY`. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_dlopen_dependency rsdk_dlopen_dependencies[] = {
    /* seen in */        /* opener                        opened                           required  why */
    /* 5.2, 5.7, 6.4 */  {"libamdhip64.so",               "libamd_comgr.so",               true,     "compiles and links device code; hiprtcCreateProgram crashes without it"},
    /* 6.4 */            {"libhiprtc.so",                 "libamd_comgr.so",               true,     "compiles device code; hiprtcCreateProgram crashes without it"},
    /* 6.4 */            {"libhiprtc.so",                 "libhiprtc-builtins.so",         true,     "the built-in headers of a HIP run-time compilation"},
    /* 5.7, 6.4 */       {"libamdocl64.so",               "libamd_comgr.so",               true,     "compiles OpenCL C"},
    /* 5.2, 6.1, 6.4 */  {"libhsa-runtime64.so",          "libhsa-amd-aqlprofile64.so",    false,    "hardware counters for profilers"},
    /* AMD's 6.2 */      {"librocprofiler-register.so",   "librocprofiler-sdk.so",         false,    "a profiling tool that was asked for"},
};
/* clang-format on */

const size_t rsdk_dlopen_dependency_count = sizeof rsdk_dlopen_dependencies / sizeof *rsdk_dlopen_dependencies;
