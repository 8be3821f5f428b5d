/* The names in a directory, read once and sorted, so that asking for many names costs one scan. */
#ifndef RSDK_BASE_DIRECTORY_H
#define RSDK_BASE_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/file.h"

typedef struct rsdk_directory {
    const char *path;
    bool exists;        /* false: not there, or not a directory */
    rsdk_strings names; /* sorted by strcmp, without "." and ".." */
} rsdk_directory;

/* Read the directory. A directory that does not exist is not an error; a directory that cannot be read is. All names
 * live in `arena`. */
rsdk_status rsdk_directory_read(const char *path, rsdk_arena *arena, rsdk_directory *directory, rsdk_error *error);

bool rsdk_directory_has(const rsdk_directory *directory, const char *name);

/* Write the path of a name in a directory that is not read; return whether there is such a file. */
bool rsdk_directory_look(const char *directory, const char *name, char path[PATH_MAX]);

/* Return whether a directory that is not read has a file of this name. */
bool rsdk_directory_holds(const char *directory, const char *name);

#endif
