/* The known facts of an ELF file that was read. */
#ifndef RSDK_ELF_ELF_FACTS_H
#define RSDK_ELF_ELF_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"

/* An entry of DT_VERNEED: `version` of `file` is needed ("GLIBC_2.34" of "libc.so.6"). */
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
    const char *audit; /* DT_AUDIT or DT_DEPAUDIT: libraries that the linker loads and runs to watch it, with colons;
                          NULL without one */
    RSDK_LIST(rsdk_elf_version_need) version_needs; /* filled in by rsdk_elf_file_read_with_versions only */
    const char *build_id;                           /* hexadecimal; NULL without one; likewise */
    uint64_t build_id_place;                        /* the place of its bytes in the file */
    uint64_t tls_size;                              /* bytes of PT_TLS, for each thread; 0 without one */
    bool is_program;                                /* ET_EXEC, or DF_1_PIE: dlopen refuses it */
    const char *refused; /* the words of glibc for headers of this machine that it refuses; NULL: it takes them */
    bool forbids_dlopen; /* DF_1_NOOPEN */
    bool wants_executable_stack; /* PT_GNU_STACK with PF_X, or no such header */
    bool has_text_relocations;   /* DT_TEXTREL: the linker must write into its code */
    bool has_static_tls; /* DF_STATIC_TLS: initial-exec TLS, taken from a small reserve when loaded late; GNU ld for
                            AArch64 (2.40) does not write it */
} rsdk_elf_file;

#endif
