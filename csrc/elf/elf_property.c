/* The walk over the properties in their note. Both are padded to 8 bytes in ELF64. */
#include "elf/elf_reading.h"

#include <elf.h>
#include <string.h>

#include "elf/elf_note.h"

enum { PADDING = 8 };

typedef struct property_header {
    uint32_t type, size;
} property_header;

static size_t padded(size_t size) {
    return (size + PADDING - 1) / PADDING * PADDING;
}

static uint32_t find_in(const char *properties, size_t size, uint32_t type) {
    property_header header;
    uint32_t value = 0;
    while (size >= sizeof header) {
        memcpy(&header, properties, sizeof header);
        if (header.size > size - sizeof header) {
            return 0;
        }
        if (header.type == type && header.size == sizeof value) {
            memcpy(&value, properties + sizeof header, sizeof value);
            return value;
        }
        size_t step = sizeof header + padded(header.size);
        properties += step < size ? step : size;
        size -= step < size ? step : size;
    }
    return 0;
}

uint32_t rsdk_elf_property_find(const char *note, size_t size, uint32_t type) {
    size_t length = 0;
    const char *properties = rsdk_elf_note_find(note, size, PADDING, NT_GNU_PROPERTY_TYPE_0, &length);
    return properties != NULL ? find_in(properties, length, type) : 0;
}
