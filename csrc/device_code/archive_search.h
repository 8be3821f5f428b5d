/* The kpack archive from which HIP takes the kernels of a library. Source: rocm-kpack's runtime. */
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
    rsdk_name_table kernels; /* "lib/libx.so.1#0\ngfx942" for each of its images, and "\ngfx942" for each target */
} rsdk_opened_archive;

/* The archives that have been read so far: each is read once, however many libraries name it. */
typedef struct rsdk_archive_search {
    rsdk_arena *arena;
    bool is_disabled;
    const char *only, *first; /* ROCM_KPACK_PATH and ROCM_KPACK_PATH_PREFIX; NULL: not set */
    RSDK_LIST(rsdk_opened_archive) opened;
    rsdk_name_table places; /* the places in `opened`, by path */
    rsdk_error *error;
} rsdk_archive_search;

typedef struct rsdk_found_kernels {
    const char *target;    /* the kernels' target, the one that is sought last; NULL: there are none */
    size_t covered, total; /* bundles that have kernels, of all; 1 where their number is not known */
    size_t late;           /* bundles that only an archive has which is opened after another one for the target */
    rsdk_coverage_lack lack;
    const char *path; /* the archive that is not there, or has no kernels of the library */
} rsdk_found_kernels;

/* Look for the kernels of a library, which lies at `path`, as HIP does for a GPU, bundle by bundle. */
rsdk_status rsdk_archive_search_find(rsdk_archive_search *search, const char *path,
                                     const rsdk_kernel_reference *kernels, const char *gpu, rsdk_found_kernels *found);

#endif
