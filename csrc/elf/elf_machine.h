/* Whether a library is for the machine that this process runs on. */
#ifndef RSDK_ELF_ELF_MACHINE_H
#define RSDK_ELF_ELF_MACHINE_H

#include "elf/elf_file.h"

/* RSDK_BAD_ELF, with both machines named, where this process cannot load the file, or with both levels where the
 * library needs a later kind of processor (x86-64-v3): its code would end the process by SIGILL. */
rsdk_status rsdk_elf_machine_check(const rsdk_elf_file *file, rsdk_error *error);

#endif
