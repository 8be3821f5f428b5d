/* The parts of a plan. */
#ifndef RSDK_LOADER_PLANNED_H
#define RSDK_LOADER_PLANNED_H

#include "loader/conflicts.h"
#include "loader/dependency_graph.h"
#include "loader/guard.h"
#include "loader/link_map.h"
#include "loader/linker_search.h"
#include "loader/origin.h"
#include "loader/read_ahead/page_reader.h"
#include "loader/warnings.h"
#include "rocm_sdk/loader.h"
#include "sdk/inventory.h"

typedef struct rsdk_planned_step {
    rsdk_step view;
    size_t node;
    bool was_in_process;               /* before the plan's first step */
    bool is_bound_first;               /* the guard binds it first; a later step may make it global */
    bool binds_deep;                   /* RTLD_DEEPBIND */
    bool has_unversioned_name;         /* the preloader's anchor has it */
    double seconds;                    /* seconds in dlopen, once the preloader has carried the step out */
    const char *refusal;               /* the dlerror text, once the preloader has tried in vain */
    RSDK_LIST(size_t) members;         /* nodes that the step brings in, breadth first, `node` first; none for REUSE */
    rsdk_strings anchor_names;         /* DT_NEEDED of the anchor: paths of the SDK and names outside, breadth first */
    RSDK_LIST(size_t) unfound_members; /* the members that the linker would not find by itself */
} rsdk_planned_step;

/* A name that a member of a step opens a library by. */
typedef struct rsdk_wished_name {
    const char *name;
    size_t opener, step; /* the node, and the step that has it */
} rsdk_wished_name;

/* A name without version that a library gets. */
typedef struct rsdk_planned_name {
    rsdk_unversioned_name view;
    const char *soname;
    const rsdk_elf_file *model; /* for the object that has the name */
    size_t step;
} rsdk_planned_name;

struct rsdk_plan {
    rsdk_arena arena;
    rsdk_inventory inventory;
    rsdk_page_reader *reader; /* NULL: nothing is read ahead */
    rsdk_link_map map;
    rsdk_linker_search search;
    rsdk_graph graph;
    rsdk_conflicts conflicts;
    rsdk_origins origins;
    rsdk_guard guard;
    RSDK_LIST(rsdk_planned_step) steps;
    RSDK_LIST(rsdk_wished_name) wished_names;
    RSDK_LIST(rsdk_planned_name) names;
    rsdk_warnings warnings;
    uint64_t walk_count;
    rsdk_location *requested; /* the locations as asked, absent ones too */
    size_t requested_count;
    bool lacks_packages; /* with RSDK_PLAN_OF_INSTALLED: a package of a library is not there */
};

static inline rsdk_node *rsdk_plan_node(const rsdk_plan *plan, size_t index) {
    return plan->graph.nodes.items[index];
}

#endif
