/* Files that the process has loaded, by their names: where the linker found each, and its build ID. Nothing is read
 * from the disk. */
#ifndef RSDK_LOADER_LOADED_FILES_H
#define RSDK_LOADER_LOADED_FILES_H

#include <stddef.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"
#include "rocm_sdk/loader.h"

typedef struct rsdk_loaded_file {
    const char *name;      /* the last part of its path */
    const char *shortname; /* NULL without one */
    const char *path;      /* the path as the linker knows it; NULL: the file is not loaded */
    const char *build_id;  /* hexadecimal (the note NT_GNU_BUILD_ID, elf(5)); NULL without one */
} rsdk_loaded_file;

/* Read the files that a load has opened, with all that came with them, each name once. */
rsdk_status rsdk_loaded_files_read(const rsdk_loaded *loaded, rsdk_arena *arena, rsdk_loaded_file **files,
                                   size_t *count, rsdk_error *error);

#endif
