/* Groups files by their names. */
#include "binding/host_objects.h"

#include <string.h>

#include "base/fail.h"
#include "base/name_table.h"
#include "base/path.h"
#include "sdk/tables.h"

/* A group that is being made. */
typedef struct group {
    size_t count;
    bool has_rocm, is_needed;
} group;

typedef struct groups {
    group *items; /* at most as many groups as there are files */
    size_t count;
    rsdk_name_table numbers; /* by path without the back end */
} groups;

static bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Return where the word stands in a name, alone or with digits behind it; *end is behind these. NULL: nowhere. */
static const char *find_word(const char *name, const char *word, const char **end) {
    for (const char *at = strstr(name, word); at != NULL; at = strstr(at + 1, word)) {
        *end = at + strlen(word);
        *end += strspn(*end, "0123456789");
        if (at > name && !is_letter_or_digit(at[-1]) && !is_letter_or_digit(**end)) {
            return at;
        }
    }
    return NULL;
}

static rsdk_status take(groups *made, rsdk_variant *file, rsdk_arena *arena, rsdk_error *error) {
    const rsdk_back_end *row = NULL;
    const char *key = NULL, *path = file->path, *name = rsdk_path_name(path);
    file->group = -1;
    for (size_t i = 0; key == NULL && i < rsdk_back_end_count; i++) {
        const char *end = NULL, *at = find_word(name, rsdk_back_ends[i].word, &end);
        if (at != NULL) {
            row = &rsdk_back_ends[i];
            key = rsdk_arena_format(arena, "%.*s%s", (int)(at - 1 - path), path, end);
            RSDK_NEED(key, error);
        }
    }
    if (row == NULL) {
        return RSDK_OK;
    }
    size_t number = made->count;
    if (!rsdk_name_table_find(&made->numbers, key, strlen(key), &number)) {
        RSDK_TRY(rsdk_name_table_set(&made->numbers, arena, key, strlen(key), number, error));
        made->count++;
    }
    made->items[number].count++;
    made->items[number].has_rocm |= row->is_rocm;
    made->items[number].is_needed |= file->is_needed;
    file->back_end = row->word;
    file->is_for_rocm = row->is_rocm;
    file->group = (int)number;
    return RSDK_OK;
}

rsdk_status rsdk_variants_find(rsdk_variant *const *files, size_t count, rsdk_arena *arena, rsdk_error *error) {
    groups made = {.items = rsdk_arena_alloc(arena, count + 1, sizeof *made.items)};
    RSDK_NEED(made.items, error);
    for (size_t i = 0; i < count; i++) {
        RSDK_TRY(take(&made, files[i], arena, error));
    }
    for (size_t i = 0; i < count; i++) {
        const group *of = files[i]->group >= 0 ? &made.items[files[i]->group] : NULL;
        if (of != NULL && (of->count < 2 || !of->has_rocm || of->is_needed)) {
            *files[i] = (rsdk_variant){.path = files[i]->path, .is_needed = files[i]->is_needed, .group = -1};
        }
    }
    return RSDK_OK;
}
