/* The list of problems. */
#include "gpu/problem_list.h"

#include <stdio.h>

typedef RSDK_LIST(rsdk_fact) fact_list;

static rsdk_status gather_facts(rsdk_problem_list *list, rsdk_gpu_problem *problem, const rsdk_fact *more,
                                rsdk_error *error) {
    fact_list facts = {0};
    RSDK_APPEND(list->arena, &facts, ((rsdk_fact){"detail", problem->detail}), error);
    if (problem->node != RSDK_NO_NODE) {
        const char *node = rsdk_arena_format(list->arena, "%d", problem->node);
        RSDK_NEED(node, error);
        RSDK_APPEND(list->arena, &facts, ((rsdk_fact){"node", node}), error);
    }
    for (; more != NULL && more->name != NULL; more++) {
        if (more->value != NULL) {
            RSDK_APPEND(list->arena, &facts, *more, error);
        }
    }
    problem->facts = facts.items;
    problem->fact_count = facts.count;
    return RSDK_OK;
}

rsdk_status rsdk_problem_list_add(rsdk_problem_list *list, rsdk_gpu_problem problem, const rsdk_fact *more,
                                  rsdk_error *error) {
    RSDK_NEED(problem.path, error);
    RSDK_NEED(problem.detail, error);
    RSDK_TRY(gather_facts(list, &problem, more, error));
    RSDK_APPEND(list->arena, &list->problems, problem, error);
    return RSDK_OK;
}
