/* What the dynamic linker would read in an ELF file: identity, SONAME, DT_NEEDED, RPATH or RUNPATH, version needs,
 * stack flags. Only this directory knows libelf. Sources: gABI chapter 5, glibc's elf/ for what a loader insists on. */
#ifndef RSDK_ELF_ELF_FILE_H
#define RSDK_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"
#include "rocm_sdk/error.h"

struct rsdk_elf_dynsym;

/* One entry of DT_VERNEED: `version` of `file` is needed ("GLIBC_2.34" of "libc.so.6"). */
typedef struct rsdk_elf_version_need {
    const char *file;
    const char *version;
} rsdk_elf_version_need;

/* An entry of DT_FILTER or DT_AUXILIARY: a library whose symbols stand before the file's own. */
typedef struct rsdk_elf_filtee {
    const char *name;
    bool is_optional; /* DT_AUXILIARY: the file does without, too */
} rsdk_elf_filtee;

typedef struct rsdk_elf_file {
    const char *path;
    rsdk_file_identity identity;
    uint64_t size;            /* bytes */
    unsigned elf_class;       /* ELFCLASS32 or ELFCLASS64 */
    unsigned data_encoding;   /* ELFDATA2LSB or ELFDATA2MSB */
    unsigned machine;         /* EM_X86_64, EM_AARCH64, ... */
    uint32_t flags;           /* e_flags */
    uint32_t processor_needs; /* GNU_PROPERTY_X86_ISA_1_NEEDED, of x86-64; 0: nothing in particular */
    const char *soname;       /* NULL without DT_SONAME */
    const char *rpath;        /* NULL without DT_RPATH, and where DT_RUNPATH makes the linker ignore it */
    const char *runpath;      /* NULL without DT_RUNPATH */
    rsdk_strings needed;      /* DT_NEEDED, in file order */
    RSDK_LIST(rsdk_elf_filtee) filtees;
    RSDK_LIST(rsdk_elf_version_need) version_needs; /* of rsdk_elf_file_read_with_versions only */
    const char *build_id;                           /* hexadecimal; NULL without one; likewise */
    uint64_t tls_size;                              /* bytes of PT_TLS, for each thread; 0 without one */
    bool wants_executable_stack;                    /* PT_GNU_STACK with PF_X */
    bool has_text_relocations;                      /* DT_TEXTREL: the linker must write into its code */
    bool has_static_tls; /* DF_STATIC_TLS: initial-exec TLS, taken from a small reserve when loaded late; GNU ld for
                            AArch64 (2.40) does not write it */
} rsdk_elf_file;

/* Reads `path` (which must outlive `file`) into *file; texts live in `arena`. A file that is not a shared library, is
 * shorter than its segments, or contradicts itself is RSDK_BAD_ELF; one that cannot be opened or ends while it is read
 * is RSDK_IO_ERROR or RSDK_FILE_NOT_FOUND. */
rsdk_status rsdk_elf_file_read(const char *path, rsdk_arena *arena, rsdk_elf_file *file, rsdk_error *error);

/* Up to this many relocations are checked before a library is loaded, which takes some 40 microseconds. */
#define RSDK_ELF_RELOCATIONS_TO_LOAD 20000

/* The same for a library that is to be loaded: RSDK_BAD_ELF also if the linker must not get its tables (elf_check.h).
 * Relocations are checked if there are at most `relocation_limit`. From a file server it is read in whole blocks
 * (rsdk_file_read_blocks). */
rsdk_status rsdk_elf_file_read_checked(const char *path, size_t relocation_limit, rsdk_arena *arena,
                                       rsdk_elf_file *file, rsdk_error *error);

/* The same with its dynamic symbols (elf_dynsym.h) and what its relocations refer to. *has_symbols is false where these
 * are damaged, which is no failure: the linker may never come to them. */
rsdk_status rsdk_elf_file_read_checked_with_symbols(const char *path, size_t relocation_limit, rsdk_arena *arena,
                                                    rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols,
                                                    bool *has_symbols, rsdk_error *error);

/* Whether the library calls definitions of its own by names that begin with one of `prefixes` (up to a NULL), so that
 * another library's definitions can take their place. */
rsdk_status rsdk_elf_file_is_interposable(const char *path, const char *const prefixes[], bool *is_interposable,
                                          rsdk_error *error);

/* As rsdk_elf_file_read, with the version needs, hundreds of records in a large library, and the build ID: of use only
 * when it cannot be loaded, or for who asks what it is. */
rsdk_status rsdk_elf_file_read_with_versions(const char *path, rsdk_arena *arena, rsdk_elf_file *file,
                                             rsdk_error *error);

/* The same for a library or a program that the linker has or will have, with its dynamic symbols (elf_dynsym.h) and, if
 * `wants_references`, what its relocations refer to. A static program has none. */
rsdk_status rsdk_elf_file_read_with_symbols(const char *path, bool wants_references, rsdk_arena *arena,
                                            rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols, rsdk_error *error);

/* The newest glibc that a library read with versions needs ("2.34"); NULL where it names none. */
const char *rsdk_elf_file_newest_glibc(const rsdk_elf_file *file);

#endif
