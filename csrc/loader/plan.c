/* The planner: which libraries to open, in which order and how, so that every symbol binds as if each library had
 * correct RPATHs.
 *
 * A plain dlopen of a library brings its dependencies in breadth first, and all of them are relocated against that one
 * list: the library itself stands before its dependencies, which is why opening a dependency on its own, first, can
 * bind it differently. So each requested library stays one dlopen, in the order asked. Where the linker would not find
 * a dependency, or another file of that name, the one dlopen goes to an anchor: a generated object whose DT_NEEDED
 * entries are the whole list, breadth first, the SDK's files by path. */
#include "loader/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "loader/conflicts.h"
#include "loader/resolver.h"
#include "sdk/tables.h"

rsdk_status rsdk_plan_warn(rsdk_plan *plan, rsdk_warning_kind kind, rsdk_error *error, const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_warning warning = {.kind = kind, .text = rsdk_arena_copy(&plan->arena, text)};
    bool failed = warning.text == NULL;
    free(text);
    for (size_t i = 0; !failed && i < plan->warnings.count; i++) {
        if (strcmp(plan->warnings.items[i].text, warning.text) == 0) {
            return RSDK_OK; /* said already */
        }
    }
    RSDK_PUSH(&plan->arena, &plan->warnings, warning, failed);
    return failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_node *node_at(const rsdk_plan *plan, size_t index) {
    return &plan->graph.nodes.items[index];
}

/* ---- what the linker would find by itself ---- */

/* Whether, of `directories`, the first that has a file of the name of `target` (a path) is its own. */
static rsdk_status leads_to(rsdk_plan *plan, const rsdk_strings *directories, const char *target, bool *leads,
                            rsdk_error *error) {
    const char *name = rsdk_path_name(target);
    *leads = false;
    for (size_t i = 0; i < directories->count; i++) {
        const rsdk_library_directory *known = NULL;
        rsdk_status status = rsdk_inventory_known_directory(&plan->inventory, directories->items[i], &known, error);
        const char *candidate = rsdk_path_join(&plan->arena, known != NULL ? known->path : directories->items[i], name);
        if (status != RSDK_OK || candidate == NULL) {
            return status != RSDK_OK ? status : rsdk_fail_no_memory(error);
        }
        if (known != NULL ? rsdk_directory_has(&known->listing, name) : access(candidate, F_OK) == 0) {
            *leads = strcmp(candidate, target) == 0;
            return RSDK_OK;
        }
    }
    return RSDK_OK;
}

/* Whether the linker, looking for what `from` needs (or opens at run time), finds `target` (a path) itself. */
static rsdk_status finds_by_itself(rsdk_plan *plan, size_t from, const char *target, bool *finds, rsdk_error *error) {
    const rsdk_elf_file *file = node_at(plan, from)->file;
    rsdk_strings directories = {0};
    size_t count = 0;
    const rsdk_elf_file *const *ancestors = rsdk_graph_ancestors(&plan->graph, from, &count);
    if (ancestors == NULL) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_status status =
        rsdk_linker_search_rpath_directories(&plan->arena, file, ancestors, count, &directories, error);
    if (status == RSDK_OK && file->runpath != NULL && plan->search.library_path.count == 0) {
        /* LD_LIBRARY_PATH comes before a RUNPATH: with one set, a RUNPATH promises nothing. */
        status = rsdk_linker_search_expand(&plan->arena, file->runpath, file->path, &directories, error);
    }
    return status == RSDK_OK ? leads_to(plan, &directories, target, finds, error) : status;
}

/* ---- one step ---- */

/* Appends a text that is not in the list yet. */
static rsdk_status append(rsdk_plan *plan, rsdk_strings *list, const char *text, rsdk_error *error) {
    bool failed = text == NULL;
    for (size_t i = 0; !failed && i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return RSDK_OK;
        }
    }
    RSDK_PUSH(&plan->arena, list, text, failed);
    return failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status take_member(rsdk_plan *plan, rsdk_planned_step *step, size_t node, size_t parent,
                               rsdk_error *error) {
    bool failed = false;
    node_at(plan, node)->is_placed = true;
    node_at(plan, node)->parent = parent;
    RSDK_PUSH(&plan->arena, &step->members, node, failed);
    return failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status take_edge(rsdk_plan *plan, rsdk_planned_step *step, size_t from, const rsdk_edge *edge,
                             rsdk_strings *missing, rsdk_error *error) {
    bool finds = false, failed = false;
    if (edge->kind == RSDK_EDGE_MISSING) {
        return append(plan, missing, edge->name, error);
    }
    if (edge->kind != RSDK_EDGE_SDK) {
        return RSDK_OK;
    }
    const rsdk_node *target = node_at(plan, edge->node);
    bool is_soname = target->file->soname != NULL && strcmp(target->file->soname, edge->name) == 0;
    if (target->is_placed && is_soname) {
        return RSDK_OK; /* the linker compares SONAMEs first */
    }
    rsdk_status status = finds_by_itself(plan, from, target->location.path, &finds, error);
    if (status != RSDK_OK) {
        return status;
    }
    if (!finds && !is_soname) {
        const char *text = rsdk_arena_format(
            &plan->arena, "%s (a file has this name, but its SONAME is %s, so no preloading can satisfy it: %s)",
            edge->name, target->file->soname != NULL ? target->file->soname : "missing", target->location.path);
        return append(plan, missing, text, error);
    }
    if (target->is_placed) {
        return RSDK_OK;
    }
    if (!finds) {
        RSDK_PUSH(&plan->arena, &step->unfound_members, edge->node, failed);
    }
    return failed ? rsdk_fail_no_memory(error) : take_member(plan, step, edge->node, from, error);
}

/* Breadth first from the step's library over everything that is not placed yet. */
static rsdk_status gather_members(rsdk_plan *plan, rsdk_planned_step *step, rsdk_strings *outside,
                                  rsdk_strings *missing, rsdk_error *error) {
    rsdk_status status = take_member(plan, step, step->node, RSDK_NO_NODE, error);
    for (size_t i = 0; status == RSDK_OK && i < step->members.count; i++) {
        const size_t from = step->members.items[i];
        for (size_t j = 0; status == RSDK_OK && j < node_at(plan, from)->edges.count; j++) {
            const rsdk_edge *edge = &node_at(plan, from)->edges.items[j];
            status = take_edge(plan, step, from, edge, missing, error);
            if (status == RSDK_OK && (edge->kind == RSDK_EDGE_OUTSIDE || edge->kind == RSDK_EDGE_LOADED)) {
                status = append(plan, outside, edge->name, error);
            }
        }
    }
    return status;
}

/* What the anchor needs so that `name`, which the system provides for `from`, keeps its place in the order. The anchor
 * has no paths, and as the one that brings a library in it takes the place of those that would have lent theirs: where
 * paths count, the linker's find goes in instead of the name. */
static rsdk_status name_outside(rsdk_plan *plan, rsdk_planned_step *step, size_t from, const char *name,
                                rsdk_error *error) {
    const rsdk_elf_file *file = node_at(plan, from)->file;
    const char *path = NULL;
    size_t count = 0;
    const rsdk_elf_file *const *ancestors = rsdk_graph_ancestors(&plan->graph, from, &count);
    if (ancestors == NULL) {
        return rsdk_fail_no_memory(error);
    }
    bool has_paths = file->rpath != NULL || file->runpath != NULL;
    for (size_t i = 0; i < count; i++) {
        has_paths |= ancestors[i]->rpath != NULL;
    }
    if (!has_paths || rsdk_link_map_find_soname(&plan->map, name) != NULL) {
        return append(plan, &step->anchor_names, name, error);
    }
    rsdk_status status = rsdk_linker_search_find(&plan->search, file, ancestors, count, name, &path, error);
    return status == RSDK_OK && path != NULL ? append(plan, &step->anchor_names, path, error) : status;
}

/* The DT_NEEDED entries of the anchor: all members and what they need outside, in the linker's breadth-first order. */
static rsdk_status fill_anchor_names(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error) {
    rsdk_status status = append(plan, &step->anchor_names, node_at(plan, step->node)->location.path, error);
    for (size_t i = 0; status == RSDK_OK && i < step->members.count; i++) {
        const size_t from = step->members.items[i];
        for (size_t j = 0; status == RSDK_OK && j < node_at(plan, from)->edges.count; j++) {
            const rsdk_edge *edge = &node_at(plan, from)->edges.items[j];
            if (edge->kind == RSDK_EDGE_SDK && node_at(plan, edge->node)->parent == from) {
                status = append(plan, &step->anchor_names, node_at(plan, edge->node)->location.path, error);
            } else if (edge->kind == RSDK_EDGE_OUTSIDE || edge->kind == RSDK_EDGE_LOADED) {
                status = name_outside(plan, step, from, edge->name, error);
            }
        }
    }
    return status;
}

static rsdk_status paths_of_needed(rsdk_plan *plan, const rsdk_node *node, rsdk_strings *paths, rsdk_error *error) {
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; status == RSDK_OK && i < node->edges.count; i++) {
        const rsdk_edge *edge = &node->edges.items[i];
        if (edge->kind == RSDK_EDGE_SDK) {
            status = append(plan, paths, node_at(plan, edge->node)->location.path, error);
        }
    }
    return status;
}

static const char *reason_for_anchor(rsdk_plan *plan, const rsdk_planned_step *step) {
    const char *first = rsdk_path_name(node_at(plan, step->unfound_members.items[0])->location.path);
    size_t more = step->unfound_members.count - 1;
    return more == 0 ? rsdk_arena_format(&plan->arena, "the linker would not find %s", first)
                     : rsdk_arena_format(&plan->arena, "the linker would not find %s and %zu more", first, more);
}

static rsdk_status fill_opening_step(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error) {
    rsdk_strings outside = {0}, missing = {0}, needed = {0}, members = {0};
    rsdk_status status = gather_members(plan, step, &outside, &missing, error);
    for (size_t i = 0; status == RSDK_OK && i < step->members.count; i++) {
        status = append(plan, &members, node_at(plan, step->members.items[i])->location.path, error);
    }
    if (status == RSDK_OK) {
        status = paths_of_needed(plan, node_at(plan, step->node), &needed, error);
    }
    rsdk_step *view = &step->view;
    bool is_natural = step->unfound_members.count == 0;
    if (status == RSDK_OK && !is_natural) {
        status = fill_anchor_names(plan, step, error);
    }
    view->method = is_natural ? RSDK_STEP_OPEN : RSDK_STEP_ANCHOR;
    if (status == RSDK_OK && view->reason == NULL) {
        view->reason = is_natural ? "the linker finds what it needs" : reason_for_anchor(plan, step);
        status = view->reason != NULL ? RSDK_OK : rsdk_fail_no_memory(error);
    }
    view->members = members.items, view->member_count = members.count;
    view->needed = needed.items, view->needed_count = needed.count;
    view->outside = outside.items, view->outside_count = outside.count;
    view->missing = missing.items, view->missing_count = missing.count;
    return status;
}

/* ---- steps ---- */

/* How the library of a step gets into the process. */
static rsdk_status fill_step(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error) {
    const rsdk_node *node = node_at(plan, step->node);
    const rsdk_mapped_object *twin = node->mapped != NULL || node->file->soname == NULL
                                         ? NULL
                                         : rsdk_link_map_find_soname(&plan->map, node->file->soname);
    step->view.location = node->location;
    step->view.method = RSDK_STEP_REUSE;
    step->was_in_process = node->mapped != NULL || twin != NULL;
    if (node->mapped != NULL) {
        step->view.location.path = node->mapped->path;
        step->view.reason = "it is in the process already";
        return RSDK_OK;
    }
    if (twin != NULL) {
        step->view.location.path = twin->path;
        step->view.reason = "the process has it from elsewhere";
        return rsdk_is_private_copy(node->location.path)
                   ? RSDK_OK
                   : rsdk_warn_conflict(plan, node->file->soname, twin->path, node->location.path, error);
    }
    if (node->is_placed) {
        step->view.reason = "an earlier step brings it in";
        return RSDK_OK;
    }
    rsdk_status status = fill_opening_step(plan, step, error);
    return status == RSDK_OK ? rsdk_check_conflicts(plan, step, error) : status;
}

static rsdk_status add_step(rsdk_plan *plan, size_t node, bool is_requested, bool is_global, const char *reason,
                            rsdk_error *error) {
    bool failed = false;
    rsdk_planned_step step = {.node = node,
                              .view = {.is_requested = is_requested, .is_global = is_global, .reason = reason}};
    rsdk_status status = fill_step(plan, &step, error);
    if (status == RSDK_OK) {
        RSDK_PUSH(&plan->arena, &plan->steps, step, failed);
    }
    return failed ? rsdk_fail_no_memory(error) : status;
}

/* ---- run-time edges ---- */

static bool is_in_process(const rsdk_plan *plan, const char *stem) {
    for (size_t i = 0; i < plan->map.objects.count; i++) {
        const char *soname = plan->map.objects.items[i].soname;
        if (soname != NULL && rsdk_has_stem(soname, stem)) {
            return true;
        }
    }
    return false;
}

static bool is_requested_later(const rsdk_plan *plan, const char *path) {
    for (size_t i = 0; i < plan->requested_count; i++) {
        if (plan->requested[i].path != NULL && strcmp(plan->requested[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds the step for a library that is opened at run time. One that cannot be read is worth a warning: its opener may
 * never open it. */
static rsdk_status add_run_time_step(rsdk_plan *plan, const rsdk_location *location, const char *reason,
                                     rsdk_error *error) {
    rsdk_error cause = RSDK_ERROR_INIT;
    size_t node = 0;
    rsdk_status status = rsdk_graph_add(&plan->graph, location, true, &node, &cause);
    if (status == RSDK_OK) {
        status = rsdk_graph_complete(&plan->graph, &cause);
    }
    if (status == RSDK_OK) {
        status = node_at(plan, node)->is_placed ? RSDK_OK : add_step(plan, node, false, false, reason, &cause);
    } else if (status != RSDK_NO_MEMORY) {
        status = rsdk_plan_warn(plan, RSDK_WARNING_GENERAL, &cause, "%s (%s)", rsdk_error_message(&cause), reason);
    }
    if (status != RSDK_OK) {
        (void)rsdk_fail(error, status, cause.path, cause.fix, "%s", rsdk_error_message(&cause));
    }
    rsdk_error_clear(&cause);
    return status;
}

/* Brings in what `opener` opens at run time, unless it finds it by itself. It comes after the opener: so it changes no
 * binding. */
static rsdk_status follow_run_time_edge(rsdk_plan *plan, size_t opener, const rsdk_dlopen_dependency *edge,
                                        rsdk_error *error) {
    rsdk_location location = {.found_via = RSDK_FOUND_BY_NEED};
    bool finds = false;
    const char *opener_name = node_at(plan, opener)->file->soname;
    if (is_in_process(plan, edge->opened)) {
        return RSDK_OK;
    }
    rsdk_status status =
        rsdk_inventory_find_linker_name(&plan->inventory, edge->opened, &location.path, &location.package, error);
    if (status == RSDK_OK && location.path == NULL) {
        return !edge->is_required ? RSDK_OK
                                  : rsdk_plan_warn(plan, RSDK_WARNING_GENERAL, error,
                                                   "%s opens %s at run time (%s), and the SDK has none", opener_name,
                                                   edge->opened, edge->reason);
    }
    if (status == RSDK_OK) {
        status = finds_by_itself(plan, opener, location.path, &finds, error);
    }
    if (status != RSDK_OK || finds || is_requested_later(plan, location.path)) {
        return status;
    }
    const char *reason = rsdk_arena_format(&plan->arena, "%s opens it at run time: %s", opener_name, edge->reason);
    return reason != NULL ? add_run_time_step(plan, &location, reason, error) : rsdk_fail_no_memory(error);
}

static rsdk_status follow_run_time_edges(rsdk_plan *plan, size_t node, rsdk_error *error) {
    const char *soname = node_at(plan, node)->file->soname;
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; soname != NULL && status == RSDK_OK && i < rsdk_dlopen_dependency_count; i++) {
        if (rsdk_has_stem(soname, rsdk_dlopen_dependencies[i].opener)) {
            status = follow_run_time_edge(plan, node, &rsdk_dlopen_dependencies[i], error);
        }
    }
    return status;
}

/* A root and, behind it, what its members open at run time; these may open more. */
static rsdk_status place(rsdk_plan *plan, size_t node, bool is_global, rsdk_error *error) {
    size_t first = plan->steps.count;
    rsdk_status status = add_step(plan, node, true, is_global, NULL, error);
    for (size_t i = first; status == RSDK_OK && i < plan->steps.count; i++) {
        for (size_t j = 0; status == RSDK_OK && j < plan->steps.items[i].members.count; j++) {
            status = follow_run_time_edges(plan, plan->steps.items[i].members.items[j], error);
        }
    }
    return status;
}

/* ---- the whole ---- */

typedef RSDK_LIST(size_t) node_list;

static rsdk_status add_requested(rsdk_plan *plan, const rsdk_load_options *options, node_list *roots,
                                 rsdk_error *error) {
    plan->requested_count = options->shortname_count;
    plan->requested = rsdk_arena_alloc(&plan->arena, options->shortname_count + 1, sizeof *plan->requested);
    if (plan->requested == NULL) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_status status =
        rsdk_resolver_find_all(&plan->inventory, options->shortnames, options->shortname_count, plan->requested, error);
    for (size_t i = 0; status == RSDK_OK && i < plan->requested_count; i++) {
        size_t node = 0;
        bool failed = false;
        if (plan->requested[i].path == NULL) {
            continue;
        }
        status = rsdk_graph_add(&plan->graph, &plan->requested[i], true, &node, error);
        if (status == RSDK_OK) {
            node_at(plan, node)->location = plan->requested[i];
            RSDK_PUSH(&plan->arena, roots, node, failed);
            status = failed ? rsdk_fail_no_memory(error) : RSDK_OK;
        }
    }
    return status;
}

static rsdk_status add_files(rsdk_plan *plan, const rsdk_load_options *options, rsdk_error *error) {
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; status == RSDK_OK && i < options->file_count; i++) {
        size_t node = 0;
        rsdk_location location = {.path = rsdk_arena_copy(plan->inventory.arena, options->files[i]),
                                  .found_via = RSDK_FOUND_BY_NEED};
        status = location.path != NULL ? rsdk_graph_add(&plan->graph, &location, false, &node, error)
                                       : rsdk_fail_no_memory(error);
    }
    return status;
}

/* The SDK's files that given files and their neighbours lead to become roots, in the order in which the linker would
 * come to them. */
static rsdk_status add_roots_of_files(rsdk_plan *plan, node_list *roots, rsdk_error *error) {
    bool failed = false;
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; i < plan->graph.nodes.count; i++) {
        const rsdk_node *node = node_at(plan, i);
        for (size_t j = 0; !node->is_sdk && status == RSDK_OK && j < node->edges.count; j++) {
            const rsdk_edge *edge = &node->edges.items[j];
            if (edge->kind == RSDK_EDGE_SDK && node_at(plan, edge->node)->is_sdk) {
                RSDK_PUSH(&plan->arena, roots, edge->node, failed);
            } else if (edge->kind == RSDK_EDGE_MISSING) {
                status = rsdk_plan_warn(plan, RSDK_WARNING_GENERAL, error,
                                        "%s needs %s, which neither the SDK nor the system has", node->location.path,
                                        edge->name);
            }
        }
    }
    return failed ? rsdk_fail_no_memory(error) : status;
}

/* Compiler libraries stay out of the global scope. */
static bool is_global_for(const rsdk_location *location, const rsdk_load_options *options) {
    const rsdk_catalog_entry *entry = location->shortname != NULL ? rsdk_catalog_find(location->shortname) : NULL;
    return options->is_global && (entry == NULL || !entry->is_compiler);
}

static rsdk_status fill_plan(rsdk_plan *plan, const rsdk_load_options *options, bool asks_linker, rsdk_error *error) {
    node_list roots = {0};
    rsdk_status status = rsdk_link_map_read(&plan->arena, &plan->map, error);
    if (status == RSDK_OK) {
        status = rsdk_linker_search_init(&plan->arena, &plan->map, &plan->search, error);
    }
    plan->graph = (rsdk_graph){.arena = &plan->arena,
                               .inventory = &plan->inventory,
                               .map = &plan->map,
                               .search = &plan->search,
                               .asks_linker = asks_linker || options->file_count > 0};
    if (status == RSDK_OK) {
        status = add_requested(plan, options, &roots, error);
    }
    if (status == RSDK_OK) {
        status = add_files(plan, options, error);
    }
    if (status == RSDK_OK) {
        status = rsdk_graph_complete(&plan->graph, error);
    }
    if (status == RSDK_OK) {
        status = add_roots_of_files(plan, &roots, error);
    }
    for (size_t i = 0; status == RSDK_OK && i < roots.count; i++) {
        status = place(plan, roots.items[i], is_global_for(&node_at(plan, roots.items[i])->location, options), error);
    }
    return status;
}

rsdk_status rsdk_plan_make(rsdk_sdk *sdk, const rsdk_load_options *options, bool asks_linker, rsdk_plan **plan,
                           rsdk_error *error) {
    *plan = NULL;
    rsdk_plan *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) {
        return rsdk_fail_no_memory(error);
    }
    fresh->inventory = rsdk_inventory_of(sdk, options->file_count > 0);
    rsdk_status status = fill_plan(fresh, options, asks_linker, error);
    if (status != RSDK_OK) {
        rsdk_plan_free(fresh);
        return status;
    }
    *plan = fresh;
    return RSDK_OK;
}

rsdk_status rsdk_plan_new(rsdk_sdk *sdk, const rsdk_load_options *options, rsdk_plan **plan, rsdk_error *error) {
    return rsdk_plan_make(sdk, options, true, plan, error);
}

void rsdk_plan_free(rsdk_plan *plan) {
    if (plan != NULL) {
        rsdk_arena_clear(&plan->arena);
        free(plan);
    }
}

size_t rsdk_plan_step_count(const rsdk_plan *plan) {
    return plan->steps.count;
}

const rsdk_step *rsdk_plan_step(const rsdk_plan *plan, size_t index) {
    return index < plan->steps.count ? &plan->steps.items[index].view : NULL;
}
