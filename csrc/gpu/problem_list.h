/* Findings as they are collected. Out of memory is remembered in the list, so that a check adds what it sees and its
 * caller looks once, at the end. */
#ifndef RSDK_GPU_PROBLEM_LIST_H
#define RSDK_GPU_PROBLEM_LIST_H

#include <stdbool.h>

#include "base/arena.h"
#include "rocm_sdk/gpu.h"

enum { RSDK_NO_NODE = -1 };

typedef struct rsdk_problem_list {
    rsdk_arena *arena; /* borrowed; the texts live in it too */
    RSDK_LIST(rsdk_gpu_problem) problems;
    bool failed; /* an allocation failed */
} rsdk_problem_list;

/* Adds a problem and returns its cause. A text that is NULL is one that could not be allocated. */
const char *rsdk_problem_list_add(rsdk_problem_list *list, rsdk_gpu_problem problem);

#endif
