/* The needs of plug-ins for the SDK: their openers find the plug-ins, but RPATHs may not lead from them to the SDK. */
#include "loader/planned.h"

#include <fnmatch.h>
#include <string.h>

#include "base/directory.h"
#include "base/path.h"

static rsdk_status add_needs(rsdk_plan *plan, const char *path, rsdk_locations *needs, rsdk_error *error) {
    const rsdk_location location = {.path = path, .found_via = RSDK_FOUND_BY_NEED};
    rsdk_error reason = RSDK_ERROR_INIT;
    size_t index = 0;
    rsdk_status status = rsdk_graph_add(&plan->graph, &location, false, &index, &reason);
    status = status == RSDK_OK ? rsdk_graph_complete(&plan->graph, &reason) : status;
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) {
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    for (size_t i = 0; i < rsdk_plan_node(plan, index)->edges.count; i++) {
        const rsdk_edge *edge = &rsdk_plan_node(plan, index)->edges.items[i];
        bool finds = false;
        if (edge->kind != RSDK_EDGE_SDK || !rsdk_plan_node(plan, edge->node)->is_sdk) {
            continue;
        }
        const rsdk_location *needed = &rsdk_plan_node(plan, edge->node)->location;
        RSDK_TRY(rsdk_plan_finds_by_itself(plan, index, needed->path, &finds, error));
        if (!finds) {
            RSDK_APPEND(&plan->arena, needs, *needed, error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_plug_ins_find_needs(rsdk_plan *plan, size_t opener, const char *pattern, rsdk_locations *needs,
                                     rsdk_error *error) {
    const char *own = rsdk_path_parent(&plan->arena, rsdk_plan_node(plan, opener)->location.path);
    rsdk_directory directory = {0};
    rsdk_error reason = RSDK_ERROR_INIT;
    RSDK_NEED(own, error);
    const char *whole = rsdk_path_join(&plan->arena, own, pattern);
    RSDK_NEED(whole, error);
    const char *place = rsdk_path_parent(&plan->arena, whole);
    RSDK_NEED(place, error);
    const rsdk_status status = rsdk_directory_read(place, &plan->arena, &directory, &reason);
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) {
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    for (size_t i = 0; i < directory.names.count; i++) {
        const char *name = directory.names.items[i];
        if (fnmatch(rsdk_path_name(pattern), name, 0) == 0) {
            const char *path = rsdk_path_join(&plan->arena, place, name);
            RSDK_NEED(path, error);
            RSDK_TRY(add_needs(plan, path, needs, error));
        }
    }
    return RSDK_OK;
}
