/* Names without version by which files open libraries of ROCm, and the files that a plain dlopen finds by them. */
#ifndef RSDK_BINDING_OPENED_NAMES_H
#define RSDK_BINDING_OPENED_NAMES_H

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_seen_name {
    const char *opener; /* NULL: none of the files that were asked about */
    const char *name;   /* "libamd_smi.so" */
    const char *path;   /* the file that the linker finds for the opener; NULL: none */
} rsdk_seen_name;

typedef RSDK_LIST(rsdk_seen_name) rsdk_opened_names;

/* Add a row for each such name among the constants of files, except a file's own name, and for each of `names`, which
 * somebody opens. A file that is not an ELF file has no row. Nothing is loaded. */
rsdk_status rsdk_opened_names_find(const char *const *files, size_t file_count, const char *const *names,
                                   size_t name_count, rsdk_arena *arena, rsdk_opened_names *found, rsdk_error *error);

#endif
