#include "elf/elf_sections.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "elf/soname.h"

enum { NAMES_LIMIT = 1024, BLOCK = 1 << 16 };

static const uint64_t bytes_limit = UINT64_C(256) << 20;

/* A string that goes on in the next block is kept in between. */
typedef struct scan {
    rsdk_arena *arena;
    rsdk_elf_constant_filter is_wanted;
    rsdk_unique_strings *names;
    rsdk_error *error;
    char *block;         /* a block of BLOCK bytes */
    uint64_t bytes_left; /* a file may have many sections of one place */
    char word[NAME_MAX + 1];
    size_t length;
    bool is_long; /* longer than the name of a file can be */
} scan;

/* Return whether a word is "lib", something, ".so", and the ending that an SONAME may have. */
static bool is_library_name(const char *word) {
    size_t length = rsdk_soname_linker_name_length(word);
    return strncmp(word, "lib", 3) == 0 && strchr(word, '/') == NULL && length > strlen("lib.so") &&
           memcmp(word + length - 3, ".so", 3) == 0 && strspn(word + length, ".0123456789") == strlen(word + length);
}

static rsdk_status take(scan *s, const char *bytes, size_t count) {
    while (count > 0) {
        const char *end = memchr(bytes, '\0', count);
        size_t length = end != NULL ? (size_t)(end - bytes) : count;
        if (length > NAME_MAX - s->length) {
            s->is_long = true;
        } else {
            memcpy(s->word + s->length, bytes, length);
            s->length += length;
        }
        if (end == NULL) {
            return RSDK_OK;
        }
        bool is_whole = !s->is_long && s->length > 0;
        s->word[s->length] = '\0';
        s->length = 0;
        s->is_long = false;
        if (is_whole && s->names->list.count < NAMES_LIMIT && s->is_wanted(s->word)) {
            RSDK_TRY(rsdk_unique_strings_add(s->names, s->arena, rsdk_arena_copy(s->arena, s->word), s->error));
        }
        bytes += length + 1;
        count -= length + 1;
    }
    return RSDK_OK;
}

static rsdk_status read_section(scan *s, const rsdk_file *file, const rsdk_elf_section *section) {
    static const char no_more = '\0';
    uint64_t size = section->size < s->bytes_left ? section->size : s->bytes_left;
    s->bytes_left -= size;
    for (uint64_t offset = 0; offset < size; offset += BLOCK) {
        size_t count = size - offset < BLOCK ? (size_t)(size - offset) : BLOCK;
        RSDK_TRY(rsdk_file_read(file, section->offset + offset, s->block, count, s->error));
        RSDK_TRY(take(s, s->block, count));
    }
    return take(s, &no_more, 1);
}

static rsdk_status read_constants(const rsdk_file *file, const rsdk_elf_sections *sections,
                                  rsdk_elf_constant_filter is_wanted, rsdk_arena *arena, rsdk_unique_strings *names,
                                  rsdk_error *error) {
    scan s = {.arena = arena, .is_wanted = is_wanted, .names = names, .error = error, .bytes_left = bytes_limit};
    s.block = rsdk_arena_alloc(arena, BLOCK, 1);
    RSDK_NEED(s.block, error);
    for (size_t i = 0; i < sections->count; i++) {
        const rsdk_elf_section *section = &sections->items[i];
        bool is_inside = section->offset <= file->size && section->size <= file->size - section->offset;
        if (strncmp(section->name, ".rodata", strlen(".rodata")) == 0 && section->type != SHT_NOBITS && is_inside) {
            RSDK_TRY(read_section(&s, file, section));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_elf_library_names_read(const rsdk_file *file, const rsdk_elf_sections *sections, rsdk_arena *arena,
                                        rsdk_unique_strings *names, rsdk_error *error) {
    return read_constants(file, sections, is_library_name, arena, names, error);
}

rsdk_status rsdk_elf_constants_of(const char *path, rsdk_elf_constant_filter is_wanted, rsdk_arena *arena,
                                  rsdk_unique_strings *names, rsdk_error *error) {
    rsdk_file file = {0};
    rsdk_elf_sections sections = {0};
    RSDK_TRY(rsdk_file_open(path, &file, error));
    rsdk_status status = rsdk_elf_sections_read_within(&file, 0, file.size, arena, &sections, error);
    if (status == RSDK_OK) {
        status = read_constants(&file, &sections, is_wanted, arena, names, error);
    } else if (status == RSDK_BAD_ELF) {
        rsdk_error_clear(error);
        status = RSDK_OK;
    }
    rsdk_file_close(&file);
    return status;
}

rsdk_status rsdk_elf_library_names_of(const char *path, rsdk_arena *arena, rsdk_unique_strings *names,
                                      rsdk_error *error) {
    rsdk_unique_strings found = {0};
    RSDK_TRY(rsdk_elf_constants_of(path, is_library_name, arena, &found, error));
    for (size_t i = 0; i < found.list.count; i++) {
        if (!rsdk_soname_is_graft_of(rsdk_path_name(path), found.list.items[i])) {
            RSDK_TRY(rsdk_unique_strings_add(names, arena, found.list.items[i], error));
        }
    }
    return RSDK_OK;
}
