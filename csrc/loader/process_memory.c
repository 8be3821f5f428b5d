/* Reading /proc/PID/mem, a page at a time: the words that are asked for lie side by side. */
#include "loader/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

enum { PATH_SIZE = 64 };

rsdk_status rsdk_process_memory_open(pid_t pid, rsdk_process_memory *memory, rsdk_error *error) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%ld/mem", (long)pid);
    memory->window_size = 0;
    memory->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (memory->descriptor >= 0) {
        return RSDK_OK;
    }
    return rsdk_fail(error, RSDK_IO_ERROR, path, "%s: %s%s", path, strerror(errno),
                     errno == EACCES || errno == EPERM
                         ? " (only its user may look into a process, and where ptrace is limited, only root)"
                         : "");
}

void rsdk_process_memory_close(rsdk_process_memory *memory) {
    if (memory->descriptor >= 0) {
        (void)close(memory->descriptor);
        memory->descriptor = -1;
    }
}

bool rsdk_process_memory_read_word(rsdk_process_memory *memory, uintptr_t address, uintptr_t *word) {
    if (address < memory->window_start || memory->window_size < sizeof *word ||
        address - memory->window_start > memory->window_size - sizeof *word) {
        ssize_t size = pread(memory->descriptor, memory->window, sizeof memory->window, (off_t)address);
        memory->window_start = address;
        memory->window_size = size > 0 ? (size_t)size : 0;
    }
    if (memory->window_size < sizeof *word) {
        return false;
    }
    memcpy(word, memory->window + (address - memory->window_start), sizeof *word);
    return true;
}

rsdk_status rsdk_process_memory_variable(pid_t pid, const char *name, rsdk_arena *arena, const char **value,
                                         rsdk_error *error) {
    char path[PATH_SIZE], *entry = NULL;
    size_t capacity = 0, length = strlen(name);
    *value = NULL;
    (void)snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    FILE *environment = fopen(path, "re");
    while (environment != NULL && *value == NULL && getdelim(&entry, &capacity, '\0', environment) > 0) {
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
            *value = rsdk_arena_copy(arena, entry + length + 1);
            if (*value == NULL) {
                break;
            }
        }
    }
    bool is_short = entry != NULL && *value == NULL && strncmp(entry, name, length) == 0 && entry[length] == '=';
    free(entry);
    if (environment != NULL) {
        (void)fclose(environment);
    }
    return is_short ? rsdk_fail_no_memory(error) : RSDK_OK;
}
