/* An ELF file that is being read, for the readers of its parts. */
#ifndef RSDK_ELF_ELF_READING_H
#define RSDK_ELF_ELF_READING_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_dynsym.h"
#include "elf/elf_facts.h"

/* A PT_LOAD segment: addresses [address, address + size) come from the file at `offset`. */
typedef struct rsdk_elf_segment {
    uint64_t address, offset, size;
} rsdk_elf_segment;

/* The state of the reading of a file. */
typedef struct rsdk_elf_reading {
    rsdk_file file;
    rsdk_read_ahead ahead;
    rsdk_arena *arena;  /* the caller's: memory of the result */
    rsdk_arena scratch; /* memory that only the reading needs */
    rsdk_elf_file *result;
    bool wants_versions, checks_tables, takes_programs, wants_references;
    bool is_to_load;                     /* the linker will map it soon */
    const struct rsdk_read_watch *watch; /* NULL: nobody asks */
    rsdk_elf_dynsym *symbols;            /* NULL: not wanted */
    bool *has_symbols;                   /* NULL: damaged ones are a failure */
    size_t relocation_limit;
    rsdk_error *error;
    char *head; /* the first bytes of the file, as they are there */
    size_t head_size;
    const void *headers; /* program headers in this machine's byte order */
    size_t header_count;
    RSDK_LIST(rsdk_elf_segment) segments;
    uint64_t dynamic_offset, dynamic_size, properties_offset, properties_size;
    uint64_t strings_offset, strings_size;
    uint64_t version_needs_offset, version_needs_count;
    uint64_t names_size; /* bytes of the strings that were copied */
    char *window;        /* the part of the string table that was read last */
    uint64_t window_start, window_size, window_capacity;
} rsdk_elf_reading;

/* Return RSDK_BAD_ELF, with the file's name before `what`. */
rsdk_status rsdk_elf_reading_damaged(const rsdk_elf_reading *r, const char *what);

/* Return whether [offset, offset + size) lies in the file. */
bool rsdk_elf_reading_has(const rsdk_elf_reading *r, uint64_t offset, uint64_t size);

rsdk_status rsdk_elf_reading_read(const rsdk_elf_reading *r, uint64_t offset, void *buffer, size_t size);

/* The names in an ELF file's dynamic section. */

/* Find where tables lie, which is needed before any name can be read. `entries` are the dynamic section in this
 * machine's byte order. */
rsdk_status rsdk_elf_names_locate(rsdk_elf_reading *r, const void *entries, size_t count);

/* Read the names in the entries: libraries, directories, the file itself. */
rsdk_status rsdk_elf_names_take(rsdk_elf_reading *r, const void *entries, size_t count);

rsdk_status rsdk_elf_names_take_version_needs(rsdk_elf_reading *r);

#endif
