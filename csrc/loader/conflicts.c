/* The checks. The SDK's own copies of host libraries are left out: a process may well have the host's, too. */
#include "loader/conflicts.h"

#include <string.h>

#include "base/path.h"
#include "loader/memory_object.h"

/* Find the origin of a loaded file. The files of the process are read once. */
static rsdk_status who_brought(const rsdk_conflicts *c, const char *path, rsdk_origin *origin, rsdk_error *error) {
    rsdk_origins *origins = c->origins;
    if (origins->arena == NULL) {
        origins->arena = c->graph->arena;
        origins->library_path = *c->library_path;
        RSDK_TRY(rsdk_origins_add_preloaded(origins, c->ld_preload, error));
        for (size_t i = 0; i < c->graph->map->objects.count; i++) {
            RSDK_APPEND(origins->arena, &origins->mapped, c->graph->map->objects.items[i].path, error);
        }
    }
    return rsdk_origins_find(origins, path, origin, error);
}

/* Return the remedy against a library that is used instead of the SDK's, or beside it. A profiler is there on
 * purpose. */
static const char *what_helps(const rsdk_origin *origin, const char *else_helps) {
    return origin->kind == RSDK_ORIGIN_PROFILER ? "use the rocprofv3 of this SDK" : else_helps;
}

static bool is_private_copy(const rsdk_conflicts *c, const char *sdk_path) {
    return rsdk_inventory_is_private(c->graph->inventory, sdk_path);
}

rsdk_status rsdk_conflicts_check_namesake(const rsdk_conflicts *conflicts, const char *soname, const char *loaded_path,
                                          const char *sdk_path, rsdk_error *error) {
    if (is_private_copy(conflicts, sdk_path)) {
        return RSDK_OK;
    }
    rsdk_origin origin;
    RSDK_TRY(who_brought(conflicts, loaded_path, &origin, error));
    return rsdk_warnings_add(conflicts->warnings, RSDK_WARNING_CONFLICT, error,
                             "%s is already loaded from %s, brought in by %s; it is used instead of the SDK's %s: %s",
                             soname, loaded_path, origin.text, sdk_path,
                             what_helps(&origin, "remove it from there, or initialise ROCm first"));
}

/* Check whether the same library in another version is in the process: both will be there, and their symbols may
 * mix. */
static rsdk_status check_other_version(const rsdk_conflicts *c, const rsdk_node *node, rsdk_error *error) {
    const char *soname = node->file->soname;
    if (soname == NULL || is_private_copy(c, node->location.path)) {
        return RSDK_OK;
    }
    const rsdk_mapped_object *object = rsdk_link_map_find_library(c->graph->map, soname);
    for (; object != NULL; object = rsdk_link_map_next_of_library(c->graph->map, object)) {
        if (object->path[0] == '/' && strcmp(object->soname, soname) != 0 &&
            !rsdk_memory_object_has_path(object->path)) {
            rsdk_origin origin;
            RSDK_TRY(who_brought(c, object->path, &origin, error));
            return rsdk_warnings_add(
                c->warnings, RSDK_WARNING_CONFLICT, error,
                "%s is already loaded from %s, brought in by %s; the SDK's %s is another version of it, and the "
                "process will have both: %s",
                object->soname, object->path, origin.text, node->location.path,
                what_helps(&origin, "remove the other one"));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_conflicts_check_members(const rsdk_conflicts *conflicts, const size_t *nodes, size_t count,
                                         rsdk_error *error) {
    for (size_t i = 0; i < count; i++) {
        const rsdk_node *node = conflicts->graph->nodes.items[nodes[i]];
        RSDK_TRY(check_other_version(conflicts, node, error));
        for (size_t j = 0; j < node->edges.count; j++) {
            if (node->edges.items[j].kind == RSDK_EDGE_LOADED) {
                /* A needed library of the SDK, where the process has another file with its SONAME. */
                const rsdk_edge *edge = &node->edges.items[j];
                const char *path = NULL;
                rsdk_package_id package;
                rsdk_file_identity own, loaded;
                RSDK_TRY(rsdk_inventory_find(conflicts->graph->inventory, node->location.path, edge->name, &path,
                                             &package, error));
                if (path != NULL && strcmp(path, edge->path) != 0) {
                    bool is_same = !is_private_copy(conflicts, path) && rsdk_file_identify(path, &own) &&
                                   rsdk_file_identify(edge->path, &loaded) && rsdk_file_same(own, loaded);
                    RSDK_TRY(is_same ? RSDK_OK
                                     : rsdk_conflicts_check_namesake(conflicts, edge->name, edge->path, path, error));
                }
            }
        }
    }
    return RSDK_OK;
}
