/* Reading /proc/PID/mem, a page at a time: the words that are asked for lie side by side. */
#include "base/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

enum { PATH_SIZE = 64, FIRST_SIZE = 1 << 14, FILE_LIMIT = 1 << 26 };

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

/* Read a file into a buffer that doubles until the file's end fits. */
static rsdk_status read_all(int descriptor, const char *path, rsdk_arena *arena, char **text, size_t *size,
                            rsdk_error *error) {
    size_t capacity = FIRST_SIZE;
    ssize_t more = 1;
    *size = 0;
    *text = rsdk_arena_alloc(arena, capacity, 1);
    RSDK_NEED(*text, error);
    while ((more = read(descriptor, *text + *size, capacity - *size - 1)) > 0) {
        *size += (size_t)more;
        if (*size < capacity - 1) {
            continue;
        }
        char *larger = capacity < FILE_LIMIT ? rsdk_arena_alloc(arena, capacity * 2, 1) : NULL;
        if (larger == NULL) {
            return capacity < FILE_LIMIT ? rsdk_fail_no_memory(error)
                                         : rsdk_fail(error, RSDK_IO_ERROR, path, "%s: is larger than 64 MiB", path);
        }
        memcpy(larger, *text, *size);
        *text = larger;
        capacity *= 2;
    }
    return more == 0 ? RSDK_OK : rsdk_fail(error, RSDK_IO_ERROR, path, "%s: %s", path, strerror(errno));
}

rsdk_status rsdk_process_memory_read_file(pid_t pid, const char *name, rsdk_arena *arena, char **text, size_t *size,
                                          rsdk_error *error) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return rsdk_fail(error, RSDK_IO_ERROR, path, "%s: %s", path, strerror(errno));
    }
    rsdk_status status = read_all(descriptor, path, arena, text, size, error);
    (void)close(descriptor);
    return status;
}

/* An environment that cannot be read says nothing. */
rsdk_status rsdk_process_memory_variable(pid_t pid, const char *name, rsdk_arena *arena, const char **value,
                                         rsdk_error *error) {
    rsdk_error reason = RSDK_ERROR_INIT;
    char *text = NULL;
    size_t size = 0, length = strlen(name);
    *value = NULL;
    rsdk_status status = rsdk_process_memory_read_file(pid, "environ", arena, &text, &size, &reason);
    rsdk_error_clear(&reason);
    for (size_t at = 0; status == RSDK_OK && *value == NULL && at < size; at += strlen(text + at) + 1) {
        if (strncmp(text + at, name, length) == 0 && text[at + length] == '=') {
            *value = text + at + length + 1;
        }
    }
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}
