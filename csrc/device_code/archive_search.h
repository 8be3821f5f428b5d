/* Which kpack archive HIP takes the kernels of a library from. Source: rocm-kpack's runtime. */
#ifndef RSDK_DEVICE_CODE_ARCHIVE_SEARCH_H
#define RSDK_DEVICE_CODE_ARCHIVE_SEARCH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/name_table.h"
#include "rocm_sdk/coverage.h"
#include "rocm_sdk/device_code.h"

/* An archive that was asked for. */
typedef struct rsdk_opened_archive {
    const char *path;
    bool is_there;           /* and can be read */
    rsdk_name_table kernels; /* "lib/libx.so.1\ngfx942" for what is in it */
} rsdk_opened_archive;

/* What has been read so far, so that each archive is read once, however many libraries name it. */
typedef struct rsdk_archive_search {
    rsdk_arena *arena;
    bool is_disabled;
    const char *only, *first; /* ROCM_KPACK_PATH and ROCM_KPACK_PATH_PREFIX; NULL: not set */
    RSDK_LIST(rsdk_opened_archive) opened;
    rsdk_name_table places; /* of those in `opened`, by path */
    rsdk_error *error;
} rsdk_archive_search;

typedef struct rsdk_found_kernels {
    const char *target; /* of the kernels; NULL: there are none */
    rsdk_coverage_lack lack;
    const char *path; /* the archive that is not there, or has no kernels of the library */
} rsdk_found_kernels;

/* Looks for the kernels of a library, which lies at `path`, as HIP does for a GPU. */
rsdk_status rsdk_archive_search_find(rsdk_archive_search *search, const char *path,
                                     const rsdk_kernel_reference *kernels, const char *gpu, rsdk_found_kernels *found);

#endif
