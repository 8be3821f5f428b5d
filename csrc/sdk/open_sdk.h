/* An open SDK as the files of this directory share it. Others use the functions only. */
#ifndef RSDK_SDK_OPEN_SDK_H
#define RSDK_SDK_OPEN_SDK_H

#include "base/arena.h"
#include "base/name_table.h"
#include "rocm_sdk/sdk.h"
#include "sdk/dist_info.h"

/* The known facts of one package. */
typedef struct rsdk_package_state {
    bool is_searched;
    const char *module;    /* NULL: a package without a platform directory */
    const char *directory; /* NULL: not installed */
} rsdk_package_state;

/* A file that takes the place of a library of the catalog. */
typedef struct rsdk_override {
    const rsdk_catalog_entry *entry;
    const char *path, *source;
} rsdk_override;

/* A ROCm that is not a package: everything below one directory. */
typedef struct rsdk_fallback {
    const char *place;             /* as asked for; NULL: the SDK is installed */
    const char *library_directory; /* in place of "lib" */
    const char *source;            /* the source of a wish for places that have no SDK; NULL: none */
    const char *in_vain;           /* the same with the places, as the end of a sentence */
} rsdk_fallback;

/* The directory that is the whole search path. */
typedef struct rsdk_root {
    const char *path;   /* NULL: none was chosen */
    const char *source; /* the source of the choice */
} rsdk_root;

struct rsdk_sdk {
    rsdk_arena arena;
    rsdk_strings search_path; /* absolute */
    RSDK_LIST(rsdk_module_location) modules;
    RSDK_LIST(rsdk_override) overrides;
    rsdk_root root;
    rsdk_fallback fallback;
    const char *wanted_family;    /* NULL: none */
    const rsdk_gpu_options *gpus; /* borrowed; NULL: none */
    rsdk_dist_info info;
    uint64_t answer_time; /* nanoseconds of the reading of `info`; of all look-ups if there are several */
    const char *version;
    rsdk_package_state packages[RSDK_PACKAGE_COUNT];
    bool has_build_info[RSDK_PACKAGE_COUNT];
    rsdk_build_info build_info[RSDK_PACKAGE_COUNT];
    rsdk_unique_strings kept; /* rsdk_sdk_keep */
    rsdk_unique_strings warnings;
};

/* Return the same text as a copy that lives as long as the SDK is open: each text is kept once. NULL: memory is short,
 * or `text` is NULL. */
const char *rsdk_sdk_keep(rsdk_sdk *sdk, const char *text);

/* Remember a sentence for the user, each once; it is dropped when out of memory. */
void rsdk_sdk_warn(rsdk_sdk *sdk, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
