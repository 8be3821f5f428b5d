/* Any bytes as a library whose symbols are looked up: within its tables, and in bounded time. */
#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "elf_mutation.h"
#include "fuzz_target.h"
#include "memory_file.h"

/* Half of the changes know what an ELF file is; the others reach into the tables. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t limit, unsigned seed) {
    return mutate(bytes, size, limit, seed, seed % 2 != 0);
}

static void look_up(const rsdk_elf_dynsym *symbols, const rsdk_elf_reference *reference) {
    uint32_t found = 0;
    const char *name = rsdk_elf_dynsym_name(symbols, reference->symbol);
    const rsdk_elf_version *version = rsdk_elf_dynsym_version(symbols, reference->symbol);
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, version, reference->kind);
    if (rsdk_elf_dynsym_find(symbols, &wanted, &found) && strcmp(rsdk_elf_dynsym_name(symbols, found), name) != 0) {
        abort();
    }
    (void)rsdk_elf_dynsym_is_writable(symbols, reference->symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_status status =
        rsdk_elf_file_read_with_symbols(memory_file(bytes, size), true, &arena, &file, &symbols, &error);
    if (status != RSDK_OK && (status != RSDK_BAD_ELF || error.message == NULL)) {
        abort();
    }
    for (size_t i = 0; status == RSDK_OK && i < symbols.references.count; i++) {
        look_up(&symbols, &symbols.references.items[i]);
    }
    static const char *const prefixes[] = {"p", "_Z", NULL};
    (void)(status == RSDK_OK && rsdk_elf_dynsym_calls_own_by_name(&symbols, prefixes));
    rsdk_error_clear(&error);
    rsdk_arena_clear(&arena);
    return 0;
}
