/* The planner: which libraries to open, in which order and how, so that every symbol binds as if each library had
 * correct RPATHs.
 *
 * A plain dlopen of a library brings its dependencies in breadth first, and all of them are relocated against that one
 * list: the library itself comes before its dependencies, which is why opening a dependency on its own, first, can
 * bind it differently. So each requested library stays one dlopen, in the order of the request. If the linker would
 * not find a dependency, or would find another file of that name, the one dlopen opens an anchor: a generated object
 * whose DT_NEEDED entries are the whole list, breadth first, the SDK's files by path. */
#include "loader/plan.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_sections.h"
#include "elf/soname.h"
#include "loader/opening_step.h"
#include "loader/resolver.h"
#include "loader/second_names.h"
#include "sdk/tables.h"

typedef RSDK_LIST(size_t) node_list;

/* ---- steps ---- */

/* Fill in how the library of a step gets into the process. */
static rsdk_status fill_step(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error) {
    const rsdk_node *node = rsdk_plan_node(plan, step->node);
    const rsdk_mapped_object *namesake = node->mapped != NULL || node->file->soname == NULL
                                             ? NULL
                                             : rsdk_link_map_find_soname(&plan->map, node->file->soname);
    step->view.location = node->location;
    step->view.method = RSDK_STEP_REUSE;
    step->was_in_process = node->mapped != NULL || namesake != NULL;
    if (node->mapped != NULL) {
        step->view.location.path = node->mapped->path;
        step->view.reason = "already loaded";
        return RSDK_OK;
    }
    if (namesake != NULL) {
        step->view.location.path = namesake->path;
        step->view.reason = "already loaded from outside the SDK";
        return rsdk_conflicts_check_namesake(&plan->conflicts, node->file->soname, namesake->path, node->location.path,
                                             error);
    }
    if (node->is_placed) {
        step->view.reason = "an earlier step brings it in";
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_plan_fill_opening(plan, step, error));
    return rsdk_conflicts_check_members(&plan->conflicts, step->members.items, step->members.count, error);
}

/* Fill in and add a step, which says which node it opens, and how. */
static rsdk_status add_step(rsdk_plan *plan, rsdk_planned_step step, rsdk_error *error) {
    RSDK_TRY(fill_step(plan, &step, error));
    RSDK_APPEND(&plan->arena, &plan->steps, step, error);
    return RSDK_OK;
}

/* ---- dlopen dependencies ---- */

