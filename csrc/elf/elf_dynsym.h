/* The dynamic symbols of a library or program as the linker uses them: its definitions, by name and version, and the
 * references of its relocations. The tables are read into memory of our own. Sources: gABI chapter 5, the System V ABI
 * supplements of x86-64 and AArch64, glibc's elf/dl-lookup.c for the choice of the definition that answers a
 * reference. */
#ifndef RSDK_ELF_ELF_DYNSYM_H
#define RSDK_ELF_ELF_DYNSYM_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "elf/elf_check.h"
#include "elf/elf_view.h"
#include "rocm_sdk/error.h"

/* A version that the file defines or needs. */
typedef struct rsdk_elf_version {
    const char *name; /* NULL: no version has this index, or it is the base version */
    const char *file; /* the SONAME that a need names; NULL for a definition */
    bool is_exact;    /* a need that no definition without a version answers */
} rsdk_elf_version;

/* The use that a relocation makes of the symbol that it names. */
typedef enum rsdk_elf_reference_kind {
    RSDK_ELF_REFERENCE_DATA, /* the symbol's address */
    RSDK_ELF_REFERENCE_CALL, /* a function that is called, or thread-local data: a definition */
    RSDK_ELF_REFERENCE_COPY, /* a program's: the object, which moves into the program */
} rsdk_elf_reference_kind;

/* A relocation that names a symbol which others may define. */
typedef struct rsdk_elf_reference {
    ElfW(Addr) address;
    ElfW(Sxword) addend;
    uint32_t symbol; /* index */
    rsdk_elf_reference_kind kind;
    bool is_lazy_slot;  /* a slot of DT_JMPREL, which the linker may fill in at the first call */
    bool holds_address; /* the word will be the symbol's address and the addend; thread-local data has none */
} rsdk_elf_reference;

typedef struct rsdk_elf_range {
    ElfW(Addr) start, size;
} rsdk_elf_range;

typedef struct rsdk_elf_dynsym {
    bool is_known; /* false: for another kind of machine than the reader knows; everything else is empty */
    const char *strings;
    uint64_t strings_size;
    const ElfW(Sym) * symbols;
    uint32_t count;
    const ElfW(Half) * version_indexes; /* the version of each symbol; NULL without versions */
    RSDK_LIST(rsdk_elf_version) versions;
    const uint32_t *gnu_hash, *hash; /* the tables as the file has them; NULL without one */
    uint64_t gnu_hash_words, hash_words;
    RSDK_LIST(rsdk_elf_reference) references; /* the references in the order of the tables */
    RSDK_LIST(rsdk_elf_range) writable;       /* segments that stay writable */
    ElfW(Addr) start;                         /* the lowest address of its segments */
    rsdk_elf_range relro;                     /* the part that cannot be written after loading */
    bool is_symbolic;                         /* DT_SYMBOLIC or DF_SYMBOLIC: the library looks into itself first */
} rsdk_elf_dynsym;

/* Read the tables of an image that rsdk_elf_check has passed, which found `tables` in it. References are read only if
 * `wants_references`. RSDK_BAD_ELF where an index leads elsewhere, or where the tables are larger than any
 * library's. */
rsdk_status rsdk_elf_dynsym_read(const rsdk_elf_image *image, const rsdk_elf_tables *tables, bool wants_references,
                                 rsdk_arena *arena, rsdk_elf_dynsym *symbols, rsdk_error *error);

/* Return the name of a symbol. */
const char *rsdk_elf_dynsym_name(const rsdk_elf_dynsym *symbols, uint32_t index);

/* Return the version that a symbol is defined with or asked for; NULL: none. */
const rsdk_elf_version *rsdk_elf_dynsym_version(const rsdk_elf_dynsym *symbols, uint32_t index);

/* Return whether dlsym finds the symbol: the symbol has no version, or the default one of its name. */
bool rsdk_elf_dynsym_is_default(const rsdk_elf_dynsym *symbols, uint32_t index);

/* A symbol to look for. */
typedef struct rsdk_elf_wanted {
    const char *name;
    const rsdk_elf_version *version; /* NULL: without one */
    rsdk_elf_reference_kind kind;
    uint32_t gnu_hash, hash;
} rsdk_elf_wanted;

rsdk_elf_wanted rsdk_elf_dynsym_wanted(const char *name, const rsdk_elf_version *version, rsdk_elf_reference_kind kind);

/* Find the symbol that answers; return false where the file has none that others can see. */
bool rsdk_elf_dynsym_find(const rsdk_elf_dynsym *symbols, const rsdk_elf_wanted *wanted, uint32_t *index);

/* Return whether a name begins with one of `prefixes` (up to a NULL). */
bool rsdk_elf_dynsym_begins_with(const char *name, const char *const prefixes[]);

/* Return whether a relocation names a symbol that the file itself defines, that others may define, too, and that begins
 * with one of `prefixes`: then the linker looks for the symbol in other libraries first. */
bool rsdk_elf_dynsym_calls_own_by_name(const rsdk_elf_dynsym *symbols, const char *const prefixes[]);

/* Return whether a symbol is an object that can be written after loading. */
bool rsdk_elf_dynsym_is_writable(const rsdk_elf_dynsym *symbols, uint32_t index);

#endif
