/* The bytes of an ELF file by the addresses that they will have in memory, as the dynamic linker sees them. The bytes
 * are read through windows of bounded size: tables lie side by side, so few reads serve a library. */
#ifndef RSDK_ELF_ELF_VIEW_H
#define RSDK_ELF_ELF_VIEW_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"
#include "rocm_sdk/error.h"

#ifndef DT_RELRSZ
#define DT_RELRSZ  35 /* gABI of 2022, glibc 2.36 */
#define DT_RELR    36
#define DT_RELRENT 37
#endif

/* A library of this machine's class and byte order, whose headers are read. Each PT_LOAD segment lies in the file. */
typedef struct rsdk_elf_image {
    const rsdk_file *file;
    unsigned machine; /* e_machine */
    const ElfW(Phdr) * headers;
    size_t header_count;
    const ElfW(Dyn) * dynamic; /* read as it lies in the file, perhaps without an end */
    size_t dynamic_count;
    rsdk_arena *scratch; /* memory that is needed meanwhile: 40 KiB, and the words of a DT_HASH */
} rsdk_elf_image;

/* Return the dynamic entry that the linker takes: of several with one tag, the last. NULL: none. */
const ElfW(Dyn) * rsdk_elf_image_entry(const rsdk_elf_image *image, ElfW(Sxword) tag);

/* A part of the file that was read. */
typedef struct rsdk_elf_window {
    char *bytes;
    uint64_t start, size, capacity; /* in the file */
} rsdk_elf_window;

typedef struct rsdk_elf_view {
    const rsdk_elf_image *image;
    rsdk_error *error;
    rsdk_elf_window table;     /* the window of tables that are passed through */
    rsdk_elf_window places[2]; /* single reads, which go back and forth between records and the names in them */
    unsigned oldest_place;
    const ElfW(Phdr) * last; /* the segment that was found last */
} rsdk_elf_view;

rsdk_status rsdk_elf_view_init(const rsdk_elf_image *image, rsdk_elf_view *view, rsdk_error *error);

/* Fill the view's error with the fault of the file; return RSDK_BAD_ELF. */
rsdk_status rsdk_elf_view_damaged(const rsdk_elf_view *view, const char *what);

/* Return whether one range lies in another. */
static inline bool rsdk_elf_is_within(uint64_t start, uint64_t size, uint64_t outer_start, uint64_t outer_size) {
    return start >= outer_start && size <= outer_size && start - outer_start <= outer_size - size;
}

/* Return the PT_LOAD segment that has these addresses, and all `flags`; NULL: none. */
const ElfW(Phdr) * rsdk_elf_view_segment(rsdk_elf_view *view, ElfW(Addr) address, uint64_t size, ElfW(Word) flags);

bool rsdk_elf_view_is_code(rsdk_elf_view *view, ElfW(Addr) address);

/* Return how many bytes of the file lie from an address to the end of its segment, or of the segments that go on
 * without a gap. */
uint64_t rsdk_elf_view_bytes_from(rsdk_elf_view *view, ElfW(Addr) address);

/* Return whether the file holds the bytes that the linker will read there. */
bool rsdk_elf_view_has(rsdk_elf_view *view, ElfW(Addr) address, uint64_t size);

/* Copy `size` bytes; many small reads near each other cost few reads of the file. The error says `what` if the file
 * does not hold them. */
rsdk_status rsdk_elf_view_read(rsdk_elf_view *view, ElfW(Addr) address, void *target, size_t size, const char *what);

/* Copy any number of bytes to memory of `arena`. */
rsdk_status rsdk_elf_view_copy(rsdk_elf_view *view, ElfW(Addr) address, size_t size, rsdk_arena *arena, void **copy,
                               const char *what);

/* A table of records of one size that is passed through from its first to its last: records are many. */
typedef struct rsdk_elf_walk {
    ElfW(Addr) next;
    uint64_t left; /* records behind the records of `bytes` */
    size_t unit;
    const char *what; /* the words of the error if the file does not hold a record */
    const char *bytes;
    size_t count; /* records in `bytes` */
} rsdk_elf_walk;

/* Read the next records; none at the end. */
rsdk_status rsdk_elf_walk_next(rsdk_elf_view *view, rsdk_elf_walk *walk);

/* The tables by which the dynamic linker finds symbols: hash tables, symbols, their versions. Sources: gABI chapter 5,
 * glibc's elf/dl-lookup.c and dl-version.c. */

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
