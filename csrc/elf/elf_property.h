/* GNU properties of a library: the note that PT_GNU_PROPERTY shows. Source: the Linux extensions to the gABI. */
#ifndef RSDK_ELF_ELF_PROPERTY_H
#define RSDK_ELF_ELF_PROPERTY_H

#include <stddef.h>
#include <stdint.h>

/* Return the 32-bit value of a property in the bytes of an ELF64 note, in this machine's byte order; 0 where the note
 * has none. */
uint32_t rsdk_elf_property_find(const char *note, size_t size, uint32_t type);

#endif
