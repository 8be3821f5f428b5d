/* Names without version that files have among their constants. */
#include "binding/host_check.h"

#include <string.h>

#include "elf/elf_file.h"
#include "elf/elf_sections.h"
#include "elf/soname.h"
#include "loader/link_map.h"
#include "loader/linker_search.h"
#include "sdk/tables.h"

static bool is_opened_by_rocm(const char *name) {
    for (size_t i = 0; i < rsdk_dlopen_dependency_count; i++) {
        if (strcmp(rsdk_dlopen_dependencies[i].opened, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const char *name, const char *own) {
    const bool is_unversioned = name[rsdk_soname_linker_name_length(name)] == '\0';
    const bool is_own = own != NULL && rsdk_soname_has_linker_name(own, name);
    return is_unversioned && !is_own && (rsdk_catalog_is_of_rocm(name) || is_opened_by_rocm(name));
}

static rsdk_status add(rsdk_linker_search *search, const rsdk_load_chain *chain, rsdk_seen_name row,
                       rsdk_opened_names *found, rsdk_error *error) {
    RSDK_TRY(rsdk_linker_search_find(search, chain, row.name, &row.path, error));
    RSDK_APPEND(search->arena, found, row, error);
    return RSDK_OK;
}

static rsdk_status add_of_file(rsdk_linker_search *search, const char *file, rsdk_opened_names *found,
                               rsdk_error *error) {
    rsdk_elf_file elf;
    rsdk_load_chain chain;
    rsdk_unique_strings names = {0};
    rsdk_error reason = RSDK_ERROR_INIT;
    const rsdk_status status = rsdk_elf_file_read(file, search->arena, &elf, &reason);
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) {
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    RSDK_TRY(rsdk_elf_library_names_of(file, search->arena, &names, error));
    RSDK_TRY(rsdk_linker_search_start_chain(search, &elf, &chain, error));
    for (size_t i = 0; i < names.list.count; i++) {
        if (is_wanted(names.list.items[i], elf.soname)) {
            const rsdk_seen_name row = {.opener = file, .name = names.list.items[i]};
            RSDK_TRY(add(search, &chain, row, found, error));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_opened_names_find(const char *const *files, size_t file_count, const char *const *names,
                                   size_t name_count, rsdk_arena *arena, rsdk_opened_names *found, rsdk_error *error) {
    const rsdk_load_chain nothing = {.rpath = NULL};
    rsdk_link_map map = {0};
    rsdk_linker_search search;
    RSDK_TRY(rsdk_link_map_read(arena, &map, error));
    RSDK_TRY(rsdk_linker_search_init(arena, &map, &search, error));
    for (size_t i = 0; i < file_count; i++) {
        RSDK_TRY(add_of_file(&search, files[i], found, error));
    }
    for (size_t i = 0; i < name_count; i++) {
        RSDK_TRY(add(&search, &nothing, (rsdk_seen_name){.name = names[i]}, found, error));
    }
    return RSDK_OK;
}
