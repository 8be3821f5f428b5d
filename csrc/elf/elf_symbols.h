/* The tables by which the dynamic linker finds symbols: hash tables, symbols, their versions. Sources: gABI chapter 5,
 * glibc's elf/dl-lookup.c and dl-version.c. */
#ifndef RSDK_ELF_ELF_SYMBOLS_H
#define RSDK_ELF_ELF_SYMBOLS_H

#include "elf/elf_view.h"

/* Addresses; 0: there is no such table. */
typedef struct rsdk_elf_symbol_tables {
    ElfW(Addr) strings, symbols, hash, gnu_hash, version_symbols, version_needs, version_definitions;
    ElfW(Addr) relocations, jump_relocations; /* tables that may lie behind the symbols */
    uint64_t strings_size;
    ElfW(Addr) span_start, span_end; /* the range of all segments */
    uint64_t count;                  /* the number of symbols; rsdk_elf_symbols_count fills it in */
    bool is_counted;                 /* false: not known, and `count` is how many there is room for */
} rsdk_elf_symbol_tables;

/* A symbol such as _end is aligned, and may lie a little behind the last segment. */
#define RSDK_ELF_SPAN_SLACK (1 << 16)

/* Count the symbols, by the hash tables: a file whose DT_GNU_HASH has no symbol, and that has no DT_HASH, does not say
 * how many there are. RSDK_BAD_ELF where a search would never end, or lead elsewhere. */
rsdk_status rsdk_elf_symbols_count(rsdk_elf_view *view, rsdk_elf_symbol_tables *tables);

/* Return RSDK_BAD_ELF where an index or an address in a table leads elsewhere. The dynamic section of the image has an
 * end, the string table lies in the file and ends with a NUL, and `count` is the number of symbols that are used. */
rsdk_status rsdk_elf_symbols_check(rsdk_elf_view *view, rsdk_elf_symbol_tables *tables);

#endif
