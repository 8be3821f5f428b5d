/* The facts that the dynamic linker would read in an ELF file: identity, SONAME, DT_NEEDED, RPATH or RUNPATH, version
 * needs, stack flags. Only this directory knows libelf. Sources: gABI chapter 5, glibc's elf/ for the demands of a
 * loader. */
#ifndef RSDK_ELF_ELF_FILE_H
#define RSDK_ELF_ELF_FILE_H

#include "elf/elf_facts.h"
#include "rocm_sdk/error.h"

struct rsdk_elf_dynsym;

/* Read `path` (which must outlive `file`) into *file; texts live in `arena`. A file that is not a shared library, is
 * shorter than its segments, or contradicts itself is RSDK_BAD_ELF; a file that cannot be opened or ends while it is
 * read is RSDK_IO_ERROR or RSDK_FILE_NOT_FOUND. */
rsdk_status rsdk_elf_file_read(const char *path, rsdk_arena *arena, rsdk_elf_file *file, rsdk_error *error);

/* A watch on files. The watch is asked for a file that is open already, told how long the read of its first bytes took,
 * which is how a file in memory is known from one that has to be brought, and then told the needs of the file, before
 * its tables are read. */
typedef struct rsdk_read_watch {
    bool (*take_file)(void *context, const char *path, rsdk_file *file); /* false: it is to be opened */
    void (*tell_time)(void *context, const char *path, uint64_t nanoseconds);
    void (*tell_needed)(void *context, const rsdk_elf_file *file);
    void *context;
    bool asks_ahead; /* `tell_time` may set it: the linker's pages of this file and of later ones are asked for */
} rsdk_read_watch;

/* Up to this many relocations are checked before a library is loaded, which takes some 40 microseconds. */
#define RSDK_ELF_RELOCATIONS_TO_LOAD 20000

/* Do the same for a library that is to be loaded: RSDK_BAD_ELF also if the linker must not get its tables
 * (elf_check.h). Relocations are checked if there are at most `relocation_limit`. From a file server the library is
 * read in whole blocks (rsdk_file_read_blocks). watch: may be NULL. */
rsdk_status rsdk_elf_file_read_checked(const char *path, size_t relocation_limit, const rsdk_read_watch *watch,
                                       rsdk_arena *arena, rsdk_elf_file *file, rsdk_error *error);

/* Do the same, and read its dynamic symbols (elf_dynsym.h) and the references of its relocations. *has_symbols is false
 * where these are damaged, which is no failure: the linker may never come to them. */
rsdk_status rsdk_elf_file_read_checked_with_symbols(const char *path, size_t relocation_limit, rsdk_arena *arena,
                                                    rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols,
                                                    bool *has_symbols, rsdk_error *error);

/* Find out whether the library calls definitions of its own by names that begin with one of `prefixes` (up to a NULL),
 * so that another library's definitions can take their place. */
rsdk_status rsdk_elf_file_is_interposable(const char *path, const char *const prefixes[], bool *is_interposable,
                                          rsdk_error *error);

/* Read as rsdk_elf_file_read, with the version needs, hundreds of records in a large library, and the build ID. Both
 * are of use only when the library cannot be loaded, or to tell which library it is. */
rsdk_status rsdk_elf_file_read_with_versions(const char *path, rsdk_arena *arena, rsdk_elf_file *file,
                                             rsdk_error *error);

/* Read as rsdk_elf_file_read_with_versions, from a file that is open, and stays so. */
rsdk_status rsdk_elf_file_read_opened(const rsdk_file *opened, rsdk_arena *arena, rsdk_elf_file *file,
                                      rsdk_error *error);

/* Check as rsdk_elf_file_read_checked, with all relocations, a file that is open, and stays so. */
rsdk_status rsdk_elf_file_check_opened(const rsdk_file *opened, rsdk_error *error);

/* Read the same of a library or a program that the linker has or will have, with its dynamic symbols (elf_dynsym.h)
 * and, if `wants_references`, the references of its relocations. A static program has no symbols. */
rsdk_status rsdk_elf_file_read_with_symbols(const char *path, bool wants_references, rsdk_arena *arena,
                                            rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols, rsdk_error *error);

/* Return the newest glibc that a library read with versions needs ("2.34"); NULL where it names none. */
const char *rsdk_elf_file_newest_glibc(const rsdk_elf_file *file);

#endif
