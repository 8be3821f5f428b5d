/* The header of an ELF file of any class and byte order, to tell the kind of a file: a library, or code for a GPU.
 * Source: gABI chapter 4. */
#ifndef RSDK_ELF_ELF_HEADER_H
#define RSDK_ELF_ELF_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "rocm_sdk/error.h"

enum { RSDK_ELF_HEADER_SIZE = 64 }; /* bytes of the larger of the two classes */

typedef struct rsdk_elf_header {
    unsigned elf_class, data_encoding, os_abi, abi_version; /* bytes of e_ident */
    unsigned type, machine;
    uint32_t flags;
    uint64_t segments_offset, sections_offset;
    unsigned segment_count, segment_size, section_count, section_size; /* sizes of the header tables */
} rsdk_elf_header;

/* Parse an ELF header; return false where `bytes`, the first `size` of a file, are not one. */
bool rsdk_elf_header_parse(const void *bytes, size_t size, rsdk_elf_header *header);

/* Read an ELF header; return false where the file at a path cannot be read or does not begin with one. */
bool rsdk_elf_header_read(const char *path, rsdk_elf_header *header);

/* Return whether the file at a path begins as an ELF file does; false where the file cannot be read. */
bool rsdk_elf_header_is_in(const char *path);

/* Find the end of an ELF file that starts at `start` of an open file and has at most `limit` bytes: the end is behind
 * the segments and the tables of headers. RSDK_BAD_ELF if it is beyond the limit. 64-bit, little-endian files only. */
rsdk_status rsdk_elf_header_extent(const rsdk_file *file, uint64_t start, uint64_t limit, uint64_t *extent,
                                   rsdk_error *error);

#endif
