/* Opening a generated shared object from memory: a memfd, opened by the linker through /proc. Nothing appears on
 * disk. */
#ifndef RSDK_LOADER_MEMORY_OBJECT_H
#define RSDK_LOADER_MEMORY_OBJECT_H

#include <stdbool.h>

#include "elf/stub.h"
#include "rocm_sdk/error.h"

typedef enum rsdk_memory_outcome {
    RSDK_MEMORY_OPENED,
    RSDK_MEMORY_REFUSED, /* the kernel or a policy forbids it; what the object needs may be sound */
    RSDK_MEMORY_FAILED,  /* something that the object needs cannot be loaded */
} rsdk_memory_outcome;

/* dlopens the object with `mode`. `name` is what tools see in /proc/PID/maps. On success *handle is set, otherwise
 * *reason (in `arena`; NULL when out of memory) says why. */
rsdk_memory_outcome rsdk_memory_object_open(const rsdk_elf_stub *stub, const char *name, int mode, rsdk_arena *arena,
                                            void **handle, const char **reason);

/* Whether the path is that of a memory object: it leads to no file. */
bool rsdk_memory_object_has_path(const char *path);

#endif
