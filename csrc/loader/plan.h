/* The plan, as the preloader sees it: the public steps, and the graph behind them. */
#ifndef RSDK_LOADER_PLAN_H
#define RSDK_LOADER_PLAN_H

#include "loader/conflicts.h"
#include "loader/dependency_graph.h"
#include "loader/guard.h"
#include "loader/inventory.h"
#include "loader/link_map.h"
#include "loader/linker_search.h"
#include "loader/warnings.h"
#include "rocm_sdk/loader.h"

typedef struct rsdk_planned_step {
    rsdk_step view;
    size_t node;
    bool was_in_process;               /* before the plan's first step */
    bool is_bound_first;               /* by the guard; a later step may make it global */
    bool binds_deep;                   /* RTLD_DEEPBIND */
    bool has_unversioned_name;         /* the preloader's anchor has it */
    double seconds;                    /* in dlopen, once the preloader has carried it out */
    const char *refusal;               /* the dlerror text, once the preloader has tried in vain */
    RSDK_LIST(size_t) members;         /* nodes that the step brings in, breadth first, `node` first; none for REUSE */
    rsdk_strings anchor_names;         /* DT_NEEDED of the anchor: paths of the SDK and names outside, breadth first */
    RSDK_LIST(size_t) unfound_members; /* those that the linker would not find by itself */
} rsdk_planned_step;

/* How the step opens its library. */
int rsdk_planned_step_mode(const rsdk_planned_step *step);

struct rsdk_plan {
    rsdk_arena arena;
    rsdk_inventory inventory;
    rsdk_link_map map;
    rsdk_linker_search search;
    rsdk_graph graph;
    rsdk_conflicts conflicts;
    rsdk_guard guard;
    RSDK_LIST(rsdk_planned_step) steps;
    rsdk_warnings warnings;
    uint64_t walk_count;
    rsdk_location *requested; /* as asked, absent ones too */
    size_t requested_count;
    bool lacks_packages; /* of what is installed: a package of a library is not there */
};

/* What a plan is made for. */
enum {
    RSDK_PLAN_ASKS_LINKER = 1,   /* it also looks for what is outside */
    RSDK_PLAN_KEEPS_SYMBOLS = 2, /* its files are read with their symbols */
    RSDK_PLAN_OF_INSTALLED = 4,  /* instead of shortnames: all libraries that are installed */
};

rsdk_status rsdk_plan_make(rsdk_sdk *sdk, const rsdk_load_options *options, unsigned purpose, rsdk_plan **plan,
                           rsdk_error *error);

#endif
