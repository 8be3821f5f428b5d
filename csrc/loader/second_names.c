/* The names without a version that the libraries of a plan get. */
#include "loader/second_names.h"

#include <string.h>

#include "elf/soname.h"
#include "sdk/tables.h"

rsdk_status rsdk_second_names_of(rsdk_arena *arena, const char *soname, const char **name, rsdk_error *error) {
    const size_t length = soname != NULL ? rsdk_soname_linker_name_length(soname) : 0;
    *name = NULL;
    if (soname != NULL && soname[length] != '\0') {
        *name = rsdk_arena_copy_bytes(arena, soname, length);
        RSDK_NEED(*name, error);
    }
    return RSDK_OK;
}

bool rsdk_second_names_has(const rsdk_plan *plan, const char *name) {
    for (size_t i = 0; i < plan->names.count; i++) {
        if (strcmp(plan->names.items[i].view.name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_wished(const rsdk_plan *plan, const char *name) {
    for (size_t i = 0; i < plan->wished_names.count; i++) {
        if (strcmp(plan->wished_names.items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Add a name. A name that an object in the process has by its SONAME needs no help. */
static rsdk_status add(rsdk_plan *plan, const rsdk_planned_name *added, rsdk_error *error) {
    if (rsdk_link_map_find_soname(&plan->map, added->view.name) == NULL &&
        !rsdk_second_names_has(plan, added->view.name)) {
        RSDK_APPEND(&plan->arena, &plan->names, *added, error);
    }
    return RSDK_OK;
}

static rsdk_status add_of_node(rsdk_plan *plan, size_t step, size_t index, rsdk_error *error) {
    const rsdk_node *node = rsdk_plan_node(plan, index);
    const char *name = NULL;
    RSDK_TRY(rsdk_second_names_of(&plan->arena, node->location.soname, &name, error));
    if (name == NULL || (!rsdk_catalog_is_opened_unversioned(name) && !is_wished(plan, name))) {
        return RSDK_OK;
    }
    const char *path = node->mapped != NULL ? node->mapped->path : node->location.path;
    const rsdk_planned_name added = {
        .view = {name, path}, .soname = node->location.soname, .model = node->file, .step = step};
    return add(plan, &added, error);
}

rsdk_status rsdk_second_names_fill(rsdk_plan *plan, rsdk_error *error) {
    for (size_t i = 0; i < plan->steps.count; i++) {
        const rsdk_planned_step *step = &plan->steps.items[i];
        if (step->members.count == 0) {
            RSDK_TRY(add_of_node(plan, i, step->node, error));
        }
        for (size_t j = 0; j < step->members.count; j++) {
            RSDK_TRY(add_of_node(plan, i, step->members.items[j], error));
        }
    }
    for (size_t i = 0; i < plan->wished_names.count; i++) {
        /* The library was in the process before the plan. */
        const rsdk_wished_name *wish = &plan->wished_names.items[i];
        const rsdk_mapped_object *object = rsdk_link_map_find_library(&plan->map, wish->name);
        if (object != NULL && object->soname != NULL) {
            const rsdk_planned_name added = {.view = {wish->name, object->path},
                                             .soname = object->soname,
                                             .model = rsdk_plan_node(plan, wish->opener)->file,
                                             .step = wish->step};
            RSDK_TRY(add(plan, &added, error));
        }
    }
    for (size_t i = 0; plan->names.count > 0 && i < plan->steps.count; i++) {
        RSDK_LIST(rsdk_unversioned_name) names = {0};
        for (size_t j = 0; j < plan->names.count; j++) {
            if (plan->names.items[j].step == i) {
                RSDK_APPEND(&plan->arena, &names, plan->names.items[j].view, error);
            }
        }
        plan->steps.items[i].view.names = names.items;
        plan->steps.items[i].view.name_count = names.count;
    }
    return RSDK_OK;
}
