/* The names come from the tables, and the families from `_dist_info.py`. */
#include "loader/read_ahead/first_looks.h"

#include "base/path.h"
#include "sdk/open_sdk.h"
#include "sdk/package_name.h"
#include "sdk/tables.h"

/* Return the directory that has the SDK's packages, NULL: not known. */
static const char *site_of(const rsdk_sdk *sdk, rsdk_arena *arena) {
    const char *package = sdk->info.path != NULL ? rsdk_path_parent(arena, sdk->info.path) : NULL;
    return package != NULL ? rsdk_path_parent(arena, package) : NULL;
}

static const char *join(rsdk_arena *arena, const char *directory, const char *name) {
    return directory != NULL && name != NULL ? rsdk_path_join(arena, directory, name) : NULL;
}

const char *rsdk_first_looks_directory(const rsdk_sdk *sdk, rsdk_arena *arena) {
    const char *platform = join(arena, site_of(sdk, arena), rsdk_package_name_module(sdk, RSDK_CORE, NULL, arena));
    return join(arena, platform, rsdk_library_places[0].path);
}

static void look(rsdk_next_files *next, const char *path, bool reads) {
    if (path != NULL) {
        rsdk_next_files_look(next, path, reads);
    }
}

void rsdk_first_looks_give(rsdk_next_files *next, const rsdk_sdk *sdk, rsdk_arena *arena) {
    static const rsdk_package_id packages[] = {RSDK_CORE, RSDK_LIBRARIES};
    const char *site = site_of(sdk, arena);
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        const char *module = rsdk_package_name_module(sdk, packages[i], sdk->info.default_family, arena);
        const char *platform = join(arena, site, module);
        const char *pure = join(arena, site, rsdk_package_table[packages[i]].pure_module);
        if (packages[i] != RSDK_CORE) { /* the core package's directory has been read */
            look(next, join(arena, pure, "_dist_info.py"), true);
        }
        look(next, join(arena, platform, "__init__.py"), false);
        for (size_t place = 0; place < rsdk_library_place_count; place++) {
            look(next, join(arena, platform, rsdk_library_places[place].path), false);
        }
    }
}
