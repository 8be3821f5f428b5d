/* The check whether an ELF file is laid out as linkers and kernels expect: it finds the damage that faulty tools leave,
 * and that shows itself late, if at all. Sources: gABI chapter 5, glibc's elf/dl-load.c, the kernel's
 * fs/binfmt_elf.c. */
#ifndef RSDK_ELF_ELF_LAYOUT_H
#define RSDK_ELF_ELF_LAYOUT_H

#include "base/arena.h"
#include "base/file.h"
#include "rocm_sdk/error.h"

/* A fault of a file. */
typedef struct rsdk_elf_damage {
    rsdk_code code;
    const char *message; /* a sentence, as an error says it */
    const char *detail;  /* the same without the path that errors begin with */
} rsdk_elf_damage;

typedef RSDK_LIST(rsdk_elf_damage) rsdk_elf_damages;

/* Add each fault to `damages`. The file must be one for this machine (rsdk_elf_machine_check). RSDK_IO_ERROR where the
 * file cannot be read. */
rsdk_status rsdk_elf_layout_find_damages(const rsdk_file *opened, rsdk_arena *arena, rsdk_elf_damages *damages,
                                         rsdk_error *error);

#endif
