/* The table of interpositions, applied to a graph. For a graph without libraries of the table, that is only a
 * comparison of names. */
#include "loader/guard.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "elf/soname.h"
#include "loader/link_map.h"

static const char hip_name[] = "libamdhip64.so";

static const rsdk_node *node_at(const rsdk_guard *guard, size_t index) {
    return guard->graph->nodes.items[index];
}

static const char *name_of(const rsdk_node *node) {
    return node->file->soname != NULL ? node->file->soname : rsdk_path_name(node->location.path);
}

/* ---- who stays local ---- */

static void keep_local(rsdk_guarded *node, const char *soname, const char *reason) {
    node->held_by = node->held_by != NULL ? node->held_by : soname;
    node->held_reason = node->held_reason != NULL ? node->held_reason : reason;
}

/* Look at the edges of a node. A node also brings in a library that is in the process already, or is the system's. */
static void look_at_edges(const rsdk_guard *guard, size_t index, const rsdk_interposition *row) {
    const rsdk_node *node = node_at(guard, index);
    for (size_t i = 0; i < node->edges.count; i++) {
        const rsdk_edge *edge = &node->edges.items[i];
        if ((edge->kind == RSDK_EDGE_LOADED || edge->kind == RSDK_EDGE_OUTSIDE) &&
            rsdk_interposition_is_of(row, edge->name)) {
            keep_local(&guard->nodes[index], edge->name, row->reason);
        }
    }
}

static void apply_scope_row(const rsdk_guard *guard, const rsdk_interposition *row) {
    for (size_t i = 0; i < guard->graph->nodes.count; i++) {
        const char *soname = name_of(node_at(guard, i));
        bool is_named = rsdk_interposition_is_of(row, soname);
        if (is_named && row->measure == RSDK_MEASURE_LOCAL) {
            guard->nodes[i].own_reason = row->reason;
        } else if (is_named) {
            keep_local(&guard->nodes[i], soname, row->reason);
        } else if (row->measure == RSDK_MEASURE_NEVER_GLOBAL) {
            look_at_edges(guard, i, row);
        }
    }
}

/* Pass the reason to stay local from each node to the nodes that need it: dlopen makes a library and all that it brings
 * in global together. Libraries that libamdhip64 brings in are global anyway. */
static void pass_on(const rsdk_guard *guard) {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = guard->graph->nodes.count; i-- > 0;) {
            const rsdk_node *node = node_at(guard, i);
            for (size_t j = 0; guard->nodes[i].held_by == NULL && j < node->edges.count; j++) {
                const rsdk_edge *edge = &node->edges.items[j];
                const rsdk_guarded *needed = edge->kind == RSDK_EDGE_SDK ? &guard->nodes[edge->node] : NULL;
                if (needed != NULL && needed->held_by != NULL && !needed->is_below_hip) {
                    keep_local(&guard->nodes[i], needed->held_by, needed->held_reason);
                    guard->nodes[i].is_wished_local = needed->is_wished_local;
                    has_changed = true;
                }
            }
        }
    }
    for (size_t i = 0; i < guard->graph->nodes.count; i++) {
        if (guard->nodes[i].is_below_hip) {
            guard->nodes[i].held_by = NULL;
        }
    }
}

/* ---- who is bound first ---- */

/* Note that a node is opened before all others, once. */
static rsdk_status add_first(rsdk_guard *guard, size_t index, const char *reason, rsdk_error *error) {
    if (guard->nodes[index].first_reason == NULL) {
        RSDK_APPEND(guard->graph->arena, &guard->bound_first, index, error);
        guard->nodes[index].first_reason = reason;
    }
    return RSDK_OK;
}

static rsdk_status is_interposable(const rsdk_guard *guard, const rsdk_node *node, const char *const prefixes[],
                                   bool *result, rsdk_error *error) {
    const rsdk_elf_file *file = NULL;
    const rsdk_elf_dynsym *symbols = rsdk_inventory_symbols(guard->graph->inventory, node->location.path, &file);
    if (symbols == NULL) {
        return rsdk_elf_file_is_interposable(node->location.path, prefixes, result, error);
    }
    *result = rsdk_elf_dynsym_calls_own_by_name(symbols, prefixes);
    return RSDK_OK;
}

/* Bind a library with RTLD_DEEPBIND, since another file answers for it already: the library then looks into itself
 * first. If that would change something else, a warning says what follows. */
static rsdk_status bind_deep(rsdk_guard *guard, const rsdk_interposition *row, size_t index, const char *definer,
                             rsdk_error *error) {
    const rsdk_node *node = node_at(guard, index);
    rsdk_passed_by passed_by;
    if (guard->nodes[index].binds_deep) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_guard_find_passed_by(guard->graph, &node->location, row, definer, &passed_by, error));
    if (passed_by.file != NULL) {
        return rsdk_warnings_add(
            guard->warnings, RSDK_WARNING_CONFLICT, error,
            "%s will call %s and other functions of %s instead of its own: that library is in the "
            "global scope, and %s; RTLD_DEEPBIND, which would keep them apart, would pass by %s of %s; "
            "name both libraries in one call, before anything else opens one of them with RTLD_GLOBAL",
            node->location.path, row->probe, definer, row->reason, passed_by.symbol, passed_by.file);
    }
    const char *reason =
        rsdk_arena_format(guard->graph->arena, "%s is in the global scope, and %s", definer, row->reason);
    RSDK_NEED(reason, error);
    guard->nodes[index].binds_deep = true;
    return add_first(guard, index, reason, error);
}

/* Keep the libraries of a group apart if two of them are in the plan, or one is in the global scope already, and one
 * calls its own functions by name. */
