/* The search for modules, through the search path in its order: a directory with an `__init__.py` goes before a bare
 * one. An entry where nothing is found costs one system call. */
#include "sdk/package_name.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

typedef enum place_kind { NOTHING_THERE, BARE_DIRECTORY, REGULAR_PACKAGE } place_kind;

/* Return whether a path that could not be looked at is not there for an import, either: this user may not search the
 * directory, or there is nothing with this name. */
static bool is_absence(int reason) {
    return reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == ELOOP || reason == ENAMETOOLONG;
}

/* Look whether a directory is a package; *reason becomes the error of the first place that could not be asked. */
static place_kind look_at(rsdk_sdk *sdk, const char *directory, int *reason) {
    struct stat facts;
    if (stat(directory, &facts) != 0) {
        *reason = *reason != 0 || is_absence(errno) ? *reason : errno;
        return NOTHING_THERE;
    }
    const char *init = rsdk_path_join(&sdk->arena, directory, "__init__.py");
    const char *compiled = rsdk_path_join(&sdk->arena, directory, "__init__.pyc");
    bool is_regular = init != NULL && compiled != NULL && (access(init, F_OK) == 0 || access(compiled, F_OK) == 0);
    return !S_ISDIR(facts.st_mode) ? NOTHING_THERE : is_regular ? REGULAR_PACKAGE : BARE_DIRECTORY;
}

rsdk_status rsdk_module_search_find(rsdk_sdk *sdk, const char *module, const char **directory, rsdk_error *error) {
    const char *bare = NULL, *unknown = NULL;
    int reason = 0;
    for (size_t i = 0; i < sdk->search_path.count; i++) {
        const char *candidate = rsdk_path_join(&sdk->arena, sdk->search_path.items[i], module);
        RSDK_NEED(candidate, error);
        place_kind kind = look_at(sdk, candidate, &reason);
        if (kind == REGULAR_PACKAGE) {
            *directory = candidate;
            return RSDK_OK;
        }
        unknown = unknown == NULL && reason != 0 ? candidate : unknown;
        bare = bare == NULL && kind == BARE_DIRECTORY ? candidate : bare;
    }
    *directory = bare;
    for (size_t i = 0; *directory == NULL && i < sdk->modules.count; i++) {
        if (strcmp(sdk->modules.items[i].module, module) == 0) {
            *directory = sdk->modules.items[i].directory;
        }
    }
    return *directory != NULL || unknown == NULL
               ? RSDK_OK
               : rsdk_fail(error, RSDK_IO_ERROR, unknown, "%s: %s", unknown, strerror(reason));
}
