/* Whether the dynamic linker can use the tables of a library. It trusts them: an index or an address that leads
 * elsewhere makes it read or write there, or ends the process by an assertion. So they are looked at before a library
 * is opened. Sources: gABI chapter 5, glibc's elf/ (dl-load.c, do-rel.h, dl-version.c, dl-lookup.c). */
#ifndef RSDK_ELF_ELF_CHECK_H
#define RSDK_ELF_ELF_CHECK_H

#include <link.h>

#include "base/arena.h"
#include "base/file.h"
#include "rocm_sdk/error.h"

/* A library of this machine's class and byte order, whose headers are read. Each PT_LOAD segment lies in the file. */
typedef struct rsdk_elf_image {
    const rsdk_file *file;
    unsigned machine; /* e_machine */
    const ElfW(Phdr) * headers;
    size_t header_count;
    const ElfW(Dyn) * dynamic;
    size_t dynamic_count;
    rsdk_arena *scratch; /* what the check needs: some 64 KiB */
} rsdk_elf_image;

/* RSDK_BAD_ELF, with what is wrong, where the linker must not get the library. Relocations are looked at only where
 * there are at most `relocation_limit`: a large library has hundreds of thousands. */
rsdk_status rsdk_elf_check(const rsdk_elf_image *image, size_t relocation_limit, rsdk_error *error);

#endif
