/* The notes of an ELF file: in its segments, and in the memory of a process. Source: gABI chapter 5, and the Linux
 * extensions to it for notes that are padded to 8 bytes. */
#ifndef RSDK_ELF_ELF_NOTE_H
#define RSDK_ELF_ELF_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Find the first note of the owner "GNU" of a type (NT_GNU_BUILD_ID) in `size` bytes of notes, in this machine's byte
 * order. align: the segment's; 8 means that the notes are padded to 8 bytes, anything else to 4. Return the bytes of
 * its description, `*length` of them; NULL: there is none, or the notes are damaged before it. */
const char *rsdk_elf_note_find(const char *notes, size_t size, uint64_t align, uint32_t type, size_t *length);

/* Find the build ID in such notes, in hexadecimal digits, in `arena`. Without one `*build_id` is left as it is. False:
 * out of memory. */
bool rsdk_elf_note_build_id(const char *notes, size_t size, uint64_t align, rsdk_arena *arena, const char **build_id);

/* Return the 32-bit value of a property in the bytes of an ELF64 note, the one that PT_GNU_PROPERTY shows, in this
 * machine's byte order; 0 where the note has none. Source: the Linux extensions to the gABI. */
uint32_t rsdk_elf_property_find(const char *note, size_t size, uint32_t type);

#endif
