/* Any bytes as a library file: the reader gives an error, or texts that end. */
#include "elf/elf_file.h"
#include "elf/elf_layout.h"
#include "elf/elf_machine.h"
#include "elf/elf_sections.h"
#include "elf/stub.h"
#include "elf_mutation.h"
#include "fuzz_target.h"
#include "loader/linker_search.h"
#include "memory_file.h"

/* Three of four changes know what an ELF file is. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t limit, unsigned seed) {
    return mutate(bytes, size, limit, seed, seed % 4 != 0);
}

static size_t length_of(const char *text) {
    return text != NULL ? strlen(text) : 0;
}

/* Sections are read of any file, also of one that the reader of libraries refuses. */
static void check_sections(const char *path, rsdk_arena *arena) {
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_elf_sections sections;
    size_t length = 0;
    rsdk_unique_strings libraries = {0};
    rsdk_file opened = {0};
    if (rsdk_file_open(path, &opened, NULL) != RSDK_OK) {
        abort();
    }
    rsdk_status status = rsdk_elf_sections_read_within(&opened, 0, opened.size, arena, &sections, &error);
    for (size_t i = 0; i < sections.count; i++) {
        length += length_of(sections.items[i].name);
    }
    if (rsdk_elf_library_names_read(&opened, &sections, arena, &libraries, &error) != RSDK_OK ||
        libraries.list.count > 1024) {
        abort();
    }
    if ((status != RSDK_OK && status != RSDK_BAD_ELF) || (status != RSDK_OK && sections.count > 0) ||
        length > 1 << 22) {
        abort();
    }
    rsdk_file_close(&opened);
    rsdk_error_clear(&error);
}

static void check_damages(const char *path, rsdk_arena *arena) {
    rsdk_elf_damages damages = {0};
    rsdk_file opened = {0};
    if (rsdk_file_open(path, &opened, NULL) != RSDK_OK ||
        rsdk_elf_layout_find_damages(&opened, arena, &damages, NULL) != RSDK_OK) {
        abort();
    }
    (void)rsdk_elf_file_check_opened(&opened, NULL);
    rsdk_file_close(&opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_file file;
    rsdk_error error = RSDK_ERROR_INIT;
    check_sections(memory_file(bytes, size), &arena);
    rsdk_status status = rsdk_elf_file_read_with_versions(memory_file(bytes, size), &arena, &file, &error);
    if (status == RSDK_OK) {
        rsdk_elf_stub stub;
        rsdk_load_chain chain;
        rsdk_linker_search search = {.arena = &arena};
        size_t length =
            length_of(file.soname) + length_of(file.rpath) + length_of(file.runpath) + length_of(file.build_id);
        for (size_t i = 0; i < file.version_needs.count; i++) {
            length += length_of(file.version_needs.items[i].file) + length_of(file.version_needs.items[i].version);
        }
        if (length > SIZE_MAX / 2 || rsdk_linker_search_start_chain(&search, &file, &chain, &error) != RSDK_OK ||
            rsdk_elf_stub_make(&file, file.soname, &file.needed, &arena, &stub, &error) != RSDK_OK) {
            abort();
        }
        if (rsdk_elf_machine_check(&file, &error) == RSDK_OK) {
            check_damages(file.path, &arena);
        }
    } else if (status != RSDK_BAD_ELF || error.message == NULL) {
        abort();
    }
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    return 0;
}
