/* Problems with GPUs as they are collected. */
#ifndef RSDK_GPU_PROBLEM_LIST_H
#define RSDK_GPU_PROBLEM_LIST_H

#include "base/arena.h"
#include "rocm_sdk/gpu.h"

enum { RSDK_NO_NODE = -1 };

typedef struct rsdk_problem_list {
    rsdk_arena *arena; /* borrowed; the texts live in it too */
    RSDK_LIST(rsdk_gpu_problem) problems;
} rsdk_problem_list;

/* Add a problem, whose facts are `detail`, `node` and, where `more` is not NULL, the facts of a list that RSDK_FACTS
 * writes (their values borrowed, NULL: not known). A text that is NULL could not be allocated: RSDK_NO_MEMORY. */
rsdk_status rsdk_problem_list_add(rsdk_problem_list *list, rsdk_gpu_problem problem, const rsdk_fact *more,
                                  rsdk_error *error);

#endif
