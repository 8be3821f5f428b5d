/* The catalog of shortnames, one library per row. A new library of a ROCm release is one more row. Sources: the
 * established loader's table (the first 28), and the libraries that AMD's bindings ask for beyond it, which are
 * optional: programs loop over the whole table, and not every SDK has these. */
#include "sdk/tables.h"

#define LIB      "lib"
#define LLVM_LIB "lib/llvm/lib"

/* clang-format off */
const rsdk_catalog_entry rsdk_library_table[] = {
    /* shortname                 package         file name                             on Windows           directory               optional  opened as libx.so by */
    {"amdhip64",                 RSDK_CORE,      "libamdhip64.so*",                    "amdhip64*.dll",     LIB,                    false,    "clients that open HIP at run time"},
    {"hipfile",                  RSDK_CORE,      "libhipfile.so*",                     "",                  LIB,                    false,    NULL},
    {"hiprtc",                   RSDK_CORE,      "libhiprtc.so*",                      "hiprtc0*.dll",      LIB,                    false,    "clients that open HIP at run time"},
    {"roctx64",                  RSDK_CORE,      "libroctx64.so*",                     "",                  LIB,                    false,    "Triton's Proton"},
    {"rocprofiler-sdk",          RSDK_CORE,      "librocprofiler-sdk.so*",             "",                  LIB,                    false,    NULL},
    {"rocprofiler-sdk-roctx",    RSDK_CORE,      "librocprofiler-sdk-roctx.so*",       "",                  LIB,                    false,    NULL},
    {"roctracer64",              RSDK_CORE,      "libroctracer64.so*",                 "",                  LIB,                    false,    NULL},
    {"rocm_smi64",               RSDK_CORE,      "librocm_smi64.so*",                  "",                  LIB,                    false,    "Slurm, JAX, btop"},
    {"rocdecode",                RSDK_CORE,      "librocdecode.so*",                   "",                  LIB,                    false,    NULL},
    {"rocjpeg",                  RSDK_CORE,      "librocjpeg.so*",                     "",                  LIB,                    false,    NULL},
    {"amd_smi",                  RSDK_CORE,      "libamd_smi.so*",                     "",                  LIB,                    false,    "PyPI's amdsmi, torch's IntraNodeComm"},
    {"rocm_sysdeps_liblzma",     RSDK_CORE,      "librocm_sysdeps_liblzma.so.*",       "",                  "lib/rocm_sysdeps/lib", false,    NULL},
    {"rocm-openblas",            RSDK_CORE,      "librocm-openblas.so.*",              "rocm-openblas*.dll","lib/host-math/lib",    false,    NULL},
    {"amd_comgr",                RSDK_CORE,      "libamd_comgr.so*",                   "amd_comgr*.dll",    LIB,                    false,    NULL},
    {"rocm_kpack",               RSDK_CORE,      "librocm_kpack.so*",                  "rocm_kpack*.dll",   LIB,                    false,    NULL},
    {"rocdxg",                   RSDK_CORE,      "librocdxg*.so*",                     "",                  LIB,                    true,     NULL},
    {"rpp",                      RSDK_LIBRARIES, "librpp.so*",                         "",                  LIB,                    false,    NULL},
    {"hipblas",                  RSDK_LIBRARIES, "libhipblas.so*",                     "*hipblas*.dll",     LIB,                    false,    NULL},
    {"hipblaslt",                RSDK_LIBRARIES, "libhipblaslt.so*",                   "*hipblaslt*.dll",   LIB,                    false,    NULL},
    {"hipfft",                   RSDK_LIBRARIES, "libhipfft.so*",                      "hipfft*.dll",       LIB,                    false,    NULL},
    {"hiprand",                  RSDK_LIBRARIES, "libhiprand.so*",                     "hiprand*.dll",      LIB,                    false,    NULL},
    {"hipsparse",                RSDK_LIBRARIES, "libhipsparse.so*",                   "hipsparse*.dll",    LIB,                    false,    NULL},
    {"hipsolver",                RSDK_LIBRARIES, "libhipsolver.so*",                   "hipsolver*.dll",    LIB,                    false,    NULL},
    {"hipsparselt",              RSDK_LIBRARIES, "libhipsparselt.so*",                 "",                  LIB,                    false,    NULL},
    {"rccl",                     RSDK_LIBRARIES, "librccl.so*",                        "",                  LIB,                    false,    "clients that open RCCL at run time"},
    {"miopen",                   RSDK_LIBRARIES, "libMIOpen.so*",                      "MIOpen*.dll",       LIB,                    false,    NULL},
    {"origami",                  RSDK_LIBRARIES, "liborigami.so*",                     "origami*.dll",      LIB,                    false,    NULL},
    {"hipdnn",                   RSDK_LIBRARIES, "libhipdnn_backend.so*",              "hipdnn_backend*.dll",LIB,                   false,    NULL},

    {"hiprtc-builtins",          RSDK_CORE,      "libhiprtc-builtins.so*",             "hiprtc-builtins*.dll",LIB,                  true,     NULL},
    {"rocblas",                  RSDK_LIBRARIES, "librocblas.so*",                     "rocblas*.dll",      LIB,                    true,     NULL},
    {"rocfft",                   RSDK_LIBRARIES, "librocfft.so*",                      "rocfft*.dll",       LIB,                    true,     NULL},
    {"rocrand",                  RSDK_LIBRARIES, "librocrand.so*",                     "rocrand*.dll",      LIB,                    true,     NULL},
    {"rocsolver",                RSDK_LIBRARIES, "librocsolver.so*",                   "rocsolver*.dll",    LIB,                    true,     NULL},
    {"rocsparse",                RSDK_LIBRARIES, "librocsparse.so*",                   "rocsparse*.dll",    LIB,                    true,     NULL},
    {"hsa-runtime64",            RSDK_CORE,      "libhsa-runtime64.so*",               "",                  LIB,                    true,     NULL},
    {"hsa-amd-aqlprofile64",     RSDK_CORE,      "libhsa-amd-aqlprofile64.so*",        "",                  LIB,                    true,     NULL},
    {"rocprofiler-register",     RSDK_CORE,      "librocprofiler-register.so*",        "",                  LIB,                    true,     NULL},
    {"amdocl64",                 RSDK_CORE,      "libamdocl64.so*",                    "amdocl64*.dll",     LIB,                    true,     NULL},
    {"OpenCL",                   RSDK_CORE,      "libOpenCL.so*",                      "OpenCL*.dll",       LIB,                    true,     NULL},
    {"LLVM",                     RSDK_CORE,      "libLLVM[-.]*so*",                    "",                  LLVM_LIB,               true,     NULL},
    {"clang",                    RSDK_CORE,      "libclang.so*",                       "libclang*.dll",     LLVM_LIB,               true,     NULL},
};

/* Libraries that the SDK may lack from a release on: packages of that release have them, or no longer have them. */
const rsdk_leaving_library rsdk_leaving_libraries[] = {
    /* shortname     since     successor */
    {"rocm_smi64", {10, 1}, "libamd_smi"},
};
/* clang-format on */

const size_t rsdk_library_count = sizeof rsdk_library_table / sizeof *rsdk_library_table;
const size_t rsdk_leaving_library_count = sizeof rsdk_leaving_libraries / sizeof *rsdk_leaving_libraries;
