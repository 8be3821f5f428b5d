/* Names are looked for where they are listed; the file system is asked about the rest. */
#include "binding/host_objects.h"

#include <string.h>

#include "base/path.h"
#include "elf/soname.h"
#include "sdk/further_libraries.h"
#include "sdk/inventory.h"
#include "sdk/tables.h"

static rsdk_status add_name(rsdk_name_table *names, const rsdk_host_places *places, const char *name, size_t length,
                            size_t place, rsdk_error *error) {
    return rsdk_name_table_set(names, places->objects->arena, name, length, place, error);
}

rsdk_status rsdk_host_places_add_own(rsdk_host_places *places, const char *path, rsdk_error *error) {
    const char *name = rsdk_path_name(path);
    rsdk_host_object *o = NULL;
    RSDK_TRY(rsdk_host_objects_find(places->objects, path, &o, error));
    if (o->is_other) {
        return RSDK_OK;
    }
    const char *soname = o->is_read ? o->file.soname : NULL;
    RSDK_TRY(add_name(&places->own_names, places, name, strlen(name), places->own.count, error));
    if (soname != NULL) {
        RSDK_TRY(add_name(&places->own_names, places, soname, strlen(soname), places->own.count, error));
    }
    RSDK_APPEND(places->objects->arena, &places->own, path, error);
    return RSDK_OK;
}

rsdk_status rsdk_host_places_add_library(rsdk_host_places *places, const char *path, rsdk_error *error) {
    const char *name = rsdk_path_name(path);
    size_t place = places->libraries.count, known = 0;
    if (!rsdk_library_is_searched(path, false) &&
        rsdk_name_table_find(&places->library_names, name, strlen(name), &known)) {
        return RSDK_OK; /* the one that the loader finds counts */
    }
    RSDK_TRY(add_name(&places->library_names, places, name, strlen(name), place, error));
    RSDK_TRY(add_name(&places->linker_names, places, name, rsdk_soname_linker_name_length(name), place, error));
    RSDK_APPEND(places->objects->arena, &places->libraries, path, error);
    return RSDK_OK;
}

/* Return the SDK's library of a name, in whatever version; NULL: the SDK has none. */
static const char *find_any_version(const rsdk_host_places *places, const char *name) {
    size_t place = 0;
    bool is_there = rsdk_name_table_find(&places->linker_names, name, rsdk_soname_linker_name_length(name), &place);
    return is_there ? places->libraries.items[place] : NULL;
}

rsdk_status rsdk_host_places_find_in_sdk(rsdk_host_places *places, const char *name, const char **path,
                                         rsdk_error *error) {
    size_t place = 0;
    rsdk_host_object *o = NULL;
    *path = NULL;
    if (rsdk_name_table_find(&places->library_names, name, strlen(name), &place)) {
        *path = places->libraries.items[place];
        return RSDK_OK;
    }
    const char *other = find_any_version(places, name);
    if (other != NULL) {
        RSDK_TRY(rsdk_host_objects_find(places->objects, other, &o, error));
        *path = o->is_read && o->file.soname != NULL && strcmp(o->file.soname, name) == 0 ? other : NULL;
    }
    return RSDK_OK;
}

rsdk_status rsdk_host_places_find(rsdk_host_places *places, const rsdk_load_chain *chain, rsdk_host_need *need,
                                  rsdk_error *error) {
    size_t place = 0;
    need->place = RSDK_PLACE_NOWHERE;
    need->path = NULL;
    if (rsdk_name_table_find(&places->own_names, need->name, strlen(need->name), &place)) {
        need->place = RSDK_PLACE_BUNDLED;
        need->path = places->own.items[place];
        return RSDK_OK;
    }
    if (rsdk_name_table_find(&places->library_names, need->name, strlen(need->name), &place)) {
        need->place = RSDK_PLACE_SDK;
        need->path = places->libraries.items[place];
        return RSDK_OK;
    }
    const rsdk_load_chain nothing = {0};
    const char *of_system = NULL;
    if (strchr(need->name, '/') == NULL) {
        RSDK_TRY(
            rsdk_linker_search_find(places->search, chain != NULL ? chain : &nothing, need->name, &need->path, error));
        RSDK_TRY(rsdk_linker_search_find_in_system(places->search, need->name, &of_system, error));
        if (need->path != NULL) {
            bool is_system = of_system != NULL && strcmp(need->path, of_system) == 0;
            need->place = is_system ? RSDK_PLACE_SYSTEM : RSDK_PLACE_RPATH;
        }
    }
    if (need->place == RSDK_PLACE_NOWHERE && rsdk_catalog_is_of_rocm(need->name)) {
        RSDK_TRY(rsdk_host_places_find_in_sdk(places, need->name, &need->path, error));
        need->place = need->path != NULL ? RSDK_PLACE_SDK : RSDK_PLACE_NOWHERE;
    }
    if (need->place == RSDK_PLACE_NOWHERE && rsdk_catalog_is_of_rocm(need->name)) {
        need->path = find_any_version(places, need->name);
        need->place = need->path != NULL ? RSDK_PLACE_OTHER_VERSION : RSDK_PLACE_NOWHERE;
    }
    return RSDK_OK;
}

const char *rsdk_need_place_name(rsdk_need_place place) {
    static const char *const names[] = {[RSDK_PLACE_BUNDLED] = "bundled",
                                        [RSDK_PLACE_SDK] = "SDK",
                                        [RSDK_PLACE_OTHER_VERSION] = "other version",
                                        [RSDK_PLACE_RPATH] = "RPATH",
                                        [RSDK_PLACE_SYSTEM] = "system",
                                        [RSDK_PLACE_BESIDE] = "beside",
                                        [RSDK_PLACE_OTHER_RELEASE] = "other release",
                                        [RSDK_PLACE_NOWHERE] = "nowhere"};
    return names[place];
}