static bool is_requested(const rsdk_plan *plan, const char *path) {
    for (size_t i = 0; i < plan->requested_count; i++) {
        if (plan->requested[i].path != NULL && strcmp(plan->requested[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

static rsdk_status add_complete_node(rsdk_plan *plan, const rsdk_location *location, size_t *node, rsdk_error *error) {
    RSDK_TRY(rsdk_graph_add(&plan->graph, location, true, node, error));
    return rsdk_graph_complete(&plan->graph, error);
}

/* Add the step for a library that another opens with dlopen. A library that cannot be read is worth a warning: its
 * opener may never open it. */
static rsdk_status add_dlopen_step(rsdk_plan *plan, const rsdk_location *location, const char *reason,
                                   rsdk_error *error) {
    rsdk_error cause = RSDK_ERROR_INIT;
    size_t node = 0;
    rsdk_status status = add_complete_node(plan, location, &node, &cause);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_with(error, &cause);
    }
    if (status != RSDK_OK) {
        status = rsdk_warnings_add(&plan->warnings, RSDK_WARNING_GENERAL, error, "%s (%s)", rsdk_error_message(&cause),
                                   reason);
        rsdk_error_clear(&cause);
        return status;
    }
    return rsdk_plan_node(plan, node)->is_placed
               ? RSDK_OK
               : add_step(plan, (rsdk_planned_step){.node = node, .view.reason = reason}, error);
}

/* Bring in libraries that plug-ins of `opener` need but do not find by themselves: when the plug-ins are opened, it is
 * too late. */
static rsdk_status follow_plug_ins(rsdk_plan *plan, size_t opener, const rsdk_dlopen_dependency *dependency,
                                   rsdk_error *error) {
    rsdk_locations needs = {0};
    const char *opener_name = rsdk_plan_node(plan, opener)->file->soname;
    RSDK_TRY(rsdk_plug_ins_find_needs(plan, opener, dependency->opened, &needs, error));
    for (size_t i = 0; i < needs.count; i++) {
        const char *reason = rsdk_arena_format(&plan->arena, "a plug-in that %s opens at run time needs it: %s",
                                               opener_name, dependency->reason);
        RSDK_NEED(reason, error);
        if (!is_requested(plan, needs.items[i].path)) {
            RSDK_TRY(add_dlopen_step(plan, &needs.items[i], reason, error));
        }
    }
    return RSDK_OK;
}

/* Bring in a library that `opener` opens with dlopen, unless `opener` finds it by itself. The library comes after the
 * opener, and so changes no binding. */
static rsdk_status follow_dependency(rsdk_plan *plan, size_t step, size_t opener,
                                     const rsdk_dlopen_dependency *dependency, rsdk_error *error) {
    rsdk_location location = {.found_via = RSDK_FOUND_BY_NEED};
    bool finds = false;
    const char *opener_name = rsdk_plan_node(plan, opener)->file->soname;
    if (dependency->name == RSDK_OPENED_AS_PLUG_IN) {
        return follow_plug_ins(plan, opener, dependency, error);
    }
    const rsdk_wished_name wish = {.name = dependency->opened, .opener = opener, .step = step};
    if (dependency->name == RSDK_OPENED_UNVERSIONED) {
        RSDK_APPEND(&plan->arena, &plan->wished_names, wish, error);
    }
    if (rsdk_link_map_find_library(&plan->map, dependency->opened) != NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_inventory_find_linker_name(&plan->inventory, dependency->opened, &location.path, &location.package,
                                             error));
    if (location.path == NULL) {
        return !dependency->is_required ? RSDK_OK
                                        : rsdk_warnings_add(&plan->warnings, RSDK_WARNING_GENERAL, error,
                                                            "%s opens %s at run time (%s), and the SDK has none",
                                                            opener_name, dependency->opened, dependency->reason);
    }
    const char *path = location.path;
    const char *named = path;
    if (dependency->name == RSDK_OPENED_UNVERSIONED) {
        named = rsdk_arena_format(&plan->arena, "%.*s%s", (int)(rsdk_path_name(path) - path), path, dependency->opened);
        RSDK_NEED(named, error);
    }
    RSDK_TRY(rsdk_plan_finds_by_itself(plan, opener, named, &finds, error));
    if (finds || is_requested(plan, location.path) || !rsdk_dlopen_dependency_is_asked_for(dependency)) {
        return RSDK_OK;
    }
    const char *reason =
        rsdk_arena_format(&plan->arena, "%s opens it at run time: %s", opener_name, dependency->reason);
    RSDK_NEED(reason, error);
    return add_dlopen_step(plan, &location, reason, error);
}

static rsdk_status follow_dependencies(rsdk_plan *plan, size_t step, size_t node, rsdk_error *error) {
    const char *soname = rsdk_plan_node(plan, node)->file->soname;
    for (size_t i = 0; soname != NULL && i < rsdk_dlopen_dependency_count; i++) {
        const rsdk_dlopen_dependency *dependency = &rsdk_dlopen_dependencies[i];
        if (rsdk_soname_has_linker_name(soname, dependency->opener) &&
            rsdk_dlopen_dependency_is_of(dependency, rsdk_sdk_version(plan->inventory.sdk))) {
            RSDK_TRY(follow_dependency(plan, step, node, dependency, error));
        }
    }
    return RSDK_OK;
}

/* Add, after the steps from `first` on, the libraries that their members open with dlopen; these may open more. */
static rsdk_status follow_steps(rsdk_plan *plan, size_t first, rsdk_error *error) {
    for (size_t i = first; i < plan->steps.count; i++) {
        for (size_t j = 0; j < plan->steps.items[i].members.count; j++) {
            RSDK_TRY(follow_dependencies(plan, i, plan->steps.items[i].members.items[j], error));
        }
    }
    return RSDK_OK;
}

/* Add a step and the libraries that its members open. */
static rsdk_status add_steps(rsdk_plan *plan, rsdk_planned_step step, rsdk_error *error) {
    const size_t first = plan->steps.count;
    RSDK_TRY(add_step(plan, step, error));
    return follow_steps(plan, first, error);
}

/* Bring in a library that a given file opens by a name without a version, and give the library that name. */
static rsdk_status follow_name(rsdk_plan *plan, size_t opener, const char *name, rsdk_error *error) {
    const rsdk_load_chain nothing = {.rpath = NULL};
    rsdk_location location = {.found_via = RSDK_FOUND_BY_NEED};
    const rsdk_wished_name wish = {.name = name, .opener = opener, .step = plan->steps.count};
    const char *own = NULL, *of_system = NULL;
    RSDK_TRY(rsdk_linker_search_find(&plan->search, &rsdk_plan_node(plan, opener)->chain, name, &own, error));
    RSDK_TRY(rsdk_linker_search_find(&plan->search, &nothing, name, &of_system, error));
    const bool has_own = own != NULL && (of_system == NULL || strcmp(own, of_system) != 0);
    RSDK_TRY(rsdk_inventory_find_linker_name(&plan->inventory, name, &location.path, &location.package, error));
    if (has_own || location.path == NULL || rsdk_link_map_find_soname(&plan->map, name) != NULL) {
        return RSDK_OK;
    }
    const char *file = rsdk_path_name(rsdk_plan_node(plan, opener)->location.path);
    const char *reason = rsdk_arena_format(&plan->arena, "%s opens %s at run time", file, name);
    RSDK_NEED(reason, error);
    RSDK_APPEND(&plan->arena, &plan->wished_names, wish, error);
    RSDK_TRY(add_dlopen_step(plan, &location, reason, error));
    return follow_steps(plan, wish.step, error);
}

/* Do the same for all given files. Only files that need no library of the SDK are read for names, as bindings are:
 * reading the constants of a large library would take longer than loading it. */
static rsdk_status follow_names_of_files(rsdk_plan *plan, const rsdk_load_options *options, size_t root_count,
                                         rsdk_error *error) {
    for (size_t i = 0; root_count == 0 && i < options->file_count; i++) {
        const rsdk_location location = {.path = options->files[i], .found_via = RSDK_FOUND_BY_NEED};
        rsdk_unique_strings names = {0};
        size_t node = 0;
        RSDK_TRY(rsdk_graph_add(&plan->graph, &location, false, &node, error));
        RSDK_TRY(rsdk_elf_library_names_of(options->files[i], &plan->arena, &names, error));
        for (size_t j = 0; j < names.list.count; j++) {
            if (rsdk_catalog_is_opened_unversioned(names.list.items[j])) {
                RSDK_TRY(follow_name(plan, node, names.list.items[j], error));
            }
        }
    }
    return RSDK_OK;
}

/* ---- scopes ---- */

/* Open the libraries that the guard names before anything is global. */
static rsdk_status add_bound_first(rsdk_plan *plan, rsdk_error *error) {
    for (size_t i = 0; i < plan->guard.bound_first.count; i++) {
        size_t node = plan->guard.bound_first.items[i];
        const rsdk_guarded *guarded = &plan->guard.nodes[node];
        const char *how = guarded->binds_deep ? "bound with RTLD_DEEPBIND" : "bound before anything is global";
        const char *reason = rsdk_arena_format(&plan->arena, "%s: %s", how, guarded->first_reason);
        RSDK_NEED(reason, error);
        if (!rsdk_plan_node(plan, node)->is_placed) {
            RSDK_TRY(add_steps(
                plan,
                (rsdk_planned_step){
                    .node = node, .is_bound_first = true, .binds_deep = guarded->binds_deep, .view.reason = reason},
                error));
        }
    }
    return RSDK_OK;
}

/* Decide why the step of a root stays out of the global scope although the caller wants it there; NULL: it does not
 * stay out. */
static rsdk_status decide_scope(rsdk_plan *plan, size_t root, const rsdk_load_options *options, const char **why,
                                rsdk_error *error) {
    const rsdk_guarded *guarded = &plan->guard.nodes[root];
    *why = NULL;
    if (!options->is_global) {
        return RSDK_OK;
    }
    if (guarded->own_reason != NULL) {
        *why = guarded->own_reason;
    } else if (guarded->held_by != NULL && (!options->is_always_global || guarded->is_wished_local)) {
        *why = guarded->held_reason;
    } else if (guarded->held_by != NULL) {
        return rsdk_warnings_add(&plan->warnings, RSDK_WARNING_GENERAL, error,
                                 "%s becomes global by rtld_global=True, with %s: %s; leave the argument out",
                                 rsdk_plan_node(plan, root)->location.path, guarded->held_by, guarded->held_reason);
    }
    return RSDK_OK;
}

static rsdk_status add_root(rsdk_plan *plan, size_t root, const rsdk_load_options *options, rsdk_error *error) {
    const char *why = NULL;
    size_t index = plan->steps.count;
    RSDK_TRY(decide_scope(plan, root, options, &why, error));
    const bool is_global = options->is_global && why == NULL;
    RSDK_TRY(add_steps(plan, (rsdk_planned_step){.node = root, .view = {.is_requested = true, .is_global = is_global}},
                       error));
    const rsdk_planned_step *step = &plan->steps.items[index];
    const rsdk_guarded *guarded = &plan->guard.nodes[step->node];
    const char *soname = step->view.location.soname, *reason = step->view.reason;
    bool is_itself = soname != NULL && guarded->held_by != NULL && strcmp(soname, guarded->held_by) == 0;
    if (!step->view.is_global && why != NULL && (guarded->own_reason != NULL || is_itself)) {
        reason = rsdk_arena_format(&plan->arena, "%s; local: %s", reason, why);
    } else if (!step->view.is_global && why != NULL) {
        reason =
            rsdk_arena_format(&plan->arena, "%s; local, because %s comes with it: %s", reason, guarded->held_by, why);
    } else if (step->view.is_global && guarded->first_reason != NULL) {
        reason = rsdk_arena_format(&plan->arena, "%s; global now that it is bound", reason);
    }
    RSDK_NEED(reason, error);
    plan->steps.items[index].view.reason = reason;
    return RSDK_OK;
}

/* Make HIP global. HIP's functions are looked for in the global scope (hipGetProcAddress of some releases): if only
 * local steps have brought libamdhip64 in, it becomes global by itself. */
static rsdk_status make_hip_global(rsdk_plan *plan, const rsdk_load_options *options, rsdk_error *error) {
    size_t hip = plan->guard.hip;
    if (!options->is_global || hip == RSDK_NO_NODE || !rsdk_plan_node(plan, hip)->is_placed ||
        rsdk_plan_node(plan, hip)->mapped != NULL) {
        return RSDK_OK;
    }
    for (size_t i = 0; i < plan->steps.count; i++) {
        const rsdk_planned_step *step = &plan->steps.items[i];
        for (size_t j = 0; step->view.is_global && j < step->members.count; j++) {
            if (step->members.items[j] == hip) {
                return RSDK_OK;
            }
        }
        if (step->view.is_global && step->node == hip) {
            return RSDK_OK;
        }
    }
    RSDK_TRY(add_step(plan, (rsdk_planned_step){.node = hip, .view.is_global = true}, error));
    plan->steps.items[plan->steps.count - 1].view.reason = "HIP's functions are looked for in the global scope";
    return RSDK_OK;
}

/* ---- the whole ---- */

static rsdk_status add_requested(rsdk_plan *plan, const rsdk_load_options *options, unsigned purpose, node_list *roots,
                                 rsdk_error *error) {
    const bool takes_installed = (purpose & RSDK_PLAN_OF_INSTALLED) != 0;
    plan->requested_count = takes_installed ? rsdk_catalog_size() : options->shortname_count;
    plan->requested = rsdk_arena_alloc(&plan->arena, plan->requested_count + 1, sizeof *plan->requested);
    RSDK_NEED(plan->requested, error);
    RSDK_TRY(takes_installed
                 ? rsdk_resolver_find_installed(&plan->inventory, plan->requested, &plan->lacks_packages, error)
                 : rsdk_resolver_find_all(&plan->inventory, options->shortnames, options->shortname_count,
                                          plan->requested, error));
    for (size_t i = 0; i < plan->requested_count; i++) {
        size_t node = 0;
        if (plan->requested[i].path != NULL) {
            RSDK_TRY(rsdk_graph_add(&plan->graph, &plan->requested[i], true, &node, error));
            rsdk_plan_node(plan, node)->location = plan->requested[i];
            RSDK_APPEND(&plan->arena, roots, node, error);
        }
    }
    return RSDK_OK;
}

static const char hip[] = "libamdhip64.so";

/* Make roots of the SDK's files to which given files and their neighbours lead, in the order in which the linker would
 * come to them. */
static rsdk_status add_roots_of_files(rsdk_plan *plan, node_list *roots, rsdk_error *error) {
    for (size_t i = 0; i < plan->graph.nodes.count; i++) {
        const rsdk_node *node = rsdk_plan_node(plan, i);
        for (size_t j = 0; !node->is_sdk && j < node->edges.count; j++) {
            const rsdk_edge *edge = &node->edges.items[j];
            if (edge->kind == RSDK_EDGE_SDK && rsdk_plan_node(plan, edge->node)->is_sdk) {
                RSDK_APPEND(&plan->arena, roots, edge->node, error);
            } else if (edge->kind == RSDK_EDGE_SDK && rsdk_soname_has_linker_name(edge->name, hip)) {
                /* The SDK has no HIP with this SONAME, so this one stays beside the SDK's. */
                const char *own = NULL;
                rsdk_package_id package;
                RSDK_TRY(rsdk_inventory_find_linker_name(&plan->inventory, hip, &own, &package, error));
                RSDK_TRY(own == NULL
                             ? RSDK_OK
                             : rsdk_warnings_add(
                                   &plan->warnings, RSDK_WARNING_CONFLICT, error,
                                   "%s needs %s of another ROCm than the SDK, which has %s: a process that loads "
                                   "both has two HIPs; take a build that uses the SDK's",
                                   node->location.path, edge->path, own));
            } else if (edge->kind == RSDK_EDGE_MISSING) {
                RSDK_TRY(rsdk_warnings_add(&plan->warnings, RSDK_WARNING_GENERAL, error,
                                           "%s needs %s, which neither the SDK nor the system has", node->location.path,
                                           edge->name));
            }
        }
    }
    return RSDK_OK;
}

/* ---- symbols of libraries that a file does not name ---- */

typedef RSDK_LIST(rsdk_elf_wanted) wanted_list;

/* Read the symbols of a file; a file that cannot be read has none. */
static rsdk_status read_symbols(rsdk_plan *plan, const char *path, rsdk_elf_dynsym *symbols, rsdk_error *error) {
    rsdk_elf_file facts;
    rsdk_error reason = RSDK_ERROR_INIT;
    *symbols = (rsdk_elf_dynsym){0};
    const rsdk_status status = rsdk_elf_file_read_with_symbols(path, false, &plan->arena, &facts, symbols, &reason);
    rsdk_error_clear(&reason);
    symbols->count = status == RSDK_OK ? symbols->count : 0;
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}

/* Take the symbols from a list that a file has; *has says whether there are any. */
static rsdk_status take_defined(rsdk_plan *plan, const char *path, wanted_list *wanted, bool *has, rsdk_error *error) {
    rsdk_elf_dynsym symbols;
    uint32_t unused = 0;
    size_t kept = 0;
    RSDK_TRY(read_symbols(plan, path, &symbols, error));
    for (size_t i = 0; i < wanted->count; i++) {
        if (symbols.count == 0 || !rsdk_elf_dynsym_find(&symbols, &wanted->items[i], &unused)) {
            wanted->items[kept++] = wanted->items[i];
        }
    }
    *has = kept < wanted->count;
    wanted->count = kept;
    return RSDK_OK;
}

/* Make roots of libraries with symbols that files use without a DT_NEEDED entry. Local ones help nobody. */
static rsdk_status add_definers(rsdk_plan *plan, const rsdk_load_options *options, node_list *roots,
                                rsdk_error *error) {
    wanted_list wanted = {0};
    bool has = false;
    for (size_t i = 0; i < options->file_count; i++) {
        rsdk_elf_dynsym symbols;
        RSDK_TRY(read_symbols(plan, options->files[i], &symbols, error));
        for (uint32_t j = 1; j < symbols.count; j++) {
            const ElfW(Sym) *symbol = &symbols.symbols[j];
            const bool is_wanted = symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
            const char *name = is_wanted ? rsdk_elf_dynsym_name(&symbols, j) : NULL;
            if (name != NULL && rsdk_elf_dynsym_version(&symbols, j) == NULL && dlsym(RTLD_DEFAULT, name) == NULL) {
                RSDK_APPEND(&plan->arena, &wanted, rsdk_elf_dynsym_wanted(name, NULL, RSDK_ELF_REFERENCE_CALL), error);
            }
        }
    }
    for (size_t i = 0; wanted.count > 0 && i < plan->graph.nodes.count; i++) {
        RSDK_TRY(take_defined(plan, rsdk_plan_node(plan, i)->location.path, &wanted, &has, error));
    }
    for (size_t i = 0; wanted.count > 0 && i < rsdk_library_count; i++) {
        const char *pattern = rsdk_library_table[i].so_pattern;
        const char *name = rsdk_arena_copy_bytes(&plan->arena, pattern, strcspn(pattern, "*["));
        rsdk_location location = {.found_via = RSDK_FOUND_BY_NEED};
        size_t node = 0;
        has = false;
        RSDK_NEED(name, error);
        if (rsdk_interposition_keeps_local(name)) {
            continue;
        }
        RSDK_TRY(rsdk_inventory_find_linker_name(&plan->inventory, name, &location.path, &location.package, error));
        RSDK_TRY(location.path != NULL ? take_defined(plan, location.path, &wanted, &has, error) : RSDK_OK);
        if (has) {
            RSDK_TRY(rsdk_graph_add(&plan->graph, &location, true, &node, error));
            RSDK_APPEND(&plan->arena, roots, node, error);
        }
    }
    return rsdk_graph_complete(&plan->graph, error);
}

static rsdk_status fill_plan(rsdk_plan *plan, const rsdk_load_options *options, unsigned purpose, rsdk_error *error) {
    const bool asks_linker = (purpose & RSDK_PLAN_ASKS_LINKER) != 0;
    node_list roots = {0};
    RSDK_TRY(rsdk_link_map_read(&plan->arena, &plan->map, error));
    RSDK_TRY(rsdk_linker_search_init(&plan->arena, &plan->map, &plan->search, error));
    RSDK_TRY((purpose & RSDK_PLAN_OF_COMMAND) != 0 ? rsdk_link_map_keep_first(&plan->arena, &plan->map, error)
                                                   : RSDK_OK);
    if (asks_linker && options->is_new_process) {
        plan->map = (rsdk_link_map){.program_rpath = plan->map.program_rpath};
    }
    plan->graph = (rsdk_graph){.arena = &plan->arena,
                               .inventory = &plan->inventory,
                               .map = &plan->map,
                               .search = &plan->search,
                               .asks_linker = asks_linker || options->file_count > 0};
    if (options->file_count > 0) { /* the files that are found for them are read in any case */
        plan->search.is_passed_over = rsdk_graph_is_passed_over;
        plan->search.context = &plan->graph;
    }
    plan->warnings.arena = &plan->arena;
    plan->conflicts = (rsdk_conflicts){.graph = &plan->graph,
                                       .library_path = &plan->search.library_path,
                                       .ld_preload = options->ld_preload,
                                       .origins = &plan->origins,
                                       .warnings = &plan->warnings};
    RSDK_TRY(add_requested(plan, options, purpose, &roots, error));
    for (size_t i = 0; i < options->file_count; i++) {
        size_t node = 0;
        rsdk_location location = {.path = rsdk_arena_copy(plan->inventory.arena, options->files[i]),
                                  .found_via = RSDK_FOUND_BY_NEED};
        RSDK_NEED(location.path, error);
        RSDK_TRY(rsdk_graph_add(&plan->graph, &location, false, &node, error));
    }
    RSDK_TRY(rsdk_graph_complete(&plan->graph, error));
    RSDK_TRY(add_roots_of_files(plan, &roots, error));
    if (options->file_count > 0 && roots.count == 0) {
        RSDK_TRY(add_definers(plan, options, &roots, error));
    }
    plan->guard = (rsdk_guard){.graph = &plan->graph, .warnings = &plan->warnings, .isolate = options->isolate};
    RSDK_TRY(rsdk_guard_fill(&plan->guard, error));
    RSDK_TRY(add_bound_first(plan, error));
    for (size_t i = 0; i < roots.count; i++) {
        RSDK_TRY(add_root(plan, roots.items[i], options, error));
    }
    RSDK_TRY(follow_names_of_files(plan, options, roots.count, error));
    RSDK_TRY(make_hip_global(plan, options, error));
    return rsdk_second_names_fill(plan, error);
}

rsdk_status rsdk_plan_make(rsdk_sdk *sdk, const rsdk_load_options *options, unsigned purpose, rsdk_plan **plan,
                           rsdk_error *error) {
    *plan = NULL;
    rsdk_plan *fresh = calloc(1, sizeof *fresh);
    RSDK_NEED(fresh, error);
    fresh->inventory = rsdk_inventory_make(sdk, &fresh->arena, options->file_count > 0);
    fresh->inventory.keeps_symbols = (purpose & RSDK_PLAN_KEEPS_SYMBOLS) != 0;
    if ((purpose & RSDK_PLAN_TO_LOAD) != 0) {
        fresh->reader = rsdk_page_reader_watch(&fresh->inventory, options);
    }
    rsdk_status status = fill_plan(fresh, options, purpose, error);
    if (status != RSDK_OK) {
        rsdk_plan_free(fresh);
        return status;
    }
    *plan = fresh;
    return RSDK_OK;
}

rsdk_status rsdk_plan_new(rsdk_sdk *sdk, const rsdk_load_options *options, rsdk_plan **plan, rsdk_error *error) {
    return rsdk_plan_make(sdk, options, RSDK_PLAN_ASKS_LINKER, plan, error);
}

void rsdk_plan_free(rsdk_plan *plan) {
    if (plan != NULL) {
        rsdk_page_reader_stop(plan->reader);
        rsdk_arena_clear(&plan->arena);
        free(plan);
    }
}

int rsdk_planned_step_mode(const rsdk_planned_step *step) {
    return RTLD_NOW | (step->view.is_global ? RTLD_GLOBAL : RTLD_LOCAL) | (step->binds_deep ? RTLD_DEEPBIND : 0);
}

size_t rsdk_plan_step_count(const rsdk_plan *plan) {
    return plan->steps.count;
}

const rsdk_step *rsdk_plan_step(const rsdk_plan *plan, size_t index) {
    return index < plan->steps.count ? &plan->steps.items[index].view : NULL;
}
