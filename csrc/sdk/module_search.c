/* The search for modules, through the search path in its order: a directory with an `__init__.py` goes before a bare
 * one. An entry where nothing is found costs one system call. */
#include "sdk/package_name.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

typedef enum place_kind { NOTHING_THERE, BARE_DIRECTORY, REGULAR_PACKAGE } place_kind;

static place_kind look_at(rsdk_sdk *sdk, const char *directory) {
    struct stat facts;
    if (stat(directory, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        return NOTHING_THERE;
    }
    const char *init = rsdk_path_join(&sdk->arena, directory, "__init__.py");
    const char *compiled = rsdk_path_join(&sdk->arena, directory, "__init__.pyc");
    bool is_regular = init != NULL && compiled != NULL && (access(init, F_OK) == 0 || access(compiled, F_OK) == 0);
    return is_regular ? REGULAR_PACKAGE : BARE_DIRECTORY;
}

rsdk_status rsdk_module_search_find(rsdk_sdk *sdk, const char *module, const char **directory, rsdk_error *error) {
    const char *bare = NULL;
    for (size_t i = 0; i < sdk->search_path.count; i++) {
        const char *candidate = rsdk_path_join(&sdk->arena, sdk->search_path.items[i], module);
        RSDK_NEED(candidate, error);
        place_kind kind = look_at(sdk, candidate);
        if (kind == REGULAR_PACKAGE) {
            *directory = candidate;
            return RSDK_OK;
        }
        bare = bare == NULL && kind == BARE_DIRECTORY ? candidate : bare;
    }
    *directory = bare;
    for (size_t i = 0; *directory == NULL && i < sdk->modules.count; i++) {
        if (strcmp(sdk->modules.items[i].module, module) == 0) {
            *directory = sdk->modules.items[i].directory;
        }
    }
    return RSDK_OK;
}
