/* Any bytes as the linker's cache. */
#include "fuzz_target.h"
#include "loader/linker_search.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    const rsdk_load_chain chain = {0};
    rsdk_linker_search search = {.arena = &arena, .cache_is_read = true};
    rsdk_error error = RSDK_ERROR_INIT;
    const char *path = NULL;
    rsdk_linker_search_use_cache(&search, (const char *)bytes, size);
    if (rsdk_linker_search_find(&search, &chain, "libz.so.1", &path, &error) != RSDK_OK) {
        abort();
    }
    if (path != NULL && strlen(path) >= size) {
        abort();
    }
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    return 0;
}
