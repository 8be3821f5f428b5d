/* The names that compilers and linkers wrote into an ELF file: the texts of the section .comment. */
#ifndef RSDK_ELF_ELF_COMPILERS_H
#define RSDK_ELF_ELF_COMPILERS_H

#include "base/arena.h"
#include "elf/elf_sections.h"
#include "rocm_sdk/error.h"

/* Read the texts of .comment in file order, each once; texts live in `arena`. There are none where the file has no such
 * section, or the section lies outside the file or is longer than any; a text that is not ended does not count.
 * RSDK_IO_ERROR where the file cannot be read. */
rsdk_status rsdk_elf_compilers_read(const rsdk_file *opened, const rsdk_elf_sections *sections, rsdk_arena *arena,
                                    rsdk_strings *compilers, rsdk_error *error);

#endif
