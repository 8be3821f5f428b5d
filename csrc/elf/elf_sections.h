/* The section header table of an ELF file: names and extents of its sections. The dynamic linker reads none of it, so
 * the loading path does not either: this is for inspecting files. Source: gABI chapter 4. */
#ifndef RSDK_ELF_ELF_SECTIONS_H
#define RSDK_ELF_ELF_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/name_table.h"
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

/* Read all section headers, in file order, of an ELF file that is `size` bytes of an open one, from `start`: a member
 * of an archive, say. Offsets count from `start`. There are none where the file has no table; names live in `arena`.
 * The file may have any class and byte order. RSDK_BAD_ELF where the table contradicts itself or the file;
 * RSDK_IO_ERROR where the file cannot be read. */
rsdk_status rsdk_elf_sections_read_within(const rsdk_file *file, uint64_t start, uint64_t size, rsdk_arena *arena,
                                          rsdk_elf_sections *sections, rsdk_error *error);

/* Return the first section of that name, NULL: none. */
const rsdk_elf_section *rsdk_elf_section_find(const rsdk_elf_sections *sections, const char *name);

/* Return the section that has bytes in the file for this address in memory, NULL: none. */
const rsdk_elf_section *rsdk_elf_section_at(const rsdk_elf_sections *sections, uint64_t address);

/* The words of a section after relocation, as offsets from where the file is loaded. */

/* Apply relative relocations with an addend (R_X86_64_RELATIVE, R_AARCH64_RELATIVE) to `words`, the `count` 64-bit
 * words that the file has for `address`. A word without such a relocation does not change, which is right for RELR
 * relocations, whose addend is the word itself. `start` and `size` are the extent of the ELF file (64-bit,
 * little-endian), `machine` its e_machine. The relocations are read in pieces. */
rsdk_status rsdk_elf_relocations_apply(const rsdk_file *file, uint64_t start, uint64_t size, unsigned machine,
                                       const rsdk_elf_sections *sections, uint64_t address, uint64_t *words,
                                       size_t count, rsdk_error *error);

/* Texts among the constants of a library or program. Names of shared libraries among them are libraries that it may
 * open by name, with dlopen, without a DT_NEEDED entry. */

/* Read the strings of the sections `.rodata*` that are the file name of a library ("libamdhip64.so",
 * "libamdhip64.so.7"), each once: whole strings without a directory, at most the first 1,024, in the first 256 MiB of
 * the sections. A section that ends after the file has none. Names live in `arena`. */
rsdk_status rsdk_elf_library_names_read(const rsdk_file *file, const rsdk_elf_sections *sections, rsdk_arena *arena,
                                        rsdk_unique_strings *names, rsdk_error *error);

/* Read the same of the file at a path, without its own name where auditwheel has renamed it. A file whose sections
 * cannot be read has no names: the linker reads no sections either. */
rsdk_status rsdk_elf_library_names_of(const char *path, rsdk_arena *arena, rsdk_unique_strings *names,
                                      rsdk_error *error);

/* The strings that a filter wants, of up to 255 bytes, within the same limits. */
typedef bool (*rsdk_elf_constant_filter)(const char *text);

rsdk_status rsdk_elf_constants_of(const char *path, rsdk_elf_constant_filter is_wanted, rsdk_arena *arena,
                                  rsdk_unique_strings *names, rsdk_error *error);

#endif
