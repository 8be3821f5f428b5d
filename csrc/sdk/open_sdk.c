/* The answers of an open SDK that need no look at the file system. */
#include "sdk/open_sdk.h"

#include <stdarg.h>
#include <string.h>

const char *rsdk_sdk_keep(rsdk_sdk *sdk, const char *text) {
    size_t place = 0;
    if (text == NULL) {
        return NULL;
    }
    if (rsdk_name_table_find(&sdk->kept.places, text, strlen(text), &place)) {
        return sdk->kept.list.items[place];
    }
    const char *copy = rsdk_arena_copy(&sdk->arena, text);
    return rsdk_unique_strings_add(&sdk->kept, &sdk->arena, copy, NULL) == RSDK_OK ? copy : NULL;
}

void rsdk_sdk_warn(rsdk_sdk *sdk, const char *format, ...) {
    rsdk_arena scratch = RSDK_ARENA_INIT;
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = rsdk_sdk_keep(sdk, rsdk_arena_format_list(&scratch, format, arguments));
    va_end(arguments);
    if (sentence != NULL) {
        (void)rsdk_unique_strings_add(&sdk->warnings, &sdk->arena, sentence, NULL);
    }
    rsdk_arena_clear(&scratch);
}

const char *rsdk_sdk_version(const rsdk_sdk *sdk) {
    return sdk->version;
}

const char *rsdk_sdk_fallback(const rsdk_sdk *sdk) {
    return sdk->fallback.place;
}

const char *rsdk_sdk_root(const rsdk_sdk *sdk) {
    return sdk->root.path;
}

const char *rsdk_sdk_nonce(const rsdk_sdk *sdk) {
    return sdk->info.nonce;
}

const char *rsdk_sdk_default_family(const rsdk_sdk *sdk) {
    return sdk->info.default_family;
}

const char *const *rsdk_sdk_families(const rsdk_sdk *sdk, rsdk_family_list list, size_t *count) {
    *count = sdk->info.families[list].count;
    return sdk->info.families[list].items;
}

size_t rsdk_sdk_warning_count(const rsdk_sdk *sdk) {
    return sdk->warnings.list.count;
}

const char *rsdk_sdk_warning(const rsdk_sdk *sdk, size_t index) {
    return index < sdk->warnings.list.count ? sdk->warnings.list.items[index] : NULL;
}
