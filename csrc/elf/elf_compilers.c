/* The reader of .comment: texts that end with NUL, as `.ident` of an assembler writes them and linkers merge them. */
#include "elf/elf_sections.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"

enum {
    COMMENT_LIMIT = 1 << 16, /* bytes of the section: some hundred */
    TEXTS_LIMIT = 64,        /* different texts: one for each compiler and linker */
};

static bool has_text(const rsdk_strings *texts, const char *text) {
    for (size_t i = 0; i < texts->count; i++) {
        if (strcmp(texts->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Append the texts in `size` bytes, which stay in the arena. */
static rsdk_status take_texts(const char *bytes, size_t size, rsdk_arena *arena, rsdk_strings *texts,
                              rsdk_error *error) {
    const char *end = NULL;
    for (const char *text = bytes; (end = memchr(text, '\0', size - (size_t)(text - bytes))) != NULL; text = end + 1) {
        if (*text != '\0' && texts->count < TEXTS_LIMIT && !has_text(texts, text)) {
            RSDK_APPEND(arena, texts, text, error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_elf_compilers_read(const rsdk_file *opened, const rsdk_elf_sections *sections, rsdk_arena *arena,
                                    rsdk_strings *compilers, rsdk_error *error) {
    const rsdk_elf_section *section = rsdk_elf_section_find(sections, ".comment");
    *compilers = (rsdk_strings){0};
    if (section == NULL || section->type != SHT_PROGBITS || (section->flags & SHF_COMPRESSED) != 0 ||
        section->size > COMMENT_LIMIT) {
        return RSDK_OK;
    }
    char *bytes = rsdk_arena_alloc(arena, (size_t)section->size + 1, 1);
    RSDK_NEED(bytes, error);
    if (section->offset > opened->size || section->size > opened->size - section->offset) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_file_read(opened, section->offset, bytes, (size_t)section->size, error));
    return take_texts(bytes, (size_t)section->size, arena, compilers, error);
}
