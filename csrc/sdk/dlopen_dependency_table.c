/* Dlopen dependencies: libraries that ROCm's libraries open with dlopen, by bare name, without a DT_NEEDED entry. With
 * RPATHs in place the opener finds a library that it opens by a name with a version; without, only a library that is
 * already in the process can be found, so the loader brings it in too. Packages have no file of a name without version:
 * there the loader brings the library in and gives it that name. The releases are the ROCm releases whose libraries
 * have the name in them. Not here are names that no preloaded library answers to: amd_smi and rocm_smi64 open
 * libdrm_amdgpu.so, without a number, and hipSOLVER libcholmod.so.5, which are the system's; rocprofiler-sdk
 * librocprof-trace-decoder.so, which it looks for in directories of its own; and files that a user names in variables.
 * Plug-ins are found by their openers; the libraries that plug-ins need may not be. Candidates for new rows:
 * `rocm-sdk-build dlopen-dependencies DIRECTORY`. Sources: the libraries of Debian and AMD (first column), else
 * ROCm/rocm-systems and ROCm/rocm-libraries. */
#include "sdk/tables.h"

#define BY_VERSION  RSDK_OPENED_BY_VERSION
#define UNVERSIONED RSDK_OPENED_UNVERSIONED
#define PLUG_IN     RSDK_OPENED_AS_PLUG_IN

/* clang-format off */
const rsdk_dlopen_dependency rsdk_dlopen_dependencies[] = {
    /* seen in */        /* opener                        opened                            by name      first     last      required   only if                           why, and what happens without it */
    /* 5.2, 5.7, 6.4 */  {"libamdhip64.so",               "libamd_comgr.so",                BY_VERSION,  {0, 0},   {0, 0},   true,      NULL,                             "compiles and links device code; hiprtcCreateProgram crashes without it"},
    /* 6.4 */            {"libhiprtc.so",                 "libamd_comgr.so",                BY_VERSION,  {0, 0},   {0, 0},   true,      NULL,                             "compiles device code; hiprtcCreateProgram crashes without it"},
    /* 6.4 */            {"libhiprtc.so",                 "libhiprtc-builtins.so",          BY_VERSION,  {0, 0},   {0, 0},   true,      NULL,                             "the built-in headers of a HIP run-time compilation"},
    /* hip_comgr_helper */{"libhiprtc.so",                "libamdhip64.so",                 UNVERSIONED, {0, 0},   {7, 1},   false,     NULL,                             "the target of the GPU; without it a run-time compilation has to name one"},
    /* 5.7, 6.4 */       {"libamdocl64.so",               "libamd_comgr.so",                BY_VERSION,  {0, 0},   {0, 0},   true,      NULL,                             "compiles OpenCL C"},
    /* 5.2, 6.1, 6.4 */  {"libhsa-runtime64.so",          "libhsa-amd-aqlprofile64.so",     UNVERSIONED, {0, 0},   {0, 0},   false,     NULL,                             "hardware counters for profilers"},
    /* thunk_loader */   {"libhsa-runtime64.so",          "librocdxg.so",                   UNVERSIONED, {0, 0},   {10, 1},  false,     "/dev/dxg",                       "the GPU of WSL2; without it no GPU is found"},
    /* thunk_loader */   {"libhsa-runtime64.so",          "librocdxg.so",                   BY_VERSION,  {10, 1},  {0, 0},   false,     "/dev/dxg",                       "the GPU of WSL2; without it no GPU is found"},
    /* AMD's 6.2 */      {"librocprofiler-register.so",   "librocprofiler-sdk.so",          BY_VERSION,  {0, 0},   {0, 0},   false,     NULL,                             "a profiling tool that was asked for"},
    /* register */       {"librocprofiler-register.so",   "librocprofiler-sdk.so",          UNVERSIONED, {0, 0},   {0, 0},   false,     "ROCP_TOOL_LIBRARIES",            "a profiling tool that was asked for; without it the process is aborted"},
    /* register */       {"librocprofiler-register.so",   "librocprofiler-sdk.so",          UNVERSIONED, {0, 0},   {0, 0},   false,     "ROCPROFILER_REGISTER_FORCE_LOAD","a profiling tool that was asked for; without it the process is aborted"},
    /* register */       {"librocprofiler-register.so",   "librocprofiler-sdk-attach.so",   UNVERSIONED, {7, 2},   {0, 0},   false,     "ROCP_TOOL_ATTACH",               "profilers that attach to the process; without it none can"},
    /* rocmwrap */       {"librccl.so",                   "libhsa-runtime64.so",            UNVERSIONED, {0, 0},   {0, 0},   false,     NULL,                             "memory that network cards read (DMA-BUF); without it ncclSystemError, or copies"},
    /* amdsmi_wrap */    {"librccl.so",                   "libamd_smi.so",                  UNVERSIONED, {0, 0},   {0, 0},   false,     "RCCL_USE_AMD_SMI_LIB",           "the links between GPUs; without it ncclInternalError"},
    /* amdsmi_loader */  {"librocshmem.so",               "libamd_smi.so",                  UNVERSIONED, {0, 0},   {0, 0},   false,     NULL,                             "the links between GPUs; without it rocSHMEM does not know them"},
    /* rocsparse.cpp */  {"librocsolver.so",              "librocsparse.so",                BY_VERSION,  {6, 0},   {0, 0},   false,     NULL,                             "sparse refactorisation, which without it is not implemented"},
    /* plug-in loader */ {"libhipdnn_backend.so",         "hipdnn_plugins/engines/lib*.so*", PLUG_IN,   {7, 11}, {0, 0},   false,     NULL,                             "an engine of hipDNN, which without what it needs is not there"},
    /* plug-in loader */ {"libhipdnn_backend.so",         "hipdnn_plugins/heuristics/lib*.so*", PLUG_IN, {7, 11}, {0, 0},  false,     NULL,                             "a heuristic of hipDNN, which without what it needs is not there"},
    /* ck_grouped_conv */ {"libMIOpen.so",                "libMIOpenCKGroupedConv_*.so",    PLUG_IN,     {7, 13}, {0, 0},   false,     NULL,                             "grouped convolutions; without it MIOpen takes slower kernels, with a warning"},
};
/* clang-format on */

const size_t rsdk_dlopen_dependency_count = sizeof rsdk_dlopen_dependencies / sizeof *rsdk_dlopen_dependencies;
