/* The dependency graph: SDK libraries as nodes, their DT_NEEDED entries as edges to where each name leads. */
#ifndef RSDK_LOADER_DEPENDENCY_GRAPH_H
#define RSDK_LOADER_DEPENDENCY_GRAPH_H

#include "base/arena.h"
#include "loader/link_map.h"
#include "loader/linker_search.h"
#include "rocm_sdk/loader.h"
#include "sdk/inventory.h"

#define RSDK_NO_NODE ((size_t)-1)

typedef enum rsdk_edge_kind {
    RSDK_EDGE_SDK,     /* an edge to a node: a file of the SDK, or a file that was given and leads to the SDK */
    RSDK_EDGE_LOADED,  /* the process has an object of this SONAME: the linker takes that */
    RSDK_EDGE_OUTSIDE, /* the linker resolves it; if the linker was asked, `path` is the file that it would find */
    RSDK_EDGE_MISSING, /* the linker was asked and finds nothing */
} rsdk_edge_kind;

typedef struct rsdk_edge {
    const char *name; /* the DT_NEEDED entry, or DT_FILTER or DT_AUXILIARY */
    bool is_optional; /* DT_AUXILIARY */
    rsdk_edge_kind kind;
    size_t node;      /* the node of RSDK_EDGE_SDK */
    const char *path; /* the path of LOADED, and of OUTSIDE if the linker was asked or the entry is a path */
    bool is_sought;   /* an anchor has asked for `path` */
} rsdk_edge;

/* Return whether the entry is a path, which the linker opens as it is. */
bool rsdk_edge_is_path(const rsdk_edge *edge);

typedef struct rsdk_node {
    rsdk_location location;
    const rsdk_elf_file *file;
    bool is_sdk;                      /* false: a file that was given, or one outside that it leads to */
    const rsdk_mapped_object *mapped; /* this very file in the process, or NULL */
    size_t parent;  /* the node that led here first, RSDK_NO_NODE for a root; set again when a step takes it in */
    bool is_placed; /* in the process, or brought in by a step of the plan */
    rsdk_load_chain chain; /* the way into the process: by `parent` */
    uint64_t walk;         /* the last walk that visited it */
    RSDK_LIST(rsdk_edge) edges;
} rsdk_node;

typedef struct rsdk_graph {
    rsdk_arena *arena;
    rsdk_inventory *inventory;
    rsdk_link_map *map;
    rsdk_linker_search *search;
    bool asks_linker;              /* the linker is asked for files outside the SDK */
    bool has_all;                  /* these files, and files in the process, are nodes as well */
    RSDK_LIST(rsdk_node *) nodes;  /* their places in memory stay */
    rsdk_name_table identities;    /* nodes by the identity of their files */
    rsdk_name_table outside_names; /* "ROOT:NAME" -> node: the names that the linker knows by then of a given file and
                                      of files that it brings in from outside the SDK */
    size_t completed;              /* nodes whose edges are known */
} rsdk_graph;

/* Add a root, or find the node that is there already; *index is its place in graph->nodes. */
rsdk_status rsdk_graph_add(rsdk_graph *graph, const rsdk_location *location, bool is_sdk, size_t *index,
                           rsdk_error *error);

/* Follow all edges of all nodes, breadth first, in file order, as the linker does. */
rsdk_status rsdk_graph_complete(rsdk_graph *graph, rsdk_error *error);

/* Return whether the linker goes on behind a file that it finds for a name: for rsdk_linker_search. `graph` is a
 * rsdk_graph. */
bool rsdk_graph_is_passed_over(void *graph, const char *path);

/* Note that `node` comes into the process by `parent`, or, where `parent` is RSDK_NO_NODE, by itself. */
void rsdk_graph_set_parent(rsdk_graph *graph, size_t node, size_t parent);

/* Number the strongly connected components of the nodes marked in `members`: in a component every node needs every
 * other, directly or through others. component[i] is the number of node i. A component that needs another has the
 * higher number. */
rsdk_status rsdk_graph_components(const rsdk_graph *graph, const bool *members, size_t *component, rsdk_error *error);

#endif
