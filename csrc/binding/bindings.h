/* Bindings and the plan behind them, which have looked at each file once. */
#ifndef RSDK_BINDING_PLANNED_BINDINGS_H
#define RSDK_BINDING_PLANNED_BINDINGS_H

#include <sys/types.h>

#include "base/arena.h"
#include "loader/plan.h"
#include "rocm_sdk/bindings.h"
#include "rocm_sdk/error.h"

/* Read bindings as rsdk_bindings_read does, with a plan for `purpose` (plan.h). */
rsdk_status rsdk_bindings_make(rsdk_sdk *sdk, const rsdk_load_options *options, unsigned purpose,
                               const rsdk_opening *openings, size_t opening_count, rsdk_bindings **bindings,
                               rsdk_error *error);

/* Return the plan, which lives as long as the bindings; NULL where they have none. */
const rsdk_plan *rsdk_bindings_plan(const rsdk_bindings *bindings);

/* The place where a thread of another process waits: the calls that its stack shows. The stack is read through /proc,
 * word by word: a word is taken for the return address of a call if the instruction before it is a call. A call that
 * has returned long ago may therefore be among them, and functions that a file does not export have no names. */

typedef struct rsdk_stack_call {
    const char *path;     /* the path of the file */
    const char *function; /* NULL: not exported */
} rsdk_stack_call;

typedef RSDK_LIST(rsdk_stack_call) rsdk_stack_calls;

/* Read the calls of the first thread of a process, the innermost first; none while it runs. RSDK_IO_ERROR where the
 * kernel does not allow to look, or there is no such process. */
rsdk_status rsdk_thread_stack_read(pid_t pid, rsdk_arena *arena, rsdk_stack_calls *calls, rsdk_error *error);

#endif
