/* Spellings of targets in file names. Tensile writes '-' where target ids have ':', composable_kernel '_', with "p" and
 * "_" for the signs. */
#include "device_code/file_target.h"

#include <stdio.h>
#include <string.h>

static bool is_hexadecimal(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Return the length of "gfx942" or "gfx9-4-generic" at `text`; 0: none is there. */
static size_t processor_length(const char *text) {
    for (size_t i = 0; i < rsdk_target_generic_count(); i++) {
        const char *name = rsdk_target_generic_get(i)->name;
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && !is_letter_or_digit(text[length])) {
            return length;
        }
    }
    size_t digits = 0;
    while (is_hexadecimal(text[3 + digits])) {
        digits++;
    }
    size_t length = 3 + digits;
    if (digits < 3 || digits > 4 || is_letter_or_digit(text[length])) {
        return 0;
    }
    static const char strict[] = "-strict";
    return strncmp(text + length, strict, sizeof strict - 1) == 0 ? length + sizeof strict - 1 : length;
}

/* Read a separator, the feature and its sign; return the length, 0: none is there. */
static size_t feature_length(const char *text, const char *feature, char *sign) {
    size_t length = strlen(feature);
    if (*text == '\0' || strchr("-:_", *text) == NULL || strncmp(text + 1, feature, length) != 0) {
        return 0;
    }
    char mark = text[1 + length];
    bool is_on = mark == '+' || mark == 'p', is_off = mark == '-' || mark == '_' || mark == 'n';
    if (!is_on && !is_off) {
        return 0;
    }
    *sign = "-+"[is_on];
    return length + 2;
}

/* Find "gfx" at the start of a word. */
static const char *find_start(const char *name) {
    for (const char *at = strstr(name, "gfx"); at != NULL; at = strstr(at + 1, "gfx")) {
        if ((at == name || !is_letter_or_digit(at[-1])) && processor_length(at) > 0) {
            return at;
        }
    }
    return NULL;
}

bool rsdk_file_target_find(const char *name, char target[RSDK_TARGET_ID_SIZE], size_t *start) {
    const char *at = find_start(name);
    char sramecc = '\0', xnack = '\0';
    *start = 0;
    if (at == NULL) {
        return false;
    }
    size_t length = processor_length(at);
    const char *end = at + length;
    for (size_t more = 1; more > 0; end += more) {
        more = feature_length(end, "sramecc", &sramecc);
        more = more > 0 ? more : feature_length(end, "xnack", &xnack);
    }
    (void)snprintf(target, RSDK_TARGET_ID_SIZE, "%.*s%s%s", (int)length, at,
                   sramecc == '\0'  ? ""
                   : sramecc == '+' ? ":sramecc+"
                                    : ":sramecc-",
                   xnack == '\0'  ? ""
                   : xnack == '+' ? ":xnack+"
                                  : ":xnack-");
    if (at > name && (*end == '\0' || *end == '.')) {
        *start = (size_t)(at - name) - 1;
    }
    return true;
}

const rsdk_target *rsdk_file_target_of_database(const char *name) {
    const rsdk_target *longest = NULL;
    for (size_t i = 0; i < rsdk_target_count(); i++) {
        const rsdk_target *target = rsdk_target_get(i);
        if (strncmp(name, target->name, strlen(target->name)) == 0 &&
            (longest == NULL || strlen(target->name) > strlen(longest->name))) {
            longest = target;
        }
    }
    return longest;
}

bool rsdk_file_target_find_normal(const char *name, char target[RSDK_TARGET_ID_SIZE]) {
    static const char strict[] = "-strict";
    char found[RSDK_TARGET_ID_SIZE];
    size_t start = 0;
    if (!rsdk_file_target_find(name, found, &start)) {
        const rsdk_target *database = rsdk_file_target_of_database(name);
        if (database != NULL) {
            (void)snprintf(target, RSDK_TARGET_ID_SIZE, "%s", database->name);
        }
        return database != NULL;
    }
    char *mode = strstr(found, strict);
    if (mode != NULL) {
        memmove(mode, mode + strlen(strict), strlen(mode + strlen(strict)) + 1);
    }
    return rsdk_target_id_normalize(found, target, NULL) == RSDK_OK;
}
