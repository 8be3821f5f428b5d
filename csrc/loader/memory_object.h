/* Opening a generated shared object from memory: a memfd, opened by the linker through /proc. Nothing appears on
 * disk. */
#ifndef RSDK_LOADER_MEMORY_OBJECT_H
#define RSDK_LOADER_MEMORY_OBJECT_H

#include <stdbool.h>

#include "elf/stub.h"
#include "rocm_sdk/error.h"

typedef enum rsdk_memory_outcome {
    RSDK_MEMORY_OPENED,
    RSDK_MEMORY_REFUSED, /* the kernel or a policy forbids it; the needs of the object may be sound */
    RSDK_MEMORY_FAILED,  /* something that the object needs cannot be loaded */
} rsdk_memory_outcome;

/* Open the object by dlopen with `mode`. `name` is the name that tools see in /proc/PID/maps. On success *handle is
 * set, otherwise *reason (in `arena`; NULL when out of memory) says why. */
rsdk_memory_outcome rsdk_memory_object_open(const rsdk_elf_stub *stub, const char *name, int mode, rsdk_arena *arena,
                                            void **handle, const char **reason);

/* Return whether a path belongs to a memory object: such a path leads to no file. */
bool rsdk_memory_object_has_path(const char *path);

#endif
