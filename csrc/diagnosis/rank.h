/* The facts that tell one process of a job from the others: its host, node, task and number. */
#ifndef RSDK_DIAGNOSIS_RANK_H
#define RSDK_DIAGNOSIS_RANK_H

#include <sys/types.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_rank {
    struct utsname system; /* host and kernel */
    const char *node;      /* the node for the batch system: hosts of several simulated nodes may be one */
    const char *task;      /* "0" where no launcher says it */
    const char *tasks;     /* the number of tasks of the job; NULL: not known */
    pid_t process;
} rsdk_rank;

/* Read the rank of this process. environment: as in rsdk_report_options, from which texts are borrowed; some are
 * borrowed from *rank. */
void rsdk_rank_read(const char *const *environment, rsdk_rank *rank);

/* Return `pattern` with its letters filled in (rsdk_report_options.file); each becomes one part of a path at most.
 * RSDK_BAD_ARGUMENT for a letter that stands for nothing. */
rsdk_status rsdk_rank_fill_in(const rsdk_rank *rank, const char *pattern, rsdk_arena *arena, const char **name,
                              rsdk_error *error);

#endif
