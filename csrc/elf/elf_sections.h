/* The section header table of an ELF file: names and extents of its sections. The dynamic linker reads none of it, so
 * the loading path does not either: this is for inspecting files. Source: gABI chapter 4. */
#ifndef RSDK_ELF_ELF_SECTIONS_H
#define RSDK_ELF_ELF_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"
#include "rocm_sdk/error.h"

/* A section as its header describes it. A section without bytes in the file (.bss) has a size all the same. */
typedef struct rsdk_elf_section {
    const char *name; /* "" where the file names no section */
    uint64_t offset;  /* the place in the file */
    uint64_t size;    /* bytes */
    uint64_t address; /* sh_addr, 0 where it is not in memory */
    uint64_t flags;   /* sh_flags */
    uint32_t type;    /* sh_type */
} rsdk_elf_section;

typedef RSDK_LIST(rsdk_elf_section) rsdk_elf_sections;

/* Read all section headers in file order, none where the file has no table; names live in `arena`. The file may have
 * any class and byte order. RSDK_BAD_ELF where the table contradicts itself or the file; RSDK_IO_ERROR or
 * RSDK_FILE_NOT_FOUND where the file cannot be read. */
rsdk_status rsdk_elf_sections_read(const char *path, rsdk_arena *arena, rsdk_elf_sections *sections, rsdk_error *error);

/* Read the same of an ELF file that is `size` bytes of an open one, from `start`: a member of an archive. Offsets count
 * from `start`. */
rsdk_status rsdk_elf_sections_read_within(const rsdk_file *file, uint64_t start, uint64_t size, rsdk_arena *arena,
                                          rsdk_elf_sections *sections, rsdk_error *error);

/* Return the first section of that name, NULL: none. */
const rsdk_elf_section *rsdk_elf_section_find(const rsdk_elf_sections *sections, const char *name);

/* Return the section that has bytes in the file for this address in memory, NULL: none. */
const rsdk_elf_section *rsdk_elf_section_at(const rsdk_elf_sections *sections, uint64_t address);

#endif
