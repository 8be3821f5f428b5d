/* Whether an ELF file is laid out as linkers and kernels expect: the damage that faulty tools leave, and that shows
 * itself late, if at all. Sources: gABI chapter 5, glibc's elf/dl-load.c, the kernel's fs/binfmt_elf.c. */
#ifndef RSDK_ELF_ELF_LAYOUT_H
#define RSDK_ELF_ELF_LAYOUT_H

#include "base/arena.h"
#include "rocm_sdk/error.h"

/* Adds one sentence for each thing that is wrong to `damages`. The file must be one for this machine
 * (rsdk_elf_machine_check). RSDK_IO_ERROR or RSDK_FILE_NOT_FOUND where it cannot be read. */
rsdk_status rsdk_elf_layout_find_damages(const char *path, rsdk_arena *arena, rsdk_strings *damages, rsdk_error *error);

#endif
