/* Any bytes as `dist_info.json`. */
#include "fuzz_target.h"
#include "memory_file.h"
#include "sdk/dist_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_build_info info;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_build_info_read(memory_file(bytes, size), &arena, &info, &error);
    size_t length = 0;
    for (size_t i = 0; status == RSDK_OK && i < info.absent_libraries.count; i++) {
        length += strlen(info.absent_libraries.items[i]);
    }
    if (length > size || (status != RSDK_OK && (status != RSDK_BAD_METADATA || error.message == NULL))) {
        abort();
    }
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    return 0;
}
