/* Any bytes as one of Tensile's tables: the readers give an error, or names that lie in the file. */
#include "device_code/kernel_database.h"
#include "fuzz_target.h"
#include "memory_file.h"

typedef rsdk_status (*read_function)(const char *path, rsdk_arena *arena, rsdk_kernel_database *database,
                                     rsdk_error *error);

/* A compressed file may hold a thousand times its size. */
static size_t largest_content(const uint8_t *bytes, size_t size) {
    return size > 0 && bytes[0] == 0x78 ? 1100 * size : size;
}

static void try_reader(read_function read, const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_kernel_database database = {0};
    size_t length = 0;
    rsdk_status status = read(memory_file(bytes, size), &arena, &database, &error);
    require(status == RSDK_OK || (status == RSDK_BAD_ELF && error.message != NULL));
    for (size_t i = 0; i < database.rows.count; i++) {
        const rsdk_kernel_row *row = &database.rows.items[i];
        length += row->processor != NULL ? strlen(row->processor) : 0;
        for (size_t k = 0; k < row->tables.count; k++) {
            length += strlen(row->tables.items[k]);
        }
    }
    for (size_t i = 0; i < database.names.list.count; i++) {
        length += strlen(database.names.list.items[i]);
    }
    require(length <= largest_content(bytes, size));
    for (size_t i = 0; i < database.targets.list.count; i++) {
        require(strncmp(database.targets.list.items[i], "gfx", 3) == 0);
    }
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    try_reader(rsdk_kernel_database_read_index, bytes, size);
    try_reader(rsdk_kernel_database_read_targets, bytes, size);
    return 0;
}
