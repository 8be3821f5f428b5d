/* Whether a library is for the machine that this process runs on. */
#ifndef RSDK_ELF_ELF_MACHINE_H
#define RSDK_ELF_ELF_MACHINE_H

#include "elf/elf_file.h"

/* RSDK_BAD_ELF, with both machines named, where this process cannot load the file. */
rsdk_status rsdk_elf_machine_check(const rsdk_elf_file *file, rsdk_error *error);

#endif
