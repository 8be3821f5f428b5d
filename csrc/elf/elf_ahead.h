/* What the dynamic linker will read of a library, asked of the system all at once: from a file server each page that it
 * comes to is an answer to wait for. */
#ifndef RSDK_ELF_ELF_AHEAD_H
#define RSDK_ELF_ELF_AHEAD_H

#include "elf/elf_view.h"

/* Bytes of one library: a damaged one asks for no more than the limit. Code, constants and data are a part of what
 * large libraries have; these sizes met most page faults of a load for each byte read in vain (libLLVM, librocsparse,
 * comgr). */
enum {
    RSDK_ELF_AHEAD_LIMIT = 64 << 20,
    RSDK_ELF_AHEAD_CODE = 8 << 20,
    RSDK_ELF_AHEAD_CONSTANTS = 2 << 20,
    RSDK_ELF_AHEAD_DATA = 1 << 20, /* that stays writable; what relocations alone write to is asked for whole */
};

/* Asks for the tables, for data, and for the first code and constants, and waits for none of it. The image need not
 * have been checked: of a damaged one, other parts are read. `ends` (may be NULL): once it is true nothing further is
 * asked for. */
void rsdk_elf_ask_ahead(const rsdk_elf_image *image, const atomic_bool *ends);

/* The same of a file that is open, whose headers are read for it. Nothing is asked of one that cannot be read, or is no
 * library of this machine's class and byte order. Makes system calls alone. */
void rsdk_elf_ask_ahead_of(const rsdk_file *file, const atomic_bool *ends);

#endif
