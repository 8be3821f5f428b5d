/* The parts of a library that the dynamic linker will read, asked of the system all at once: from a file server each
 * page that the linker comes to is an answer to wait for. */
#ifndef RSDK_ELF_ELF_AHEAD_H
#define RSDK_ELF_ELF_AHEAD_H

#include "elf/elf_view.h"

/* Bytes of one library: a damaged one asks for no more than the limit. Only a part of a large library's code, constants
 * and data is asked for; these sizes met most page faults of a load for each byte read in vain (libLLVM, librocsparse,
 * comgr). */
enum {
    RSDK_ELF_AHEAD_LIMIT = 64 << 20,
    RSDK_ELF_AHEAD_CODE = 8 << 20,
    RSDK_ELF_AHEAD_CONSTANTS = 2 << 20,
    RSDK_ELF_AHEAD_DATA = 1 << 20, /* data that stays writable; data that relocations alone write is asked for whole */
};

/* Ask for the tables, for data, and for the first code and constants, and wait for none of it. The image need not have
 * been checked: in a damaged image, other parts are read. `ends` (may be NULL): once it is true nothing further is
 * asked for. */
void rsdk_elf_ask_ahead(const rsdk_elf_image *image, const atomic_bool *ends);

/* Do the same for a file that is open, whose headers are read for it. Nothing is asked of a file that cannot be read,
 * or is not a library of this machine's class and byte order. The function makes system calls alone. */
void rsdk_elf_ask_ahead_of(const rsdk_file *file, const atomic_bool *ends);

#endif
