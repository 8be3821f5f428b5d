/* The catalog of shortnames, one library per row. A new library of a ROCm release is one more row.
 * Sources: the established loader's table (the first 28), and what AMD's bindings ask for beyond it, which is optional:
 * programs loop over the whole table, and not every SDK has these. */
#include "sdk/tables.h"

#define LIB      "lib"
#define LLVM_LIB "lib/llvm/lib"

/* clang-format off */
const rsdk_catalog_entry rsdk_library_table[] = {
    /* shortname                 package         file name                             on Windows           directory               optional  compiler */
    {"amdhip64",                 RSDK_CORE,      "libamdhip64.so*",                    "amdhip64*.dll",     LIB,                    false,    false},
    {"hipfile",                  RSDK_CORE,      "libhipfile.so*",                     "",                  LIB,                    false,    false},
    {"hiprtc",                   RSDK_CORE,      "libhiprtc.so*",                      "hiprtc0*.dll",      LIB,                    false,    false},
    {"roctx64",                  RSDK_CORE,      "libroctx64.so*",                     "",                  LIB,                    false,    false},
    {"rocprofiler-sdk",          RSDK_CORE,      "librocprofiler-sdk.so*",             "",                  LIB,                    false,    false},
    {"rocprofiler-sdk-roctx",    RSDK_CORE,      "librocprofiler-sdk-roctx.so*",       "",                  LIB,                    false,    false},
    {"roctracer64",              RSDK_CORE,      "libroctracer64.so*",                 "",                  LIB,                    false,    false},
    {"rocm_smi64",               RSDK_CORE,      "librocm_smi64.so*",                  "",                  LIB,                    false,    false},
    {"rocdecode",                RSDK_CORE,      "librocdecode.so*",                   "",                  LIB,                    false,    false},
    {"rocjpeg",                  RSDK_CORE,      "librocjpeg.so*",                     "",                  LIB,                    false,    false},
    {"amd_smi",                  RSDK_CORE,      "libamd_smi.so*",                     "",                  LIB,                    false,    false},
    {"rocm_sysdeps_liblzma",     RSDK_CORE,      "librocm_sysdeps_liblzma.so.*",       "",                  "lib/rocm_sysdeps/lib", false,    false},
    {"rocm-openblas",            RSDK_CORE,      "librocm-openblas.so.*",              "rocm-openblas*.dll","lib/host-math/lib",    false,    false},
    {"amd_comgr",                RSDK_CORE,      "libamd_comgr.so*",                   "amd_comgr*.dll",    LIB,                    false,    true},
    {"rocm_kpack",               RSDK_CORE,      "librocm_kpack.so*",                  "rocm_kpack*.dll",   LIB,                    false,    false},
    {"rocdxg",                   RSDK_CORE,      "librocdxg*.so*",                     "",                  LIB,                    true,     false},
    {"rpp",                      RSDK_LIBRARIES, "librpp.so*",                         "",                  LIB,                    false,    false},
    {"hipblas",                  RSDK_LIBRARIES, "libhipblas.so*",                     "*hipblas*.dll",     LIB,                    false,    false},
    {"hipblaslt",                RSDK_LIBRARIES, "libhipblaslt.so*",                   "*hipblaslt*.dll",   LIB,                    false,    false},
    {"hipfft",                   RSDK_LIBRARIES, "libhipfft.so*",                      "hipfft*.dll",       LIB,                    false,    false},
    {"hiprand",                  RSDK_LIBRARIES, "libhiprand.so*",                     "hiprand*.dll",      LIB,                    false,    false},
    {"hipsparse",                RSDK_LIBRARIES, "libhipsparse.so*",                   "hipsparse*.dll",    LIB,                    false,    false},
    {"hipsolver",                RSDK_LIBRARIES, "libhipsolver.so*",                   "hipsolver*.dll",    LIB,                    false,    false},
    {"hipsparselt",              RSDK_LIBRARIES, "libhipsparselt.so*",                 "",                  LIB,                    false,    false},
    {"rccl",                     RSDK_LIBRARIES, "librccl.so*",                        "",                  LIB,                    false,    false},
    {"miopen",                   RSDK_LIBRARIES, "libMIOpen.so*",                      "MIOpen*.dll",       LIB,                    false,    false},
    {"origami",                  RSDK_LIBRARIES, "liborigami.so*",                     "origami*.dll",      LIB,                    false,    false},
    {"hipdnn",                   RSDK_LIBRARIES, "libhipdnn_backend.so*",              "hipdnn_backend*.dll",LIB,                   false,    false},

    {"hiprtc-builtins",          RSDK_CORE,      "libhiprtc-builtins.so*",             "hiprtc-builtins*.dll",LIB,                  true,     false},
    {"rocblas",                  RSDK_LIBRARIES, "librocblas.so*",                     "rocblas*.dll",      LIB,                    true,     false},
    {"rocfft",                   RSDK_LIBRARIES, "librocfft.so*",                      "rocfft*.dll",       LIB,                    true,     false},
    {"rocrand",                  RSDK_LIBRARIES, "librocrand.so*",                     "rocrand*.dll",      LIB,                    true,     false},
    {"rocsolver",                RSDK_LIBRARIES, "librocsolver.so*",                   "rocsolver*.dll",    LIB,                    true,     false},
    {"rocsparse",                RSDK_LIBRARIES, "librocsparse.so*",                   "rocsparse*.dll",    LIB,                    true,     false},
    {"hsa-runtime64",            RSDK_CORE,      "libhsa-runtime64.so*",               "",                  LIB,                    true,     false},
    {"hsa-amd-aqlprofile64",     RSDK_CORE,      "libhsa-amd-aqlprofile64.so*",        "",                  LIB,                    true,     false},
    {"rocprofiler-register",     RSDK_CORE,      "librocprofiler-register.so*",        "",                  LIB,                    true,     false},
    {"amdocl64",                 RSDK_CORE,      "libamdocl64.so*",                    "amdocl64*.dll",     LIB,                    true,     false},
    {"OpenCL",                   RSDK_CORE,      "libOpenCL.so*",                      "OpenCL*.dll",       LIB,                    true,     false},
    {"LLVM",                     RSDK_CORE,      "libLLVM[-.]*so*",                    "",                  LLVM_LIB,               true,     true},
    {"clang",                    RSDK_CORE,      "libclang.so*",                       "libclang*.dll",     LLVM_LIB,               true,     true},
};
/* clang-format on */

const size_t rsdk_library_count = sizeof rsdk_library_table / sizeof *rsdk_library_table;
