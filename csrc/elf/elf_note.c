/* The walk over notes. Each size is checked against the bytes that are left before it is used. */
#include "elf/elf_note.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
    BUILD_ID_LIMIT = 64,  /* bytes; SHA-1 has 20 */
    PROPERTY_PADDING = 8, /* of properties and of their note, in ELF64 */
};

static uint64_t padded(uint64_t size, uint64_t step) {
    return (size + step - 1) / step * step;
}

typedef struct elf_note {
    const char *owner, *description; /* texts of owner_size and size bytes */
    size_t owner_size, size;
    uint32_t type;
} elf_note;

/* Read the note at byte *at; *at becomes the place of the next note. False, and *at stays, where no note is left, or
 * where it is cut off. */
static bool next_note(const char *notes, size_t size, uint64_t align, uint64_t *at, elf_note *note) {
    const uint64_t step = align == 8 ? 8 : 4;
    Elf64_Nhdr header; /* a header of ELF32 is the same */
    if (*at > size || size - *at < sizeof header) {
        return false;
    }
    memcpy(&header, notes + *at, sizeof header);
    uint64_t description = *at + padded(sizeof header + (uint64_t)header.n_namesz, step);
    uint64_t end = description + header.n_descsz;
    if (end > size) {
        return false;
    }
    *note = (elf_note){.owner = notes + *at + sizeof header,
                       .owner_size = header.n_namesz,
                       .description = notes + description,
                       .size = header.n_descsz,
                       .type = header.n_type};
    *at = padded(end, step);
    return true;
}

const char *rsdk_elf_note_find(const char *notes, size_t size, uint64_t align, uint32_t type, size_t *length) {
    uint64_t at = 0;
    elf_note note;
    while (next_note(notes, size, align, &at, &note)) {
        if (note.type == type && note.owner_size == sizeof ELF_NOTE_GNU &&
            memcmp(note.owner, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            *length = note.size;
            return note.description;
        }
    }
    return NULL;
}

bool rsdk_elf_note_build_id(const char *notes, size_t size, uint64_t align, rsdk_arena *arena, const char **build_id) {
    size_t length = 0;
    const char *found = rsdk_elf_note_find(notes, size, align, NT_GNU_BUILD_ID, &length);
    if (found == NULL || length == 0 || length > BUILD_ID_LIMIT) {
        return true;
    }
    char *text = rsdk_arena_alloc(arena, 2 * length + 1, 1);
    if (text == NULL) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", (unsigned char)found[i]);
    }
    *build_id = text;
    return true;
}

/* ---- properties ---- */

typedef struct property_header {
    uint32_t type, size;
} property_header;

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
        size_t step = sizeof header + (size_t)padded(header.size, PROPERTY_PADDING);
        properties += step < size ? step : size;
        size -= step < size ? step : size;
    }
    return 0;
}

uint32_t rsdk_elf_property_find(const char *note, size_t size, uint32_t type) {
    size_t length = 0;
    const char *properties = rsdk_elf_note_find(note, size, PROPERTY_PADDING, NT_GNU_PROPERTY_TYPE_0, &length);
    return properties != NULL ? find_in(properties, length, type) : 0;
}
