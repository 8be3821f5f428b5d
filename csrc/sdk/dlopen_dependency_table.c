/* Dlopen dependencies: libraries that ROCm's libraries open with dlopen, by bare name, without a DT_NEEDED entry. With
 * RPATHs in place the opener finds them; without, only a library that is already in the process can be found, so the
 * loader brings it in too. Candidates for new rows: `rocm-sdk-build dlopen-dependencies DIRECTORY`. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_dlopen_dependency rsdk_dlopen_dependencies[] = {
    /* opener                        opened                           required  why */
    {"libamdhip64.so",               "libamd_comgr.so",               true,     "compiles and links device code; hiprtcCreateProgram crashes without it"},
    {"libhiprtc.so",                 "libamd_comgr.so",               true,     "compiles device code; hiprtcCreateProgram crashes without it"},
    {"libhiprtc.so",                 "libhiprtc-builtins.so",         true,     "the built-in headers of a HIP run-time compilation"},
    {"libamdocl64.so",               "libamd_comgr.so",               true,     "compiles OpenCL C"},
    {"libhsa-runtime64.so",          "libhsa-amd-aqlprofile64.so",    false,    "hardware counters for profilers"},
    {"librocprofiler-register.so",   "librocprofiler-sdk.so",         false,    "a profiling tool that was asked for"},
};
/* clang-format on */

const size_t rsdk_dlopen_dependency_count = sizeof rsdk_dlopen_dependencies / sizeof *rsdk_dlopen_dependencies;
