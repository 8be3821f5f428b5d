/* The packages of the SDK, one per row, and where in a platform directory libraries lie. Source: the packager's package
 * table. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_package_entry rsdk_package_table[RSDK_PACKAGE_COUNT] = {
    /*                   name         distribution                           module                template directory    required */
    [RSDK_META]      = {"meta",      "rocm",                                "rocm_sdk",           "rocm",                true},
    [RSDK_CORE]      = {"core",      "rocm-sdk-core",                       "rocm_sdk_core",      "rocm-sdk-core",       true},
    [RSDK_LIBRARIES] = {"libraries", "rocm-sdk-libraries-{target_family}",  "rocm_sdk_libraries", "rocm-sdk-libraries",  false},
    [RSDK_DEVICE]    = {"device",    "rocm-sdk-device-{target_family}",     "rocm_sdk_device",    "rocm-sdk-device",     false},
    [RSDK_DEVEL]     = {"devel",     "rocm-sdk-devel",                      "rocm_sdk_devel",     "rocm-sdk-devel",      false},
    [RSDK_PROFILER]  = {"profiler",  "rocm-profiler",                       "rocm_profiler",      "rocm-profiler",       false},
};

/* The directories of libraries in the order in which they are searched. Host libraries are copies of libraries that
 * systems have too; so are LLVM, libomp and libelf, which lie in private directories. */
const rsdk_library_place rsdk_library_places[] = {
    /* directory               holds host libraries   private */
    {"lib",                    false,                 NULL},
    {"lib/rocm_sysdeps/lib",   true,                  "lib/rocm_sysdeps"},
    {"lib/host-math/lib",      false,                 NULL},
    {"lib/llvm/lib",           false,                 "lib/llvm"},
};
/* clang-format on */

const size_t rsdk_library_place_count = sizeof rsdk_library_places / sizeof *rsdk_library_places;

/* Packages whose libraries may need each other's. The development tree repeats their files, so it is not one of them.
 */
const rsdk_package_id rsdk_library_packages[] = {RSDK_CORE, RSDK_LIBRARIES, RSDK_PROFILER};

const size_t rsdk_library_package_count = sizeof rsdk_library_packages / sizeof *rsdk_library_packages;