static rsdk_status apply_bound_first(rsdk_guard *guard, const rsdk_interposition *row, rsdk_error *error) {
    RSDK_LIST(size_t) members = {0};
    bool calls_own = false;
    for (size_t i = 0; i < guard->graph->nodes.count; i++) {
        const rsdk_node *node = node_at(guard, i);
        if (node->is_sdk && node->mapped == NULL && rsdk_interposition_is_of(row, name_of(node))) {
            RSDK_APPEND(guard->graph->arena, &members, i, error);
        }
    }
    const char *definer = members.count > 0 ? rsdk_global_scope_find(row->probe).file : NULL;
    for (size_t i = 0; i < members.count && members.count + (definer != NULL) > 1; i++) {
        const rsdk_node *node = node_at(guard, members.items[i]);
        RSDK_TRY(is_interposable(guard, node, row->symbols, &calls_own, error));
        if (calls_own && definer != NULL) {
            RSDK_TRY(bind_deep(guard, row, members.items[i], definer, error));
        } else if (calls_own) {
            break;
        }
    }
    for (size_t i = 0; i < members.count && members.count > 1 && calls_own; i++) {
        RSDK_TRY(add_first(guard, members.items[i], row->reason, error));
    }
    return RSDK_OK;
}

/* ---- the user's wishes ---- */

static rsdk_status apply_wish(rsdk_guard *guard, const rsdk_catalog_entry *entry, bool binds_deep, rsdk_error *error) {
    static const char deep[] = "ROCM_SDK_ISOLATE asks for it";
    static const char local[] = "ROCM_SDK_ISOLATE names it";
    for (size_t i = 0; i < guard->graph->nodes.count; i++) {
        const rsdk_node *node = node_at(guard, i);
        if (!node->is_sdk || rsdk_catalog_find_file(rsdk_path_name(node->location.path)) != entry) {
            continue;
        }
        if (binds_deep && node->mapped == NULL) {
            guard->nodes[i].binds_deep = true;
            RSDK_TRY(add_first(guard, i, deep, error));
        } else if (!binds_deep) {
            guard->nodes[i].is_wished_local = true;
            keep_local(&guard->nodes[i], name_of(node), local);
        }
    }
    return RSDK_OK;
}

static rsdk_status apply_wishes(rsdk_guard *guard, rsdk_error *error) {
    static const char separators[] = ",; ", suffix[] = ":deepbind";
    for (const char *rest = guard->isolate; rest != NULL && *(rest += strspn(rest, separators)) != '\0';) {
        size_t length = strcspn(rest, separators);
        char *wish = rsdk_arena_copy_bytes(guard->graph->arena, rest, length);
        RSDK_NEED(wish, error);
        size_t name_length = length > sizeof suffix - 1 ? length - (sizeof suffix - 1) : length;
        bool binds_deep = name_length < length && strcmp(wish + name_length, suffix) == 0;
        char *name = rsdk_arena_copy_bytes(guard->graph->arena, wish, binds_deep ? name_length : length);
        RSDK_NEED(name, error);
        const rsdk_catalog_entry *entry = rsdk_catalog_find(name);
        if (entry == NULL || rsdk_catalog_find_file(hip_name) == entry) {
            return rsdk_fail_as(
                error, RSDK_BAD_ARGUMENT, RSDK_E_ENV_008, NULL,
                RSDK_FACTS({"variable", "ROCM_SDK_ISOLATE"},
                           {"expected", "names of libraries other than amdhip64, with ',' between, each alone "
                                        "or with ':deepbind'"}),
                "ROCM_SDK_ISOLATE=%s: '%s' is not the name of a library that can be isolated", guard->isolate, wish);
        }
        RSDK_TRY(apply_wish(guard, entry, binds_deep, error));
        rest += length;
    }
    return RSDK_OK;
}

/* ---- the whole ---- */

rsdk_status rsdk_guard_fill(rsdk_guard *guard, rsdk_error *error) {
    guard->nodes = rsdk_arena_alloc(guard->graph->arena, guard->graph->nodes.count + 1, sizeof *guard->nodes);
    RSDK_NEED(guard->nodes, error);
    guard->hip = RSDK_NO_NODE;
    for (size_t i = 0; i < guard->graph->nodes.count && guard->hip == RSDK_NO_NODE; i++) {
        guard->hip = rsdk_soname_has_linker_name(name_of(node_at(guard, i)), hip_name) ? i : RSDK_NO_NODE;
    }
    for (size_t i = 0; i < rsdk_interposition_count; i++) {
        if (rsdk_interpositions[i].measure != RSDK_MEASURE_BOUND_FIRST) {
            apply_scope_row(guard, &rsdk_interpositions[i]);
        }
    }
    RSDK_TRY(apply_wishes(guard, error)); /* before rules that do the same, or warn of a conflict that is prevented */
    for (size_t i = 0; i < rsdk_interposition_count; i++) {
        if (rsdk_interpositions[i].measure == RSDK_MEASURE_BOUND_FIRST) {
            RSDK_TRY(apply_bound_first(guard, &rsdk_interpositions[i], error));
        }
    }
    /* Mark the libraries that libamdhip64 brings in: they are global with it. */
    bool has_changed = guard->hip != RSDK_NO_NODE;
    if (has_changed) {
        guard->nodes[guard->hip].is_below_hip = true;
    }
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < guard->graph->nodes.count; i++) {
            const rsdk_node *node = node_at(guard, i);
            for (size_t j = 0; guard->nodes[i].is_below_hip && j < node->edges.count; j++) {
                const rsdk_edge *edge = &node->edges.items[j];
                if (edge->kind == RSDK_EDGE_SDK && !guard->nodes[edge->node].is_below_hip) {
                    guard->nodes[edge->node].is_below_hip = has_changed = true;
                }
            }
        }
    }
    pass_on(guard);
    return RSDK_OK;
}
