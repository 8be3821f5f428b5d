/* What the dynamic linker will read of a library, asked of the system all at once: from a file server each page that it
 * comes to is an answer to wait for. */
#ifndef RSDK_ELF_ELF_AHEAD_H
#define RSDK_ELF_ELF_AHEAD_H

#include "elf/elf_view.h"

/* Bytes of one library: a damaged one asks for no more. */
enum { RSDK_ELF_AHEAD_LIMIT = 32 << 20 };

/* Asks for the tables, for what relocations write to, and for the first `code_size` bytes of code, and waits for none
 * of it. The image need not have been checked: of a damaged one, other parts are read. */
void rsdk_elf_ask_ahead(const rsdk_elf_image *image, uint64_t code_size);

#endif
