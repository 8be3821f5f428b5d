/* The reader of the two values of dist_info.json that we need. The JSON is read as a Python literal, of which it is a
 * kind. */
#include "sdk/dist_info.h"

#include <string.h>

#include "base/file.h"
#include "sdk/literal.h"

enum { FILE_LIMIT = 1 << 20 };

static const char wrong_type[] = "has the wrong type";

typedef struct reader {
    const char *path;
    rsdk_arena *arena;
    rsdk_build_info *info;
} reader;

static rsdk_status fail_value(const reader *r, const char *key, const char *what, rsdk_error *error) {
    return rsdk_fail(error, RSDK_BAD_METADATA, r->path, "%s: \"%s\" %s", r->path, key, what);
}

static rsdk_status take_string(const reader *r, const char *key, const rsdk_literal *value, const char **text,
                               rsdk_error *error) {
    if (value->kind != RSDK_LITERAL_STRING) {
        return fail_value(r, key, wrong_type, error);
    }
    RSDK_TRY(rsdk_literal_text(value, r->arena, text, error));
    return *text != NULL ? RSDK_OK : fail_value(r, key, "has an escape that is not read", error);
}

static rsdk_status take_value(const reader *r, const char *key, const rsdk_literal *value, rsdk_error *error) {
    if (strcmp(key, "dist_amdgpu_targets") == 0) {
        return take_string(r, key, value, &r->info->targets, error);
    }
    if (strcmp(key, "absent_libraries") != 0) {
        return RSDK_OK;
    }
    if (value->kind != RSDK_LITERAL_LIST) {
        return fail_value(r, key, wrong_type, error);
    }
    for (size_t i = 0; i < value->items.count; i++) {
        const char *library = NULL;
        RSDK_TRY(take_string(r, key, &value->items.items[i], &library, error));
        RSDK_APPEND(r->arena, &r->info->absent_libraries, library, error);
    }
    return RSDK_OK;
}

static rsdk_status read_file(const reader *r, rsdk_error *error) {
    char *text = NULL;
    size_t length = 0;
    rsdk_file_identity identity;
    rsdk_literal object = {0};
    RSDK_TRY(rsdk_file_read_text(r->path, FILE_LIMIT, r->arena, &text, &length, &identity, error));
    /* The text must be one JSON object, and nothing else. */
    rsdk_tokens tokens = {0};
    RSDK_TRY(rsdk_literal_tokenise(r->path, text, length, r->arena, &tokens, error));
    size_t at = tokens.items[0].kind == RSDK_TOKEN_INDENT ? 1 : 0;
    RSDK_TRY(rsdk_literal_read(&tokens, &at, r->arena, &object, error));
    bool is_object = object.kind == RSDK_LITERAL_DICT && tokens.items[at].kind == RSDK_TOKEN_NEWLINE;
    for (; is_object && tokens.items[at].kind != RSDK_TOKEN_END; at++) {
        is_object = tokens.items[at].kind == RSDK_TOKEN_NEWLINE || tokens.items[at].kind == RSDK_TOKEN_INDENT;
    }
    RSDK_TRY(is_object ? RSDK_OK : rsdk_fail(error, RSDK_BAD_METADATA, r->path, "%s: not a JSON object", r->path));
    for (size_t i = 0; i + 1 < object.items.count; i += 2) {
        const char *key = NULL;
        if (object.items.items[i].kind == RSDK_LITERAL_STRING) {
            RSDK_TRY(rsdk_literal_text(&object.items.items[i], r->arena, &key, error));
        }
        if (key != NULL) {
            RSDK_TRY(take_value(r, key, &object.items.items[i + 1], error));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_build_info_read(const char *path, rsdk_arena *arena, rsdk_build_info *info, rsdk_error *error) {
    rsdk_error reason = RSDK_ERROR_INIT;
    *info = (rsdk_build_info){.targets = ""};
    reader r = {.path = path, .arena = arena, .info = info};
    rsdk_status status = read_file(&r, &reason);
    if (status != RSDK_OK && status != RSDK_FILE_NOT_FOUND) {
        return rsdk_fail_with(error, &reason);
    }
    rsdk_error_clear(&reason);
    return RSDK_OK;
}
