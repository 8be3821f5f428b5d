/* `share/therock/dist_info.json`, and `libraries_dist_info.json` of the package of libraries: the targets and options
 * that an SDK was built for, and without. */
#ifndef RSDK_SDK_BUILD_INFO_H
#define RSDK_SDK_BUILD_INFO_H

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_build_info {
    const char *targets; /* `;`-joined, "" where the file does not say */
    rsdk_strings absent_libraries;
} rsdk_build_info;

/* Read the file; a file that is not there gives an empty *info. RSDK_BAD_METADATA where the file is not a JSON object,
 * or the values are not of their types. */
rsdk_status rsdk_build_info_read(const char *path, rsdk_arena *arena, rsdk_build_info *info, rsdk_error *error);

#endif
