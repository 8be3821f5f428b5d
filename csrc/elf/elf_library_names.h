/* Texts among the constants of a library or program. Names of shared libraries among them are libraries that it may
 * open by name, with dlopen, without a DT_NEEDED entry. */
#ifndef RSDK_ELF_ELF_LIBRARY_NAMES_H
#define RSDK_ELF_ELF_LIBRARY_NAMES_H

#include "base/name_table.h"
#include "elf/elf_sections.h"

/* Read the strings of the sections `.rodata*` that are the file name of a library ("libamdhip64.so",
 * "libamdhip64.so.7"), each once: whole strings without a directory, at most the first 1,024, in the first 256 MiB of
 * the sections. A section that ends after the file has none. Names live in `arena`. */
rsdk_status rsdk_elf_library_names_read(const rsdk_file *file, const rsdk_elf_sections *sections, rsdk_arena *arena,
                                        rsdk_unique_strings *names, rsdk_error *error);

/* Read the same of the file at a path. A file whose sections cannot be read has no names: the linker reads no sections
 * either. */
rsdk_status rsdk_elf_library_names_of(const char *path, rsdk_arena *arena, rsdk_unique_strings *names,
                                      rsdk_error *error);

/* The strings that a filter wants, of up to 255 bytes, within the same limits. */
typedef bool (*rsdk_elf_constant_filter)(const char *text);

rsdk_status rsdk_elf_constants_of(const char *path, rsdk_elf_constant_filter is_wanted, rsdk_arena *arena,
                                  rsdk_unique_strings *names, rsdk_error *error);

#endif
