/* A step that opens a library: the files that come with it, and whether the linker would find them by itself; the same
 * for plug-ins that the library opens. */
#include "loader/opening_step.h"

#include <fnmatch.h>
#include <string.h>

#include "base/directory.h"
#include "base/path.h"

typedef RSDK_LIST(size_t) node_list;

/* ---- what the linker would find by itself ---- */

/* Find out whether a directory of the list has a file with the name of `target` (a path), and whether the first such
 * directory is the target's own. */
static rsdk_status look_in(rsdk_plan *plan, const rsdk_search_path *directories, const char *target, bool *has,
                           bool *leads, rsdk_error *error) {
    const char *name = rsdk_path_name(target);
    for (size_t i = 0; !*has && i < directories->list.count; i++) {
        const char *directory = directories->list.items[i];
        const rsdk_known_directory *known = NULL;
        if (directory == NULL) {
            *has = true; /* only the linker knows where that leads */
            return RSDK_OK;
        }
        RSDK_TRY(rsdk_inventory_known_directory(&plan->inventory, directory, &known, error));
        if (known->may_hold_variants) {
            *has = true; /* a variant, perhaps */
        } else if (known->directory != NULL) {
            *has = rsdk_directory_has(&known->directory->listing, name);
            const char *below = rsdk_path_below(target, known->directory->path);
            *leads = *has && below != NULL && strcmp(below, name) == 0;
        } else if (rsdk_directory_holds(directory, name)) {
            const char *below = rsdk_path_below(target, directory);
            *has = true;
            *leads = below != NULL && strcmp(below, name) == 0;
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_plan_finds_by_itself(rsdk_plan *plan, size_t from, const char *target, bool *finds,
                                      rsdk_error *error) {
    const rsdk_load_chain *chain = &rsdk_plan_node(plan, from)->chain;
    rsdk_search_path *directories = NULL;
    bool has = false;
    *finds = false;
    for (rsdk_rpath_walk walk = rsdk_linker_search_rpaths(&plan->search, chain);
         !has && (directories = rsdk_linker_search_next_rpath(&walk)) != NULL;) {
        RSDK_TRY(look_in(plan, directories, target, &has, finds, error));
    }
    if (chain->runpath != NULL && plan->search.library_path.count == 0) {
        /* LD_LIBRARY_PATH comes before a RUNPATH: with one set, a RUNPATH promises nothing. */
        RSDK_TRY(look_in(plan, chain->runpath, target, &has, finds, error));
    }
    return RSDK_OK;
}

/* ---- one step ---- */

static rsdk_status take_member(rsdk_plan *plan, rsdk_planned_step *step, size_t node, size_t parent,
                               rsdk_error *error) {
    rsdk_plan_node(plan, node)->is_placed = true;
    rsdk_graph_set_parent(&plan->graph, node, parent);
    RSDK_APPEND(&plan->arena, &step->members, node, error);
    return RSDK_OK;
}

static rsdk_status take_edge(rsdk_plan *plan, rsdk_planned_step *step, size_t from, const rsdk_edge *edge,
                             rsdk_unique_strings *missing, rsdk_error *error) {
    bool finds = false;
    if (edge->kind == RSDK_EDGE_MISSING) {
        return rsdk_unique_strings_add(missing, &plan->arena, edge->name, error);
    }
    if (edge->kind != RSDK_EDGE_SDK) {
        return RSDK_OK;
    }
    const rsdk_node *target = rsdk_plan_node(plan, edge->node);
    bool is_soname = target->file->soname != NULL && strcmp(target->file->soname, edge->name) == 0;
    if (target->is_placed && is_soname) {
        return RSDK_OK; /* the linker compares SONAMEs first */
    }
    if (rsdk_edge_is_path(edge)) {
        finds = true;
    } else {
        RSDK_TRY(rsdk_plan_finds_by_itself(plan, from, target->location.path, &finds, error));
    }
    if (!finds && !is_soname && edge->is_optional) {
        return RSDK_OK;
    }
    if (!finds && !is_soname) {
        const char *text = rsdk_arena_format(
            &plan->arena, "%s (a file has this name, but its SONAME is %s, so no preloading can satisfy it: %s)",
            edge->name, target->file->soname != NULL ? target->file->soname : "missing", target->location.path);
        return rsdk_unique_strings_add(missing, &plan->arena, text, error);
    }
    if (target->is_placed) {
        return RSDK_OK;
    }
    if (!finds) {
        RSDK_APPEND(&plan->arena, &step->unfound_members, edge->node, error);
    }
    return take_member(plan, step, edge->node, from, error);
}

/* Find out whether a directory of the library's RPATHs or RUNPATH, or of the libraries that brought it in, has a file
 * of this name. */
static rsdk_status is_in_own_paths(rsdk_plan *plan, const rsdk_load_chain *chain, const char *name, bool *is_there,
                                   rsdk_error *error) {
    rsdk_search_path *directories = NULL;
    bool leads = false;
    /* The main program's RPATH does not count for a library with a RUNPATH, but it counts for an anchor. */
    *is_there = chain->runpath != NULL && plan->search.program_rpath.count > 0;
    for (rsdk_rpath_walk walk = rsdk_linker_search_rpaths(&plan->search, chain);
         !*is_there && (directories = rsdk_linker_search_next_rpath(&walk)) != NULL;) {
        RSDK_TRY(look_in(plan, directories, name, is_there, &leads, error));
    }
    return *is_there || chain->runpath == NULL ? RSDK_OK : look_in(plan, chain->runpath, name, is_there, &leads, error);
}

/* Add the anchor's DT_NEEDED entry for a name that the system provides for `from`, so that the library keeps its place
 * in the order. Because the anchor brings the library in, the RPATHs of `from` and of the libraries that brought `from`
 * in do not count, and the anchor itself has none. So if one of their directories has such a file, the entry is
 * the file that the linker finds, instead of the name. */
static rsdk_status name_outside(rsdk_plan *plan, size_t from, rsdk_edge *edge, rsdk_unique_strings *names,
                                rsdk_error *error) {
    const rsdk_load_chain *chain = &rsdk_plan_node(plan, from)->chain;
    bool is_path = rsdk_edge_is_path(edge), is_there = false;
    if (edge->is_optional) {
        return RSDK_OK; /* an anchor must not need a library that may be absent */
    }
    if (!is_path && rsdk_link_map_find_soname(&plan->map, edge->name) == NULL) {
        RSDK_TRY(is_in_own_paths(plan, chain, edge->name, &is_there, error));
    }
    if (!is_path && !is_there) {
        return rsdk_unique_strings_add(names, &plan->arena, edge->name, error);
    }
    if (!is_path && !edge->is_sought) { /* once: other anchors come here too */
        RSDK_TRY(rsdk_linker_search_find(&plan->search, chain, edge->name, &edge->path, error));
        edge->is_sought = true;
    }
    return edge->path != NULL ? rsdk_unique_strings_add(names, &plan->arena, edge->path, error) : RSDK_OK;
}

/* Append a node to the walk for an anchor, once. A node that no step brings in is left out. */
static rsdk_status walk_to(rsdk_plan *plan, node_list *walk, size_t index, rsdk_unique_strings *names,
                           rsdk_error *error) {
    rsdk_node *node = rsdk_plan_node(plan, index);
    if (!node->is_placed || node->walk == plan->walk_count) {
        return RSDK_OK;
    }
    node->walk = plan->walk_count;
    RSDK_APPEND(&plan->arena, walk, index, error);
    return rsdk_unique_strings_add(names, &plan->arena, node->location.path, error);
}

/* Fill in the DT_NEEDED entries of the anchor: all that the library needs, directly or through others, in the linker's
 * breadth-first order. A library that an earlier step has brought in has its place in that order as well. */
static rsdk_status fill_anchor_names(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error) {
    rsdk_unique_strings names = {0};
    node_list walk = {0};
    plan->walk_count++;
    RSDK_TRY(walk_to(plan, &walk, step->node, &names, error));
    for (size_t i = 0; i < walk.count; i++) {
        const size_t from = walk.items[i];
        for (size_t j = 0; j < rsdk_plan_node(plan, from)->edges.count; j++) {
            rsdk_edge *edge = &rsdk_plan_node(plan, from)->edges.items[j];
            if (edge->kind == RSDK_EDGE_SDK) {
                RSDK_TRY(walk_to(plan, &walk, edge->node, &names, error));
            } else if (edge->kind == RSDK_EDGE_OUTSIDE || edge->kind == RSDK_EDGE_LOADED) {
                RSDK_TRY(name_outside(plan, from, edge, &names, error));
            }
        }
    }
    step->anchor_names = names.list;
    return RSDK_OK;
}

/* Return why an anchor opens the step's library; NULL: out of memory. */
static const char *reason_for_anchor(rsdk_plan *plan, const rsdk_planned_step *step) {
    if (step->unfound_members.count == 0) {
        return "its files are opened by path, so that the linker looks for no names";
    }
    const char *first = rsdk_path_name(rsdk_plan_node(plan, step->unfound_members.items[0])->location.path);
    size_t more = step->unfound_members.count - 1;
    return more == 0 ? rsdk_arena_format(&plan->arena, "the linker would not find %s", first)
                     : rsdk_arena_format(&plan->arena, "the linker would not find %s and %zu more", first, more);
}

rsdk_status rsdk_plan_fill_opening(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error) {
    rsdk_unique_strings outside = {0}, missing = {0}, needed = {0};
    rsdk_strings members = {0}, brought_by = {0};
    rsdk_step *view = &step->view;
    /* Gather the members of a step, breadth first from its library over everything that is not placed yet. */
    RSDK_TRY(take_member(plan, step, step->node, RSDK_NO_NODE, error));
    for (size_t i = 0; i < step->members.count; i++) {
        const size_t from = step->members.items[i];
        for (size_t j = 0; j < rsdk_plan_node(plan, from)->edges.count; j++) {
            const rsdk_edge *edge = &rsdk_plan_node(plan, from)->edges.items[j];
            RSDK_TRY(take_edge(plan, step, from, edge, &missing, error));
            if (edge->kind == RSDK_EDGE_OUTSIDE || edge->kind == RSDK_EDGE_LOADED) {
                RSDK_TRY(rsdk_unique_strings_add(&outside, &plan->arena, edge->name, error));
            }
        }
    }
    for (size_t i = 0; i < step->members.count; i++) {
        const rsdk_node *member = rsdk_plan_node(plan, step->members.items[i]);
        const char *parent = member->parent != RSDK_NO_NODE ? rsdk_plan_node(plan, member->parent)->location.path : "";
        RSDK_APPEND(&plan->arena, &members, member->location.path, error);
        RSDK_APPEND(&plan->arena, &brought_by, parent, error);
    }
    const rsdk_node *node = rsdk_plan_node(plan, step->node);
    for (size_t i = 0; i < node->edges.count; i++) {
        const rsdk_edge *edge = &node->edges.items[i];
        if (edge->kind == RSDK_EDGE_SDK) {
            RSDK_TRY(
                rsdk_unique_strings_add(&needed, &plan->arena, rsdk_plan_node(plan, edge->node)->location.path, error));
        }
    }
    /* If each answer takes long, save the linker the look into the directories of RPATHs, too. */
    bool is_natural = step->unfound_members.count == 0 && !rsdk_page_reader_is_slow(plan->reader);
    if (!is_natural) {
        RSDK_TRY(fill_anchor_names(plan, step, error));
    }
    view->method = is_natural ? RSDK_STEP_OPEN : RSDK_STEP_ANCHOR;
    if (view->reason == NULL) {
        view->reason = is_natural ? "the linker finds what it needs" : reason_for_anchor(plan, step);
        RSDK_NEED(view->reason, error);
    }
    view->members = members.items, view->member_count = members.count;
    view->brought_by = brought_by.items;
    view->needed = needed.list.items, view->needed_count = needed.list.count;
    view->outside = outside.list.items, view->outside_count = outside.list.count;
    view->missing = missing.list.items, view->missing_count = missing.list.count;
    return RSDK_OK;
}

/* ---- what plug-ins need of the SDK ---- */

/* Add the libraries that a plug-in needs of the SDK: its opener finds the plug-in, but its RPATHs may not lead to the
 * SDK. */
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
