/* Walks the notes, and the properties in them. Both are padded to 8 bytes in ELF64. */
#include "elf/elf_property.h"

#include <elf.h>
#include <string.h>

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
    Elf64_Nhdr header;
    while (size >= sizeof header) {
        memcpy(&header, note, sizeof header);
        size_t description = padded(sizeof header + (size_t)header.n_namesz); /* from the note's beginning */
        if (description > size || header.n_descsz > size - description) {
            return 0;
        }
        if (header.n_type == NT_GNU_PROPERTY_TYPE_0 && header.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(note + sizeof header, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            return find_in(note + description, header.n_descsz, type);
        }
        size_t step = description + padded(header.n_descsz);
        note += step < size ? step : size;
        size -= step < size ? step : size;
    }
    return 0;
}
