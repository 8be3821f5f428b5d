/* The place where a thread of another process waits: the calls that its stack shows. The stack is read through /proc,
 * word by word: a word is taken for the return address of a call if the instruction before it is a call. A call that
 * has returned long ago may therefore be among them, and functions that a file does not export have no names. */
#ifndef RSDK_BINDING_THREAD_STACK_H
#define RSDK_BINDING_THREAD_STACK_H

#include <sys/types.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_stack_call {
    const char *path;     /* the path of the file */
    const char *function; /* NULL: not exported */
} rsdk_stack_call;

typedef RSDK_LIST(rsdk_stack_call) rsdk_stack_calls;

/* Read the calls of the first thread of a process, the innermost first; none while it runs. RSDK_IO_ERROR where the
 * kernel does not allow to look, or there is no such process. */
rsdk_status rsdk_thread_stack_read(pid_t pid, rsdk_arena *arena, rsdk_stack_calls *calls, rsdk_error *error);

#endif
