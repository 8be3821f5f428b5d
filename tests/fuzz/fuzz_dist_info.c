/* Any bytes as `_dist_info.py`. What is read must be fit for a directory name. */
#include "fuzz_target.h"
#include "sdk/dist_info.h"

static void check_name(const char *name) {
    if (name != NULL && strchr(name, '/') != NULL) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_dist_info info;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_dist_info_parse("_dist_info.py", (const char *)bytes, size, &arena, &info, &error);
    if (status == RSDK_OK) {
        check_name(info.nonce);
        check_name(info.default_family);
        check_name(info.libraries_template);
        for (size_t list = 0; list < RSDK_FAMILY_LIST_COUNT; list++) {
            for (size_t i = 0; i < info.families[list].count; i++) {
                check_name(info.families[list].items[i]);
            }
        }
    } else if (status != RSDK_BAD_METADATA || strstr(error.message, "_dist_info.py, line ") != error.message) {
        abort();
    }
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    return 0;
}
