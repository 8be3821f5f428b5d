/* Whether the dynamic linker can use the tables of a library. It trusts them: an index or an address that leads
 * elsewhere makes it read or write there, or ends the process by an assertion. So they are checked before a library is
 * opened. Sources: gABI chapter 5, glibc's elf/ (dl-load.c, do-rel.h, get-dynamic-info.h). */
#ifndef RSDK_ELF_ELF_CHECK_H
#define RSDK_ELF_ELF_CHECK_H

#include "elf/elf_view.h"

/* RSDK_BAD_ELF, with what is wrong, if the linker must not get the library. Relocations are checked only if there are
 * at most `relocation_limit`: a large library has hundreds of thousands. */
rsdk_status rsdk_elf_check(const rsdk_elf_image *image, size_t relocation_limit, rsdk_error *error);

#endif
