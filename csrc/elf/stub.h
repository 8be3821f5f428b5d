/* The writer of a minimal shared object: no code, no symbols, only DT_NEEDED entries and a SONAME. The loader opens
 * such objects from a memfd, as an anchor (one dlopen brings several files in as one group) and as a second name for a
 * loaded library. */
#ifndef RSDK_ELF_STUB_H
#define RSDK_ELF_STUB_H

#include "base/arena.h"
#include "elf/elf_file.h"

typedef struct rsdk_elf_stub {
    void *bytes; /* bytes in the arena */
    size_t size;
} rsdk_elf_stub;

/* Make a shared object. `soname` may be NULL. `model` is any library that this process can load: its machine and flags
 * are taken over. */
rsdk_status rsdk_elf_stub_make(const rsdk_elf_file *model, const char *soname, const rsdk_strings *needed,
                               rsdk_arena *arena, rsdk_elf_stub *stub, rsdk_error *error);

#endif
