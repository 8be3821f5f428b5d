/* A walk through the packages, without recursion, and without following links. */
#include "sdk/further_libraries.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "base/path.h"
#include "sdk/open_sdk.h"
#include "sdk/tables.h"

enum { DIRECTORY_LIMIT = 4096 };

typedef struct pending {
    const char *path, *package; /* the directory, and the package's */
    rsdk_package_id id;
} pending;

typedef RSDK_LIST(pending) pending_list;

/* Return whether a directory, named by its path below the package's, is private or below a private one. */
static bool is_private(const char *below) {
    for (size_t i = 0; below != NULL && i < rsdk_library_place_count; i++) {
        const char *root = rsdk_library_places[i].private_root;
        const size_t length = root != NULL ? strlen(root) : 0;
        if (length > 0 && strncmp(below, root, length) == 0 && (below[length] == '/' || below[length] == '\0')) {
            return true;
        }
    }
    return false;
}

bool rsdk_library_is_searched(const char *path, bool is_for_files) {
    const char *below = NULL;
    for (const char *next = strstr(path, "/_rocm"); next != NULL; next = strstr(next + 1, "/_rocm")) {
        below = strchr(next + 1, '/');
    }
    for (size_t i = 0; below != NULL && i < rsdk_library_place_count; i++) {
        const char *place = rsdk_library_places[i].path, *end = below + 1 + strlen(place);
        if (strncmp(below + 1, place, strlen(place)) == 0 && end == rsdk_path_name(path) - 1) {
            return true;
        }
    }
    return below == NULL || (is_for_files && !is_private(below + 1));
}

static bool is_directory(int stream, const struct dirent *entry) {
    struct stat facts;
    if (entry->d_type != DT_UNKNOWN) {
        return entry->d_type == DT_DIR;
    }
    return fstatat(stream, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

/* Take an entry. The first of several files of a name counts. */
static rsdk_status take_entry(rsdk_inventory *inventory, const pending *at, const struct dirent *entry, int stream,
                              pending_list *list, rsdk_error *error) {
    const char *name = entry->d_name;
    size_t place = inventory->further.count;
    const bool is_below = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && is_directory(stream, entry);
    const bool is_new =
        strstr(name, ".so") != NULL && !rsdk_name_table_find(&inventory->further_places, name, strlen(name), &place);
    if (!is_below && !is_new) {
        return RSDK_OK;
    }
    const char *path = rsdk_path_join(inventory->arena, at->path, name);
    RSDK_NEED(path, error);
    if (is_below && list->count < DIRECTORY_LIMIT) {
        RSDK_APPEND(inventory->arena, list, ((pending){path, at->package, at->id}), error);
    } else if (!is_below) {
        const char *key = rsdk_path_name(path);
        RSDK_TRY(rsdk_name_table_set(&inventory->further_places, inventory->arena, key, strlen(key), place, error));
        RSDK_APPEND(inventory->arena, &inventory->further, ((rsdk_linker_name){path, at->id}), error);
    }
    return RSDK_OK;
}

static bool is_of_packages(const char *name) {
    static const char *const beginnings[] = {"_rocm_sdk_", "_rocm_profiler"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) {
            return strstr(name, "devel") == NULL;
        }
    }
    return false;
}

/* List packages with libraries first, then all others beside core. */
static rsdk_status list_packages(rsdk_inventory *inventory, pending_list *list, rsdk_error *error) {
    const char *core = NULL;
    for (size_t i = 0; i < rsdk_library_package_count; i++) {
        const char *path = NULL;
        rsdk_error reason = RSDK_ERROR_INIT;
        const rsdk_status status = rsdk_sdk_package_directory(inventory->sdk, rsdk_library_packages[i], &path, &reason);
        rsdk_error_clear(&reason);
        if (status == RSDK_NO_MEMORY) {
            return rsdk_fail_no_memory(error);
        }
        if (status == RSDK_OK) {
            core = core == NULL ? path : core;
            RSDK_APPEND(inventory->arena, list, ((pending){path, path, rsdk_library_packages[i]}), error);
        }
    }
    if (core == NULL) {
        return RSDK_OK;
    }
    rsdk_directory beside;
    rsdk_error reason = RSDK_ERROR_INIT;
    const char *site = rsdk_path_parent(inventory->arena, core);
    RSDK_NEED(site, error);
    const rsdk_status status = rsdk_directory_read(site, inventory->arena, &beside, &reason);
    rsdk_error_clear(&reason);
    for (size_t i = 0; status == RSDK_OK && i < beside.names.count; i++) {
        if (is_of_packages(beside.names.items[i])) {
            const char *path = rsdk_path_join(inventory->arena, site, beside.names.items[i]);
            RSDK_NEED(path, error);
            RSDK_APPEND(inventory->arena, list, ((pending){path, path, RSDK_DEVICE}), error);
        }
    }
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}

rsdk_status rsdk_further_libraries_find(rsdk_inventory *inventory, const char *name, const char **path,
                                        rsdk_package_id *package, rsdk_error *error) {
    size_t place = 0;
    *path = NULL;
    if (!inventory->has_further && rsdk_sdk_fallback(inventory->sdk) == NULL) {
        pending_list list = {0};
        RSDK_TRY(list_packages(inventory, &list, error));
        /* Walk through directories. A directory that cannot be listed has nothing. */
        rsdk_status status = RSDK_OK;
        for (size_t i = 0; status == RSDK_OK && i < list.count; i++) {
            const pending at = list.items[i];
            DIR *stream = is_private(rsdk_path_below(at.path, at.package)) ? NULL : opendir(at.path);
            const struct dirent *entry = NULL;
            while (stream != NULL && status == RSDK_OK &&
                   (entry = readdir(stream)) != NULL) { /* no other thread has it */
                status = take_entry(inventory, &at, entry, dirfd(stream), &list, error);
            }
            if (stream != NULL) {
                (void)closedir(stream);
            }
        }
        RSDK_TRY(status);
    }
    inventory->has_further = true;
    if (rsdk_name_table_find(&inventory->further_places, name, strlen(name), &place)) {
        *path = inventory->further.items[place].path;
        *package = inventory->further.items[place].package;
    }
    return RSDK_OK;
}
