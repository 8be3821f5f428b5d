/* The names in an ELF file's dynamic section. */
#ifndef RSDK_ELF_ELF_NAMES_H
#define RSDK_ELF_ELF_NAMES_H

#include "elf/elf_reading.h"

/* Find where tables lie, which is needed before any name can be read. `entries` are the dynamic section in this
 * machine's byte order. */
rsdk_status rsdk_elf_names_locate(rsdk_elf_reading *r, const void *entries, size_t count);

/* Read the names in the entries: libraries, directories, the file itself. */
rsdk_status rsdk_elf_names_take(rsdk_elf_reading *r, const void *entries, size_t count);

rsdk_status rsdk_elf_names_take_version_needs(rsdk_elf_reading *r);

#endif
