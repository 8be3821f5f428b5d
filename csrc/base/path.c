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

char *rsdk_path_without_dots(rsdk_arena *arena, const char *path) {
    char *plain = rsdk_arena_copy(arena, path), *end = plain;
    if (plain == NULL || path[0] != '/') {
        return plain;
    }
    for (const char *part = path + strspn(path, "/"); *part != '\0'; part += strspn(part, "/")) {
        size_t length = strcspn(part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0) {
            while (end > plain && *--end != '/') {
            }
        } else if (length != 1 || *part != '.') {
            *end++ = '/';
            memmove(end, part, length);
            end += length;
        }
        part += length;
    }
    if (end == plain) {
        *end++ = '/';
    }
    *end = '\0';
    return plain;
}

const char *rsdk_path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

const char *rsdk_path_below(const char *path, const char *directory) {
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}
