/* The memory of a process, read through /proc. So nothing is followed that has gone meanwhile, and another process is
 * read like this one. */
#ifndef RSDK_LOADER_PROCESS_MEMORY_H
#define RSDK_LOADER_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

enum { RSDK_MEMORY_WINDOW = 4096 };

typedef struct rsdk_process_memory {
    int descriptor;
    uintptr_t window_start; /* of what was read last */
    size_t window_size;
    char window[RSDK_MEMORY_WINDOW];
} rsdk_process_memory;

/* RSDK_IO_ERROR where the kernel refuses. */
rsdk_status rsdk_process_memory_open(pid_t pid, rsdk_process_memory *memory, rsdk_error *error);
void rsdk_process_memory_close(rsdk_process_memory *memory);

/* Reads a word; false: there is no memory at the address. */
bool rsdk_process_memory_read_word(rsdk_process_memory *memory, uintptr_t address, uintptr_t *word);

/* The whole text of /proc/PID/NAME, whose size the kernel does not say beforehand, with a NUL behind it. */
rsdk_status rsdk_process_memory_read_file(pid_t pid, const char *name, rsdk_arena *arena, char **text, size_t *size,
                                          rsdk_error *error);

/* The value of a variable when the process was started; *value is NULL where it was not set, or is not known. */
rsdk_status rsdk_process_memory_variable(pid_t pid, const char *name, rsdk_arena *arena, const char **value,
                                         rsdk_error *error);

#endif
