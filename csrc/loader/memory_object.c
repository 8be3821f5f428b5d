/* Memory objects. The linker takes two opens of the same path for one object, so each needs a descriptor number after
 * which no loaded object is named. */
#include "loader/memory_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/load_lock.h"
#include "base/new_file.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U /* Linux 6.3 */
#endif

static const char task_directory[] = "/proc/self/task/";

/* The room for the path: two numbers, "/fd/" and the NUL. */
enum { PATH_SIZE = sizeof task_directory + 32 };

bool rsdk_memory_object_has_path(const char *path) {
    return strncmp(path, task_directory, sizeof task_directory - 1) == 0;
}

static int raise_to_free_number(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    int *free_number = context;
    if (info->dlpi_name != NULL && rsdk_memory_object_has_path(info->dlpi_name)) {
        const char *number_at = strrchr(info->dlpi_name, '/') + 1;
        long number = strtol(number_at, NULL, 10);
        *free_number = number >= *free_number && number < 1 << 20 ? (int)number + 1 : *free_number;
    }
    return 0;
}

/* Make a memfd with the object in it, under an unused number; return -1 with errno. The object is data, so the memfd
 * does not ask for permission to execute. */
static int make_descriptor(const rsdk_elf_stub *stub, const char *name) {
    int free_number = 0;
    int first = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (first < 0 && errno == EINVAL) {
        first = memfd_create(name, MFD_CLOEXEC); /* an older kernel */
    }
    if (first < 0) {
        return -1;
    }
    rsdk_load_lock_begin_iteration();
    (void)dl_iterate_phdr(raise_to_free_number, &free_number);
    rsdk_load_lock_end_iteration();
    int descriptor =
        rsdk_new_file_write_all(first, stub->bytes, stub->size) ? fcntl(first, F_DUPFD_CLOEXEC, free_number) : -1;
    int reason = errno;
    (void)close(first);
    errno = reason;
    return descriptor;
}

rsdk_memory_outcome rsdk_memory_object_open(const rsdk_elf_stub *stub, const char *name, int mode, rsdk_arena *arena,
                                            void **handle, const char **reason) {
    char path[PATH_SIZE];
    int descriptor = make_descriptor(stub, name);
    if (descriptor < 0) {
        *reason = rsdk_arena_format(arena, "no memory file can be made: %s", strerror(errno));
        return RSDK_MEMORY_REFUSED;
    }
    (void)snprintf(path, sizeof path, "%s%ld/fd/%d", task_directory, syscall(SYS_gettid), descriptor);
    *handle = dlopen(path, mode);
    rsdk_memory_outcome outcome = RSDK_MEMORY_OPENED;
    if (*handle == NULL) {
        const char *text = dlerror(); /* "OBJECT: FAULT"; a text about this object means that it was refused */
        *reason = rsdk_arena_copy(arena, text != NULL ? text : "dlopen failed");
        outcome = text != NULL && strncmp(text, path, strlen(path)) == 0 ? RSDK_MEMORY_REFUSED : RSDK_MEMORY_FAILED;
    }
    (void)close(descriptor);
    return outcome;
}
