/* The words of a section after relocation, as offsets from where the file is loaded. */
#ifndef RSDK_ELF_ELF_RELOCATIONS_H
#define RSDK_ELF_ELF_RELOCATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "elf/elf_sections.h"
#include "rocm_sdk/error.h"

/* Apply relative relocations with an addend (R_X86_64_RELATIVE, R_AARCH64_RELATIVE) to `words`, the `count` 64-bit
 * words that the file has for `address`. A word without such a relocation does not change, which is right for RELR
 * relocations, whose addend is the word itself. `start` and `size` are the extent of the ELF file (64-bit,
 * little-endian), `machine` its e_machine. The relocations are read in pieces. */
rsdk_status rsdk_elf_relocations_apply(const rsdk_file *file, uint64_t start, uint64_t size, unsigned machine,
                                       const rsdk_elf_sections *sections, uint64_t address, uint64_t *words,
                                       size_t count, rsdk_error *error);

#endif
