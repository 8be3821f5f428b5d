/* Directory listings. */
#include "base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static rsdk_status collect_names(DIR *stream, rsdk_arena *arena, rsdk_directory *directory, rsdk_error *error) {
    for (;;) {
        errno = 0;
        /* readdir is safe here: no other thread has this stream. */
        const struct dirent *entry = readdir(stream);
        if (entry == NULL) {
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            const char *name = rsdk_arena_copy(arena, entry->d_name);
            RSDK_NEED(name, error);
            RSDK_APPEND(arena, &directory->names, name, error);
        }
    }
    if (errno != 0) {
        return rsdk_fail(error, RSDK_IO_ERROR, directory->path, "%s: cannot list: %s", directory->path,
                         strerror(errno));
    }
    return RSDK_OK;
}

rsdk_status rsdk_directory_read(const char *path, rsdk_arena *arena, rsdk_directory *directory, rsdk_error *error) {
    *directory = (rsdk_directory){.path = path};
    DIR *stream = opendir(path);
    if (stream == NULL) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return RSDK_OK;
        }
        return rsdk_fail(error, errno == ENOMEM ? RSDK_NO_MEMORY : RSDK_IO_ERROR, path, "%s: cannot list: %s", path,
                         strerror(errno));
    }
    directory->exists = true;
    rsdk_status status = collect_names(stream, arena, directory, error);
    (void)closedir(stream);
    if (status == RSDK_OK && directory->names.count > 1) {
        qsort(directory->names.items, directory->names.count, sizeof *directory->names.items, compare_names);
    }
    return status;
}

bool rsdk_directory_has(const rsdk_directory *directory, const char *name) {
    return directory->names.count > 0 && bsearch(&name, directory->names.items, directory->names.count,
                                                 sizeof *directory->names.items, compare_names) != NULL;
}

bool rsdk_directory_look(const char *directory, const char *name, char path[PATH_MAX]) {
    int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return length > 0 && length < PATH_MAX && access(path, F_OK) == 0;
}

bool rsdk_directory_holds(const char *directory, const char *name) {
    char path[PATH_MAX];
    return rsdk_directory_look(directory, name, path);
}
