/* The walk over notes. Each size is checked against the bytes that are left before it is used. */
#include "elf/elf_note.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { BUILD_ID_LIMIT = 64 /* bytes; SHA-1 has 20 */ };

static uint64_t padded(uint64_t size, uint64_t step) {
    return (size + step - 1) / step * step;
}

bool rsdk_elf_note_next(const char *notes, size_t size, uint64_t align, uint64_t *at, rsdk_elf_note *note) {
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
    *note = (rsdk_elf_note){.owner = notes + *at + sizeof header,
                            .owner_size = header.n_namesz,
                            .description = notes + description,
                            .size = header.n_descsz,
                            .type = header.n_type};
    *at = padded(end, step);
    return true;
}

const char *rsdk_elf_note_find(const char *notes, size_t size, uint64_t align, uint32_t type, size_t *length) {
    uint64_t at = 0;
    rsdk_elf_note note;
    while (rsdk_elf_note_next(notes, size, align, &at, &note)) {
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
