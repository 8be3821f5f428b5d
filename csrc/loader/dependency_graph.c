/* Building the graph, and its strongly connected components. */
#include "loader/dependency_graph.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fail.h"
#include "base/path.h"
#include "elf/elf_header.h"
#include "elf/elf_machine.h"
#include "sdk/further_libraries.h"
#include "sdk/inventory.h"

enum { NODE_LIMIT = 10000 }; /* no installation has that many libraries; a hostile one may link to itself forever */

void rsdk_graph_set_parent(rsdk_graph *graph, size_t node, size_t parent) {
    rsdk_node *child = graph->nodes.items[node];
    child->parent = parent;
    rsdk_load_chain_attach(&child->chain, parent != RSDK_NO_NODE ? &graph->nodes.items[parent]->chain : NULL);
}

/* Identities are compared byte by byte in the table of names. */
_Static_assert(sizeof(rsdk_file_identity) == sizeof(dev_t) + sizeof(ino_t), "no padding");

static rsdk_status add_node(rsdk_graph *graph, const rsdk_node *facts, size_t *index, rsdk_error *error) {
    rsdk_node *node = rsdk_arena_alloc(graph->arena, 1, sizeof *node);
    RSDK_NEED(node, error);
    *node = *facts;
    node->location.soname = node->file->soname;
    node->mapped = rsdk_link_map_find_file(graph->map, node->location.path, node->file->soname, node->file->identity);
    node->is_placed = node->mapped != NULL;
    RSDK_TRY(rsdk_linker_search_start_chain(graph->search, node->file, &node->chain, error));
    *index = graph->nodes.count;
    RSDK_TRY(rsdk_name_table_set(&graph->identities, graph->arena, &node->file->identity, sizeof node->file->identity,
                                 *index, error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(graph->arena, &graph->nodes, node, error);
    return RSDK_OK;
}

rsdk_status rsdk_graph_add(rsdk_graph *graph, const rsdk_location *location, bool is_sdk, size_t *index,
                           rsdk_error *error) {
    rsdk_node node = {.location = *location, .is_sdk = is_sdk, .parent = RSDK_NO_NODE};
    RSDK_TRY(rsdk_inventory_read(graph->inventory, location->path, &node.file, error));
    RSDK_TRY(rsdk_elf_machine_check(node.file, error));
    if (rsdk_name_table_find(&graph->identities, &node.file->identity, sizeof node.file->identity, index)) {
        return RSDK_OK;
    }
    if (graph->nodes.count >= NODE_LIMIT) {
        return rsdk_fail(error, RSDK_BAD_ELF, location->path, "%s: needs more than %d libraries", location->path,
                         NODE_LIMIT);
    }
    return add_node(graph, &node, index, error);
}

bool rsdk_graph_is_passed_over(void *graph, const char *path) {
    const rsdk_graph *asking = graph;
    const rsdk_elf_file *file = NULL;
    rsdk_elf_header header;
    if (access(path, R_OK) != 0) {
        return true;
    }
    if (rsdk_inventory_read(asking->inventory, path, &file, NULL) == RSDK_OK) {
        return rsdk_elf_machine_is_passed_over(file->elf_class, file->data_encoding, file->machine);
    }
    return rsdk_elf_header_read(path, &header) &&
           rsdk_elf_machine_is_passed_over(header.elf_class, header.data_encoding, header.machine);
}

/* ---- names of what is outside ---- */

static size_t root_of(const rsdk_graph *graph, size_t node) {
    while (graph->nodes.items[node]->parent != RSDK_NO_NODE) {
        node = graph->nodes.items[node]->parent;
    }
    return node;
}

static rsdk_status note_name(rsdk_graph *graph, size_t root, const char *name, size_t node, rsdk_error *error) {
    size_t known = 0;
    const char *key = name != NULL ? rsdk_arena_format(graph->arena, "%zu:%s", root, name) : "";
    RSDK_NEED(key, error);
    if (name == NULL || rsdk_name_table_find(&graph->outside_names, key, strlen(key), &known)) {
        return RSDK_OK;
    }
    return rsdk_name_table_set(&graph->outside_names, graph->arena, key, strlen(key), node, error);
}

/* ---- edges ---- */

/* Look where the linker would find a name that is not in the SDK. */
static rsdk_status look_outside(rsdk_graph *graph, size_t from, rsdk_edge *edge, rsdk_error *error) {
    bool is_noted = false;
    if (!graph->nodes.items[from]->is_sdk) {
        /* The linker does not look again for a name that the file, or one that it has brought in, answers to. */
        const char *key = rsdk_arena_format(graph->arena, "%zu:%s", root_of(graph, from), edge->name);
        RSDK_NEED(key, error);
        is_noted = rsdk_name_table_find(&graph->outside_names, key, strlen(key), &edge->node);
    }
    if (is_noted) {
        edge->kind = RSDK_EDGE_SDK;
        edge->path = graph->nodes.items[edge->node]->location.path;
        return RSDK_OK;
    }
    const rsdk_load_chain *chain = &graph->nodes.items[from]->chain;
    RSDK_TRY(rsdk_linker_search_find(graph->search, chain, edge->name, &edge->path, error));
    edge->kind = edge->path != NULL ? RSDK_EDGE_OUTSIDE : RSDK_EDGE_MISSING;
    return RSDK_OK;
}

bool rsdk_edge_is_path(const rsdk_edge *edge) {
    return strchr(edge->name, '/') != NULL;
}

/* Resolve an entry with a '/': the linker replaces its tokens and opens it. */
static rsdk_status resolve_path(rsdk_graph *graph, size_t from, rsdk_edge *edge, rsdk_location *location,
                                rsdk_error *error) {
    const char *needing = graph->nodes.items[from]->file->path;
    const rsdk_known_directory *known = NULL;
    RSDK_TRY(rsdk_linker_search_fill_in(graph->arena, edge->name, needing, &edge->path, error));
    if (edge->path == NULL) {
        return RSDK_OK; /* the linker knows */
    }
    const char *parent = rsdk_path_parent(graph->inventory->arena, edge->path), *name = rsdk_path_name(edge->path);
    RSDK_NEED(parent, error);
    RSDK_TRY(rsdk_inventory_known_directory(graph->inventory, parent, &known, error));
    if (known->directory != NULL && rsdk_directory_has(&known->directory->listing, name)) {
        location->path = rsdk_path_join(graph->inventory->arena, known->directory->path, name);
        location->package = known->directory->package;
        RSDK_NEED(location->path, error);
    } else if (!rsdk_directory_holds(parent, name)) {
        edge->kind = RSDK_EDGE_MISSING;
        edge->path = NULL;
    }
    return RSDK_OK;
}

static rsdk_status resolve_name(rsdk_graph *graph, size_t from, rsdk_edge *edge, rsdk_location *location,
                                rsdk_error *error) {
    const rsdk_node *node = graph->nodes.items[from];
    const rsdk_mapped_object *mapped = rsdk_link_map_find_soname(graph->map, edge->name);
    if (mapped != NULL) {
        edge->kind = RSDK_EDGE_LOADED;
        edge->path = mapped->path;
        return RSDK_OK;
    }
    const char *near = node->is_sdk ? node->location.path : NULL;
    RSDK_TRY(rsdk_inventory_find(graph->inventory, near, edge->name, &location->path, &location->package, error));
    if (location->path != NULL || !graph->asks_linker) {
        return RSDK_OK;
    }
    RSDK_TRY(look_outside(graph, from, edge, error));
    const bool is_nowhere = edge->kind == RSDK_EDGE_MISSING && graph->inventory->supports_files;
    return is_nowhere
               ? rsdk_further_libraries_find(graph->inventory, edge->name, &location->path, &location->package, error)
               : RSDK_OK;
}

/* Fill in the end of `edge`, which has a name. */
static rsdk_status resolve_edge(rsdk_graph *graph, size_t from, rsdk_edge *edge, rsdk_error *error) {
    rsdk_location location = {.found_via = RSDK_FOUND_BY_NEED};
    edge->kind = RSDK_EDGE_OUTSIDE;
    edge->node = RSDK_NO_NODE;
    RSDK_TRY(rsdk_edge_is_path(edge) ? resolve_path(graph, from, edge, &location, error)
                                     : resolve_name(graph, from, edge, &location, error));
    if (location.path != NULL) {
        edge->kind = RSDK_EDGE_SDK;
        return rsdk_graph_add(graph, &location, true, &edge->node, error);
    }
    bool leads_on = graph->has_all || (edge->kind == RSDK_EDGE_OUTSIDE && !graph->nodes.items[from]->is_sdk);
    if (!leads_on || edge->path == NULL) {
        return RSDK_OK;
    }
    /* Follow a given file's own neighbours, which may lead to the SDK as well; an unreadable neighbour leads nowhere.
     */
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_location neighbour = {.path = edge->path, .found_via = RSDK_FOUND_BY_NEED};
    rsdk_status status = rsdk_graph_add(graph, &neighbour, false, &edge->node, &reason);
    rsdk_error_clear(&reason);
    if (status == RSDK_OK) {
        size_t root = root_of(graph, from);
        edge->kind = RSDK_EDGE_SDK;
        RSDK_TRY(note_name(graph, root, edge->name, edge->node, error));
        RSDK_TRY(note_name(graph, root, graph->nodes.items[edge->node]->file->soname, edge->node, error));
    }
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status add_edge(rsdk_graph *graph, size_t from, rsdk_edge edge, rsdk_error *error) {
    RSDK_TRY(resolve_edge(graph, from, &edge, error));
    if (edge.kind == RSDK_EDGE_SDK && edge.node > from && graph->nodes.items[edge.node]->parent == RSDK_NO_NODE) {
        rsdk_graph_set_parent(graph, edge.node, from);
    }
    if (!edge.is_optional || edge.kind != RSDK_EDGE_MISSING) {
        RSDK_APPEND(graph->arena, &graph->nodes.items[from]->edges, edge, error);
    }
    return RSDK_OK;
}

rsdk_status rsdk_graph_complete(rsdk_graph *graph, rsdk_error *error) {
    while (graph->completed < graph->nodes.count) {
        /* A file that is in the process is complete, and so are its needs. Filtees come first: the linker puts them
         * before the file in the order in which symbols are looked for. */
        size_t index = graph->completed++;
        const rsdk_node *node = graph->nodes.items[index];
        if (node->mapped == NULL || graph->has_all) {
            if (!node->is_sdk && node->parent == RSDK_NO_NODE) {
                RSDK_TRY(note_name(graph, index, node->file->soname, index, error));
            }
            for (size_t i = 0; i < node->file->filtees.count; i++) {
                const rsdk_elf_filtee *filtee = &node->file->filtees.items[i];
                rsdk_edge edge = {.name = filtee->name, .is_optional = filtee->is_optional};
                RSDK_TRY(add_edge(graph, index, edge, error));
            }
            for (size_t i = 0; i < node->file->needed.count; i++) {
                RSDK_TRY(add_edge(graph, index, (rsdk_edge){.name = node->file->needed.items[i]}, error));
            }
        }
    }
    return RSDK_OK;
}

/* ---- strongly connected components ---- */

/* Tarjan's algorithm, with an explicit stack instead of recursion: the input decides how deep the graph is. */
typedef struct tarjan {
    const rsdk_graph *graph;
    const bool *members;
    size_t *component, *order, *low, *stack, *path, *next_edge;
    bool *is_on_stack;
    size_t counter, component_count, stack_size, path_size;
} tarjan;

static void enter(tarjan *t, size_t node) {
    t->order[node] = t->low[node] = ++t->counter;
    t->stack[t->stack_size++] = node;
    t->is_on_stack[node] = true;
    t->next_edge[node] = 0;
    t->path[t->path_size++] = node;
}

static void leave(tarjan *t, size_t node) {
    t->path_size--;
    if (t->path_size > 0) {
        size_t above = t->path[t->path_size - 1];
        t->low[above] = t->low[node] < t->low[above] ? t->low[node] : t->low[above];
    }
    if (t->low[node] != t->order[node]) {
        return;
    }
    for (size_t member = RSDK_NO_NODE; member != node;) {
        member = t->stack[--t->stack_size];
        t->is_on_stack[member] = false;
        t->component[member] = t->component_count;
    }
    t->component_count++;
}

static void visit(tarjan *t, size_t root) {
    enter(t, root);
    while (t->path_size > 0) {
        size_t node = t->path[t->path_size - 1];
        const rsdk_node *facts = t->graph->nodes.items[node];
        if (t->next_edge[node] == facts->edges.count) {
            leave(t, node);
            continue;
        }
        const rsdk_edge *edge = &facts->edges.items[t->next_edge[node]++];
        if (edge->kind != RSDK_EDGE_SDK || !t->members[edge->node]) {
            continue;
        }
        if (t->order[edge->node] == 0) {
            enter(t, edge->node);
        } else if (t->is_on_stack[edge->node] && t->order[edge->node] < t->low[node]) {
            t->low[node] = t->order[edge->node];
        }
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): `component` is written through the tarjan */
rsdk_status rsdk_graph_components(const rsdk_graph *graph, const bool *members, size_t *component, rsdk_error *error) {
    size_t count = graph->nodes.count;
    size_t *numbers = rsdk_arena_alloc(graph->arena, 5 * count + 1, sizeof *numbers);
    RSDK_NEED(numbers, error);
    bool *flags = rsdk_arena_alloc(graph->arena, count + 1, sizeof *flags);
    RSDK_NEED(flags, error);
    tarjan t = {.graph = graph,
                .members = members,
                .component = component,
                .order = numbers,
                .low = numbers + count,
                .stack = numbers + 2 * count,
                .path = numbers + 3 * count,
                .next_edge = numbers + 4 * count,
                .is_on_stack = flags};
    for (size_t i = 0; i < count; i++) {
        if (members[i] && t.order[i] == 0) {
            visit(&t, i);
        }
    }
    return RSDK_OK;
}
