/* Paths as texts. */
#include "base/path.h"

#include <string.h>

char *rsdk_path_join(rsdk_arena *arena, const char *directory, const char *name) {
    const size_t name_size = strlen(name) + 1;
    char *path = rsdk_arena_alloc_room(arena, strlen(directory) + 1 + name_size);
    if (path != NULL) {
        char *end = stpcpy(path, directory);
        *end = '/';
        memcpy(end + 1, name, name_size);
    }
    return path;
}

char *rsdk_path_parent(rsdk_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return rsdk_arena_copy(arena, ".");
    }
    return rsdk_arena_copy_bytes(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *rsdk_path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

const char *rsdk_path_below(const char *path, const char *directory) {
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}
