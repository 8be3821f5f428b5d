/* `_dist_info.py` of an installed SDK: version, nonce and target families, parsed from the file's text and never
 * executed. The file consists of a template and the lines that the packager appends (packaging specification, 2.2). */
#ifndef RSDK_SDK_DIST_INFO_H
#define RSDK_SDK_DIST_INFO_H

#include "base/arena.h"
#include "base/file.h"
#include "rocm_sdk/error.h"
#include "rocm_sdk/sdk.h"

typedef struct rsdk_dist_info {
    const char *path;
    rsdk_file_identity identity;
    const char *version;        /* NULL where the file gives none */
    const char *nonce;          /* "" where it gives none */
    const char *default_family; /* NULL: none */
    rsdk_strings families[RSDK_FAMILY_LIST_COUNT];
    const char *libraries_template; /* NULL where the file does not override the distribution name of the libraries */
} rsdk_dist_info;

/* Read the file: RSDK_FILE_NOT_FOUND, RSDK_IO_ERROR, or RSDK_BAD_METADATA with file and line. */
rsdk_status rsdk_dist_info_read(const char *path, rsdk_arena *arena, rsdk_dist_info *info, rsdk_error *error);

/* Read the same from a text already in memory; `path` is for messages. */
rsdk_status rsdk_dist_info_parse(const char *path, const char *text, size_t length, rsdk_arena *arena,
                                 rsdk_dist_info *info, rsdk_error *error);

/* `share/therock/dist_info.json`, and `libraries_dist_info.json` of the package of libraries: the targets and options
 * that an SDK was built for, and without. */

typedef struct rsdk_build_info {
    const char *targets; /* `;`-joined, "" where the file does not say */
    rsdk_strings absent_libraries;
} rsdk_build_info;

/* Read the file; a file that is not there gives an empty *info. RSDK_BAD_METADATA where the file is not a JSON object,
 * or the values are not of their types. */
rsdk_status rsdk_build_info_read(const char *path, rsdk_arena *arena, rsdk_build_info *info, rsdk_error *error);

#endif
