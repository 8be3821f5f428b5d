/* What an open SDK says of itself without a look at the file system. */
#include "sdk/open_sdk.h"

#include <stdarg.h>

rsdk_arena *rsdk_sdk_arena(rsdk_sdk *sdk) {
    return &sdk->arena;
}

static rsdk_status add_warning(rsdk_sdk *sdk, const char *sentence, rsdk_error *error) {
    RSDK_NEED(sentence, error);
    RSDK_APPEND(&sdk->arena, &sdk->warnings, sentence, error);
    return RSDK_OK;
}

void rsdk_sdk_warn(rsdk_sdk *sdk, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)add_warning(sdk, rsdk_arena_format_list(&sdk->arena, format, arguments), NULL);
    va_end(arguments);
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
    return sdk->warnings.count;
}

const char *rsdk_sdk_warning(const rsdk_sdk *sdk, size_t index) {
    return index < sdk->warnings.count ? sdk->warnings.items[index] : NULL;
}
