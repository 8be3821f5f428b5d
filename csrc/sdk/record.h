/* The distribution that a file of the SDK belongs to, according to RECORD, the list that an installer wrote (PEP 376).
 * Asked only after something went wrong. */
#ifndef RSDK_SDK_RECORD_H
#define RSDK_SDK_RECORD_H

#include "base/arena.h"
#include "rocm_sdk/sdk.h"

/* An entry of a RECORD. */
typedef struct rsdk_recorded_file {
    const char *distribution; /* "rocm-sdk-core"; NULL: no RECORD lists such a file */
    const char *version;      /* "7.10.0", with its local part */
    const char *path;         /* absolute, whether or not the file is there */
    long long size;           /* bytes; -1: the RECORD does not say it */
    bool has_records;         /* there is a RECORD that could have listed the file */
} rsdk_recorded_file;

/* Look up `path`, an absolute path, in the RECORDs of the directory above it that has some. */
rsdk_status rsdk_record_find_path(const char *path, rsdk_arena *arena, rsdk_recorded_file *found, rsdk_error *error);

/* Look for a file that is not there and whose name matches a pattern (glob(7)), in the platform directory of a package,
 * which may be absent. *found is an entry of an earlier call, or empty. */
rsdk_status rsdk_record_find_in_package(rsdk_sdk *sdk, rsdk_package_id package, const char *pattern, rsdk_arena *arena,
                                        rsdk_recorded_file *found, rsdk_error *error);

/* Look for such a file in any platform directory. */
rsdk_status rsdk_record_find_name(rsdk_sdk *sdk, const char *pattern, rsdk_arena *arena, rsdk_recorded_file *found,
                                  rsdk_error *error);

/* Return the path in the next row of the text of a RECORD, NUL-terminated in place; *at moves to the row behind it.
 * NULL at the end, and where a quoted path does not end. */
char *rsdk_record_next_path(char **at);

#endif
