/* The check whether the dynamic linker can use the tables of a library. The linker trusts them: an index or an address
 * that leads elsewhere makes it read or write there, or ends the process by an assertion. The tables are therefore
 * checked before a library is opened. Sources: gABI chapter 5, glibc's elf/ (dl-load.c, do-rel.h,
 * get-dynamic-info.h). */
#ifndef RSDK_ELF_ELF_CHECK_H
#define RSDK_ELF_ELF_CHECK_H

#include "elf/elf_view.h"

/* A table that dynamic entries describe; size 0: none. */
typedef struct rsdk_elf_table {
    ElfW(Addr) address;
    uint64_t size; /* bytes */
} rsdk_elf_table;

/* The tables of a library that the check has passed. */
typedef struct rsdk_elf_tables {
    bool are_known; /* false: the machine has rules of its own, and nothing was looked at */
    rsdk_elf_symbol_tables symbols;
    rsdk_elf_table relocations, jump_relocations;
    uint64_t relative_count; /* the number of the first `relocations` that are relative: DT_RELACOUNT */
} rsdk_elf_tables;

/* Return RSDK_BAD_ELF, with the fault, if the linker must not get the library. Relocations are checked only if there
 * are at most `relocation_limit`: a large library has hundreds of thousands. `tables` may be NULL. */
rsdk_status rsdk_elf_check(const rsdk_elf_image *image, size_t relocation_limit, rsdk_elf_tables *tables,
                           rsdk_error *error);

#endif
