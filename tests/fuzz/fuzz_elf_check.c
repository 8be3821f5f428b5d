/* Any bytes as a library that is to be loaded: its tables are asked for and read within the file, and in bounded time.
 */
#include "elf/elf_ahead.h"
#include "elf/elf_file.h"
#include "elf_mutation.h"
#include "fuzz_target.h"
#include "memory_file.h"

/* Half of the changes know what an ELF file is; the others reach into the tables. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t limit, unsigned seed) {
    return mutate(bytes, size, limit, seed, seed % 2 != 0);
}

static void ignore(void *context, const char *path, uint64_t nanoseconds) {
    (void)context;
    (void)path;
    (void)nanoseconds;
}

static void ignore_needed(void *context, const rsdk_elf_file *file) {
    (void)context;
    (void)file;
}

static bool take_nothing(void *context, const char *path, rsdk_file *file) {
    (void)context;
    (void)path;
    (void)file;
    return false;
}

static void ask_ahead_of(const char *path) {
    rsdk_file file = {0};
    if (rsdk_file_open(path, &file, NULL) == RSDK_OK) {
        rsdk_elf_ask_ahead_of(&file, NULL);
        rsdk_file_close(&file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_file file;
    rsdk_error error = RSDK_ERROR_INIT;
    const char *path = memory_file(bytes, size);
    const rsdk_read_watch watch = {
        .take_file = take_nothing, .tell_time = ignore, .tell_needed = ignore_needed, .asks_ahead = true};
    ask_ahead_of(path);
    rsdk_status status = rsdk_elf_file_read_checked(path, SIZE_MAX, &watch, &arena, &file, &error);
    if (status != RSDK_OK && (status != RSDK_BAD_ELF || error.message == NULL)) {
        abort();
    }
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    return 0;
}
