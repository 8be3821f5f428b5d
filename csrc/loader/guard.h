/* The guard: keeps libraries from taking each other's place in the search for symbols. By the table of
 * sdk/interposition_table.c and the user's wishes it says which nodes of the graph are opened first, and which steps
 * stay out of the global scope. */
#ifndef RSDK_LOADER_GUARD_H
#define RSDK_LOADER_GUARD_H

#include "loader/dependency_graph.h"
#include "loader/warnings.h"
#include "rocm_sdk/loader.h"
#include "sdk/tables.h"

/* The guard's rules for one node. */
typedef struct rsdk_guarded {
    const char *own_reason;   /* the reason to open the library RTLD_LOCAL, whoever asks for it; NULL: none */
    const char *held_by;      /* a library that must not become global and comes with it, or itself; NULL: none */
    const char *held_reason;  /* the reason why `held_by` must not */
    const char *first_reason; /* the reason to open the library before all others; NULL: none */
    bool is_wished_local;     /* ROCM_SDK_ISOLATE names `held_by` */
    bool binds_deep;          /* RTLD_DEEPBIND: ROCM_SDK_ISOLATE asks for it, or another file answers already */
    bool is_below_hip;        /* libamdhip64, which is always global, brings it in */
} rsdk_guarded;

typedef struct rsdk_guard {
    const rsdk_graph *graph; /* borrowed, as the others */
    rsdk_warnings *warnings;
    const char *isolate;           /* ROCM_SDK_ISOLATE; NULL: not set */
    rsdk_guarded *nodes;           /* by index; of the nodes that the graph had */
    size_t hip;                    /* the node of libamdhip64; RSDK_NO_NODE: none */
    RSDK_LIST(size_t) bound_first; /* nodes, in the order of opening */
} rsdk_guard;

/* Fill in the rest of *guard, once the graph is complete. RSDK_BAD_ARGUMENT if `isolate` has a name that is not a
 * library's. */
rsdk_status rsdk_guard_fill(rsdk_guard *guard, rsdk_error *error);

/* A definition of the global scope that a library would no longer use. */
typedef struct rsdk_passed_by {
    const char *symbol, *file; /* file: NULL: there is none */
} rsdk_passed_by;

/* Find what would change if a library that is not in the process were bound with RTLD_DEEPBIND, apart from the symbols
 * of the row, and those that `definer` (a file in the global scope) and the library have both. */
rsdk_status rsdk_guard_find_passed_by(const rsdk_graph *graph, const rsdk_location *library,
                                      const rsdk_interposition *row, const char *definer, rsdk_passed_by *found,
                                      rsdk_error *error);

#endif
