/* The memory of a process, read through /proc. No address is therefore followed into memory that has gone meanwhile,
 * and another process is read like this one. */
#ifndef RSDK_BASE_PROCESS_MEMORY_H
#define RSDK_BASE_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

enum { RSDK_MEMORY_WINDOW = 4096 };

typedef struct rsdk_process_memory {
    int descriptor;
    uintptr_t window_start; /* address of the bytes that were read last */
    size_t window_size;
    char window[RSDK_MEMORY_WINDOW];
} rsdk_process_memory;

/* Open the memory of a process. RSDK_IO_ERROR where the kernel refuses. */
rsdk_status rsdk_process_memory_open(pid_t pid, rsdk_process_memory *memory, rsdk_error *error);
void rsdk_process_memory_close(rsdk_process_memory *memory);

/* Read a word; false: there is no memory at the address. */
bool rsdk_process_memory_read_word(rsdk_process_memory *memory, uintptr_t address, uintptr_t *word);

/* Read the whole text of /proc/PID/NAME, whose size the kernel does not say beforehand, with a NUL behind it. */
rsdk_status rsdk_process_memory_read_file(pid_t pid, const char *name, rsdk_arena *arena, char **text, size_t *size,
                                          rsdk_error *error);

/* Read the value of a variable when the process was started; *value is NULL where the variable was not set, or is not
 * known. */
rsdk_status rsdk_process_memory_variable(pid_t pid, const char *name, rsdk_arena *arena, const char **value,
                                         rsdk_error *error);

#endif
