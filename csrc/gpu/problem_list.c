/* The list of problems. */
#include "gpu/problem_list.h"

#include <stdio.h>

typedef RSDK_LIST(rsdk_fact) fact_list;

static rsdk_status gather_facts(rsdk_problem_list *list, rsdk_gpu_problem *problem, const rsdk_fact *more,
                                rsdk_error *error) {
    fact_list facts = {0};
    RSDK_APPEND(list->arena, &facts, ((rsdk_fact){"detail", problem->detail}));
    if (problem->node != RSDK_NO_NODE) {
        const char *node = rsdk_arena_format(list->arena, "%d", problem->node);
        RSDK_NEED(node);
        RSDK_APPEND(list->arena, &facts, ((rsdk_fact){"node", node}));
    }
    for (; more != NULL && more->name != NULL; more++) {
        if (more->value != NULL) {
            RSDK_APPEND(list->arena, &facts, *more);
        }
    }
    problem->facts = facts.items;
    problem->fact_count = facts.count;
    return RSDK_OK;
}

rsdk_status rsdk_problem_list_add(rsdk_problem_list *list, rsdk_gpu_problem problem, const rsdk_fact *more,
                                  rsdk_error *error) {
    RSDK_NEED(problem.path);
    RSDK_NEED(problem.detail);
    RSDK_TRY(gather_facts(list, &problem, more, error));
    RSDK_APPEND(list->arena, &list->problems, problem);
    return RSDK_OK;
}
