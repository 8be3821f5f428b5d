/* Any text as a target id and as a list of targets and families. */
#include "fuzz_target.h"
#include "rocm_sdk/gpu.h"

/* An id in normal form is its own normal form. */
static void check_id(const char *text) {
    char normal[RSDK_TARGET_ID_SIZE], again[RSDK_TARGET_ID_SIZE];
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_target_id_normalize(text, normal, &error);
    if (status == RSDK_OK) {
        if (rsdk_target_id_normalize(normal, again, NULL) != RSDK_OK || strcmp(normal, again) != 0) {
            abort();
        }
    } else if (status != RSDK_BAD_ARGUMENT || error.message == NULL) {
        abort();
    }
    rsdk_error_clear(&error);
}

static void check_list(const char *text) {
    size_t count = 0;
    rsdk_error error = RSDK_ERROR_INIT;
    const rsdk_target **targets = calloc(rsdk_target_count(), sizeof *targets);
    if (targets == NULL) {
        return;
    }
    rsdk_status status = rsdk_target_expand(text, targets, &count, &error);
    if (count > rsdk_target_count() || (status != RSDK_OK && error.message == NULL)) {
        abort();
    }
    rsdk_error_clear(&error);
    free((void *)targets);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    check_id(text);
    check_list(text);
    free(text);
    return 0;
}
