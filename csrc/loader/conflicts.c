/* Conflicts: libraries of the SDK that the process has from somewhere else, or in another version. Warnings are
 * collected in the plan; they are issued once all loading is over. */
#include "loader/conflicts.h"

#include <stdlib.h>
#include <string.h>

#include "loader/memory_object.h"

static const char *who_brought(const rsdk_plan *plan, const char *path) {
    const char *preload = getenv("LD_PRELOAD"); /* wrong at worst in a guess */
    if (preload != NULL && strstr(preload, rsdk_path_name(path)) != NULL) {
        return "LD_PRELOAD";
    }
    for (size_t i = 0; i < plan->search.library_path.count; i++) {
        size_t length = strlen(plan->search.library_path.items[i]);
        if (strncmp(path, plan->search.library_path.items[i], length) == 0 && path[length] == '/') {
            return "LD_LIBRARY_PATH";
        }
    }
    return "an earlier import or dlopen";
}

bool rsdk_is_private_copy(const char *path) {
    return strstr(path, "/rocm_sysdeps/") != NULL; /* host libraries, of which a process may well have its own */
}

rsdk_status rsdk_warn_conflict(rsdk_plan *plan, const char *soname, const char *mapped_path, const char *sdk_path,
                               rsdk_error *error) {
    return rsdk_plan_warn(plan, RSDK_WARNING_CONFLICT, error,
                          "%s is already loaded from %s, brought in by %s; it is used instead of the SDK's %s: remove "
                          "it from there, or initialise ROCm first",
                          soname, mapped_path, who_brought(plan, mapped_path), sdk_path);
}

/* A needed library of the SDK that the process has from elsewhere. */
static rsdk_status check_loaded_edge(rsdk_plan *plan, const rsdk_node *node, const rsdk_edge *edge, rsdk_error *error) {
    const char *path = NULL;
    rsdk_package_id package;
    rsdk_file_identity own, mapped;
    rsdk_status status = rsdk_inventory_find(&plan->inventory, node->location.path, edge->name, &path, &package, error);
    if (status != RSDK_OK || path == NULL || rsdk_is_private_copy(path) || strcmp(path, edge->path) == 0) {
        return status;
    }
    bool is_same =
        rsdk_file_identify(path, &own) && rsdk_file_identify(edge->path, &mapped) && rsdk_file_same(own, mapped);
    return is_same ? RSDK_OK : rsdk_warn_conflict(plan, edge->name, edge->path, path, error);
}

/* The same library in another version is in the process: both will be there, and their symbols may mix. */
static rsdk_status check_other_version(rsdk_plan *plan, const rsdk_node *node, rsdk_error *error) {
    const char *soname = node->file->soname;
    if (soname == NULL || rsdk_is_private_copy(node->location.path)) {
        return RSDK_OK;
    }
    size_t stem = rsdk_soname_stem(soname);
    for (size_t i = 0; i < plan->map.objects.count; i++) {
        const rsdk_mapped_object *object = &plan->map.objects.items[i];
        if (object->soname != NULL && object->path[0] == '/' && strcmp(object->soname, soname) != 0 &&
            rsdk_soname_stem(object->soname) == stem && strncmp(object->soname, soname, stem) == 0 &&
            !rsdk_memory_object_has_path(object->path)) {
            return rsdk_plan_warn(plan, RSDK_WARNING_CONFLICT, error,
                                  "%s is already loaded from %s, brought in by %s; the SDK's %s is another version of "
                                  "it, and the process will have both: remove the other one",
                                  object->soname, object->path, who_brought(plan, object->path), node->location.path);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_check_conflicts(rsdk_plan *plan, const rsdk_planned_step *step, rsdk_error *error) {
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; status == RSDK_OK && i < step->members.count; i++) {
        const rsdk_node *node = &plan->graph.nodes.items[step->members.items[i]];
        status = check_other_version(plan, node, error);
        for (size_t j = 0; status == RSDK_OK && j < node->edges.count; j++) {
            if (node->edges.items[j].kind == RSDK_EDGE_LOADED) {
                status = check_loaded_edge(plan, node, &node->edges.items[j], error);
            }
        }
    }
    return status;
}
