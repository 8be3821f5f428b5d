/* rocm-systems 4936 changed both the text of the exception at doorbells of an older type and its effect.
 *
 * ROCr 6.4.3 and 7.2.4 have the same texts about the override, one of them a message. A release that refuses more has
 * another message; where the topology is read by another library (libhsakmt, before ROCm 6.3), there is none. */
#include "sdk/built_for.h"

#include <elf.h>
#include <string.h>

#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "elf/elf_sections.h"

static const char variable[] = "HSA_OVERRIDE_GFX_VERSION";
static const char ends[] = "uses a deprecated doorbell type", skips[] = "uses unsupported doorbell type";
static const char message[] = "HSA_OVERRIDE_GFX_VERSION %s is invalid\n";

static bool is_wanted(const char *text) {
    return strstr(text, variable) != NULL || strstr(text, ends) != NULL || strstr(text, skips) != NULL;
}

/* Return whether a text is of the old rules: the name of a variable, or the text of an assertion, which only some
 * builds have. */
static bool is_old(const char *text) {
    return strcmp(text, variable) == 0 || strcmp(text, "HSA_OVERRIDE_GFX_VERSION_%d") == 0 ||
           strcmp(text, message) == 0 || strstr(text, "\"HSA_OVERRIDE_GFX_VERSION may be needed\"") != NULL;
}

static bool imports(const rsdk_elf_dynsym *symbols, const char *name) {
    for (uint32_t i = 0; i < symbols->count; i++) {
        if (symbols->symbols[i].st_shndx == SHN_UNDEF && strcmp(rsdk_elf_dynsym_name(symbols, i), name) == 0) {
            return true;
        }
    }
    return false;
}

static rsdk_status read_rules(const char *path, rsdk_arena *arena, rsdk_gpu_runtime *runtime, rsdk_error *error) {
    rsdk_elf_file file = {0};
    rsdk_elf_dynsym symbols = {0};
    rsdk_unique_strings texts = {0};
    bool has_message = false, has_others = false, has_ends = false, has_skips = false;
    RSDK_TRY(rsdk_elf_file_read_with_symbols(path, false, arena, &file, &symbols, error));
    RSDK_TRY(rsdk_elf_constants_of(path, is_wanted, arena, &texts, error));
    for (size_t i = 0; i < texts.list.count; i++) {
        const char *text = texts.list.items[i];
        has_message |= strcmp(text, message) == 0;
        has_others |= strstr(text, variable) != NULL && !is_old(text);
        has_ends |= strstr(text, ends) != NULL;
        has_skips |= strstr(text, skips) != NULL;
    }
    *runtime = (rsdk_gpu_runtime){.reads_binary = imports(&symbols, "__isoc23_strtol"),
                                  .takes_any_version = has_message && !has_others,
                                  .ends_at_old_doorbells = has_ends,
                                  .skips_old_doorbells = has_skips};
    return RSDK_OK;
}

rsdk_status rsdk_runtime_rules_read(const char *path, rsdk_gpu_runtime *runtime, rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_status status = read_rules(path, &arena, runtime, error);
    rsdk_arena_clear(&arena);
    return status;
}
