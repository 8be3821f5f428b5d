/* Whether a library is for the machine that this process runs on. */
#ifndef RSDK_ELF_ELF_MACHINE_H
#define RSDK_ELF_ELF_MACHINE_H

#include "elf/elf_file.h"

/* RSDK_BAD_ELF if this process cannot load the file: the error names both machines. The same if the library needs a
 * later kind of processor (x86-64-v3), because its code would end the process with SIGILL: the error names both levels.
 */
rsdk_status rsdk_elf_machine_check(const rsdk_elf_file *file, rsdk_error *error);

#endif
