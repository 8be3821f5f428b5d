/* Makes problems of errors, and keeps one text. */
#include "problem_text.h"

#include <stdio.h>

enum { TEXT_SIZE = 8192 };
static char kept[TEXT_SIZE];

/* Keeps one text of the problem, and frees it; with `fix` NULL its title and cause. */
static const char *keep(rsdk_problem *problem, bool takes_fix) {
    kept[0] = '\0';
    if (problem != NULL && takes_fix) {
        (void)snprintf(kept, sizeof kept, "%s", problem->fix);
    } else if (problem != NULL) {
        (void)snprintf(kept, sizeof kept, "%s %s: %s", problem->code, problem->title, problem->cause);
    }
    rsdk_problem_free(problem);
    return kept;
}

const char *problem_text_of(const rsdk_error *error, rsdk_sdk *sdk) {
    rsdk_problem *problem = NULL;
    (void)rsdk_problem_of_error(error, sdk, NULL, &problem);
    return keep(problem, false);
}

const char *problem_fix_of(const rsdk_error *error, rsdk_sdk *sdk) {
    rsdk_problem *problem = NULL;
    (void)rsdk_problem_of_error(error, sdk, NULL, &problem);
    return keep(problem, true);
}

const char *problem_fix_of_gpu(const rsdk_gpu_problem *found) {
    rsdk_problem *problem = NULL;
    (void)rsdk_problem_make(found->code, found->path, found->facts, found->fact_count, NULL, &problem);
    return keep(problem, true);
}
