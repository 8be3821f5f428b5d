/* The inventory of library files. */
#include "sdk/inventory.h"

#include <string.h>

#include "base/path.h"
#include "elf/elf_machine.h"
#include "elf/soname.h"
#include "sdk/layout.h"
#include "sdk/open_sdk.h"
#include "sdk/tables.h"

rsdk_inventory rsdk_inventory_make(rsdk_sdk *sdk, rsdk_arena *arena, bool supports_files) {
    return (rsdk_inventory){.sdk = sdk, .arena = arena, .supports_files = supports_files};
}

static bool has_directory(const rsdk_inventory *inventory, const char *path) {
    for (size_t i = 0; i < inventory->directories.count; i++) {
        if (strcmp(inventory->directories.items[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

static rsdk_status add_directories_of(rsdk_inventory *inventory, rsdk_package_id package, rsdk_error *error) {
    const char *platform = NULL;
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_sdk_package_directory(inventory->sdk, package, &platform, &reason);
    if (status != RSDK_OK && status != RSDK_PACKAGE_NOT_INSTALLED) {
        return rsdk_fail_with(error, &reason);
    }
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) {
        return RSDK_OK; /* nothing to look through */
    }
    for (size_t i = 0; i < rsdk_library_place_count; i++) {
        const rsdk_library_place *place = &rsdk_library_places[i];
        const char *relative = rsdk_sdk_library_place(inventory->sdk, place->path);
        /* A ROCm that is not installed as packages may share its directories with other software. */
        bool is_shared = rsdk_sdk_fallback(inventory->sdk) != NULL;
        rsdk_library_directory directory = {.package = package,
                                            .path = rsdk_path_join(inventory->arena, platform, relative),
                                            .holds_host_libraries = place->holds_host_libraries || is_shared};
        RSDK_NEED(directory.path, error);
        if (has_directory(inventory, directory.path)) {
            continue;
        }
        RSDK_APPEND(inventory->arena, &inventory->directories, directory, error);
    }
    return RSDK_OK;
}

/* Return whether a shortname leads to the package. Only libraries of the same package need the libraries of the other
 * packages (the profiler's), so only a given file can lead there. */
static bool holds_named_libraries(rsdk_package_id package) {
    for (size_t i = 0; i < rsdk_library_count; i++) {
        if (rsdk_library_table[i].package == package) {
            return true;
        }
    }
    return false;
}

static rsdk_status need_directories(rsdk_inventory *inventory, rsdk_error *error) {
    for (size_t i = 0; !inventory->has_directories && i < rsdk_library_package_count; i++) {
        rsdk_package_id package = rsdk_library_packages[i];
        if (inventory->supports_files || holds_named_libraries(package)) {
            RSDK_TRY(add_directories_of(inventory, package, error));
        }
    }
    inventory->has_directories = true;
    return RSDK_OK;
}

/* Find out whether the listing of a directory above says that this directory does not exist, which saves a system
 * call. */
static rsdk_status is_absent_above(rsdk_inventory *inventory, const rsdk_library_directory *directory, bool *is_absent,
                                   rsdk_error *error) {
    for (size_t i = 0; i < inventory->directories.count; i++) {
        const rsdk_library_directory *upper = &inventory->directories.items[i];
        const char *name = upper->is_listed ? rsdk_path_below(directory->path, upper->path) : NULL;
        if (name != NULL) {
            const char *first = rsdk_arena_copy_bytes(inventory->arena, name, strcspn(name, "/"));
            RSDK_NEED(first, error);
            *is_absent = !rsdk_directory_has(&upper->listing, first);
            return RSDK_OK;
        }
    }
    return RSDK_OK;
}

static rsdk_status need_listing(rsdk_inventory *inventory, rsdk_library_directory *directory, rsdk_error *error) {
    bool is_absent = false;
    if (directory->is_listed) {
        return RSDK_OK;
    }
    RSDK_TRY(is_absent_above(inventory, directory, &is_absent, error));
    if (is_absent) {
        directory->listing = (rsdk_directory){.path = directory->path};
    } else {
        RSDK_TRY(rsdk_directory_read(directory->path, inventory->arena, &directory->listing, error));
    }
    directory->is_listed = true;
    return RSDK_OK;
}

rsdk_status rsdk_inventory_directory(rsdk_inventory *inventory, rsdk_package_id package, const char *relative,
                                     const rsdk_library_directory **directory, rsdk_error *error) {
    const char *platform = NULL;
    RSDK_TRY(rsdk_sdk_package_directory(inventory->sdk, package, &platform, error));
    RSDK_TRY(need_directories(inventory, error));
    for (size_t i = 0; i < inventory->directories.count; i++) {
        rsdk_library_directory *candidate = &inventory->directories.items[i];
        const char *name = rsdk_path_below(candidate->path, platform);
        if (name != NULL && strcmp(name, rsdk_sdk_library_place(inventory->sdk, relative)) == 0) {
            *directory = candidate;
            return need_listing(inventory, candidate, error);
        }
    }
    return rsdk_fail(error, RSDK_BAD_ARGUMENT, NULL, "%s: not a library directory", relative);
}

/* Read a file with its symbols. A file whose symbols are damaged is read again by the code that binds them, and fails
 * then. */
static rsdk_status read_with_symbols(rsdk_inventory *inventory, const char *path, rsdk_elf_file *file,
                                     rsdk_error *error) {
    bool has_symbols = false;
    rsdk_elf_dynsym *symbols = rsdk_arena_alloc(inventory->arena, 1, sizeof *symbols);
    RSDK_NEED(symbols, error);
    RSDK_TRY(rsdk_elf_file_read_checked_with_symbols(path, RSDK_ELF_RELOCATIONS_TO_LOAD, inventory->arena, file,
                                                     symbols, &has_symbols, error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(inventory->arena, &inventory->symbols, has_symbols ? symbols : NULL, error);
    return RSDK_OK;
}

const rsdk_elf_dynsym *rsdk_inventory_symbols(const rsdk_inventory *inventory, const char *path,
                                              const rsdk_elf_file **file) {
    size_t place = 0;
    if (!inventory->keeps_symbols || !rsdk_name_table_find(&inventory->file_places, path, strlen(path), &place)) {
        return NULL;
    }
    *file = inventory->files.items[place];
    return inventory->symbols.items[place];
}

rsdk_status rsdk_inventory_read(rsdk_inventory *inventory, const char *path, const rsdk_elf_file **file,
                                rsdk_error *error) {
    size_t place = inventory->files.count;
    if (rsdk_name_table_find(&inventory->file_places, path, strlen(path), &place)) {
        *file = inventory->files.items[place];
        return RSDK_OK;
    }
    rsdk_elf_file *fresh = rsdk_arena_alloc(inventory->arena, 1, sizeof *fresh);
    RSDK_NEED(fresh, error);
    RSDK_TRY(inventory->keeps_symbols ? read_with_symbols(inventory, path, fresh, error)
                                      : rsdk_elf_file_read_checked(path, RSDK_ELF_RELOCATIONS_TO_LOAD, inventory->watch,
                                                                   inventory->arena, fresh, error));
    *file = fresh;
    RSDK_TRY(rsdk_name_table_set(&inventory->file_places, inventory->arena, path, strlen(path), place, error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(inventory->arena, &inventory->files, fresh, error);
    return RSDK_OK;
}

/* ---- overrides ---- */

static rsdk_status read_fitting(rsdk_inventory *inventory, const rsdk_override *wish, const rsdk_elf_file **file,
                                rsdk_error *error) {
    RSDK_TRY(rsdk_inventory_read(inventory, wish->path, file, error));
    RSDK_TRY(rsdk_elf_machine_check(*file, error));
    const char *soname = (*file)->soname;
    if (soname != NULL && rsdk_catalog_fits(wish->entry, soname)) {
        return RSDK_OK;
    }
    return rsdk_fail(error, RSDK_BAD_ARGUMENT, wish->path, "the SONAME of %s is %s, and not one of %s (%s)", wish->path,
                     soname != NULL ? soname : "missing", wish->entry->shortname, wish->entry->so_pattern);
}

static rsdk_status read_override(rsdk_inventory *inventory, const rsdk_override *wish, rsdk_overriding_file *override,
                                 rsdk_error *error) {
    rsdk_error reason = RSDK_ERROR_INIT;
    override->entry = wish->entry;
    rsdk_status status = read_fitting(inventory, wish, &override->file, &reason);
    if (status != RSDK_OK) {
        status =
            status == RSDK_NO_MEMORY
                ? rsdk_fail_no_memory(error)
                : rsdk_fail_as(error, reason.status, RSDK_E_ENV_008, wish->path,
                               RSDK_FACTS({"variable", wish->source}, {"expected", "the absolute path of a library"}),
                               "%s: %s", wish->source, rsdk_error_message(&reason));
    }
    rsdk_error_clear(&reason);
    return status;
}

static rsdk_status need_overrides(rsdk_inventory *inventory, rsdk_error *error) {
    const rsdk_sdk *sdk = inventory->sdk;
    for (size_t i = 0; !inventory->has_overrides && i < sdk->overrides.count; i++) {
        rsdk_overriding_file override = {0};
        RSDK_TRY(read_override(inventory, &sdk->overrides.items[i], &override, error));
        RSDK_APPEND(inventory->arena, &inventory->overrides, override, error);
    }
    inventory->has_overrides = true;
    return RSDK_OK;
}

rsdk_status rsdk_inventory_find_override(rsdk_inventory *inventory, const rsdk_catalog_entry *entry,
                                         const rsdk_overriding_file **override, rsdk_error *error) {
    *override = NULL;
    RSDK_TRY(need_overrides(inventory, error));
    for (size_t i = 0; *override == NULL && i < inventory->overrides.count; i++) {
        *override = inventory->overrides.items[i].entry == entry ? &inventory->overrides.items[i] : NULL;
    }
    return RSDK_OK;
}

/* Return the override that has this SONAME or, with `is_linker_name`, this SONAME in any version; NULL: none. */
static const rsdk_overriding_file *override_named(const rsdk_inventory *inventory, const char *name,
                                                  bool is_linker_name) {
    for (size_t i = 0; i < inventory->overrides.count; i++) {
        const rsdk_overriding_file *override = &inventory->overrides.items[i];
        if (is_linker_name ? rsdk_soname_has_linker_name(override->file->soname, name)
                           : strcmp(override->file->soname, name) == 0) {
            return override;
        }
    }
    return NULL;
}

/* ---- SONAMEs ---- */

/* Read a file for its SONAME. Damaged files count, too, as long as they have a SONAME. */
static rsdk_status read_for_soname(rsdk_inventory *inventory, const char *path, rsdk_arena *scratch,
                                   const rsdk_elf_file **file, rsdk_error *error) {
    rsdk_elf_file *own = rsdk_arena_alloc(scratch, 1, sizeof *own);
    const char *kept = inventory->keeps_all ? rsdk_arena_copy(inventory->arena, path) : NULL;
    RSDK_NEED(own, error);
    if (kept != NULL && rsdk_inventory_read(inventory, kept, file, error) == RSDK_OK) {
        return RSDK_OK;
    }
    *file = own;
    return rsdk_elf_file_read(path, scratch, own, error);
}

/* Take the SONAME of a file. Nothing else of the file is kept, unless all is kept. */
static rsdk_status take_soname(rsdk_inventory *inventory, rsdk_library_directory *directory, const char *name,
                               rsdk_arena *scratch, rsdk_error *error) {
    const rsdk_elf_file *file = NULL;
    rsdk_error reason = RSDK_ERROR_INIT;
    const char *path = rsdk_path_join(scratch, directory->path, name);
    RSDK_NEED(path, error);
    rsdk_status status = read_for_soname(inventory, path, scratch, &file, &reason);
    status = status == RSDK_OK ? rsdk_elf_machine_check(file, &reason) : status;
    rsdk_error_clear(&reason);
    if (status == RSDK_OK && file->soname != NULL) {
        rsdk_named_file named = {.name = name, .soname = rsdk_arena_copy(inventory->arena, file->soname)};
        RSDK_NEED(named.soname, error);
        RSDK_APPEND(inventory->arena, &directory->sonames, named, error);
    }
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}

rsdk_status rsdk_inventory_need_sonames(rsdk_inventory *inventory, const rsdk_library_directory *directory,
                                        rsdk_error *error) {
    rsdk_library_directory *own = &inventory->directories.items[directory - inventory->directories.items];
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; !own->has_sonames && status == RSDK_OK && i < own->listing.names.count; i++) {
        rsdk_arena scratch = RSDK_ARENA_INIT;
        const char *name = own->listing.names.items[i];
        /* Names that no library has are not opened. */
        status = (strstr(name, ".so") != NULL || strncmp(name, "lib", 3) == 0)
                     ? take_soname(inventory, own, name, &scratch, error)
                     : RSDK_OK;
        rsdk_arena_clear(&scratch);
    }
    own->has_sonames = status == RSDK_OK;
    return status;
}

/* ---- look-ups ---- */

static rsdk_status take_if_listed(rsdk_inventory *inventory, rsdk_library_directory *directory, const char *name,
                                  const char **path, rsdk_package_id *package, rsdk_error *error) {
    RSDK_TRY(need_listing(inventory, directory, error));
    if (rsdk_directory_has(&directory->listing, name)) {
        *package = directory->package;
        *path = rsdk_path_join(inventory->arena, directory->path, name);
        RSDK_NEED(*path, error);
    }
    return RSDK_OK;
}

static bool is_directory_of(const rsdk_library_directory *directory, const char *path) {
    const char *name = rsdk_path_below(path, directory->path);
    return name != NULL && strchr(name, '/') == NULL;
}

/* Find a file. is_listed: among the directories that are listed already. */
static rsdk_status find(rsdk_inventory *inventory, const char *near, const char *name, bool is_listed,
                        const char **path, rsdk_package_id *package, rsdk_error *error) {
    const rsdk_overriding_file *override = override_named(inventory, name, false);
    if (override != NULL) {
        *path = override->file->path;
        *package = override->entry->package;
        return RSDK_OK;
    }
    /* First beside the library that needs it, then everywhere. */
    for (unsigned everywhere = near == NULL; everywhere < 2; everywhere++) {
        for (size_t i = 0; *path == NULL && i < inventory->directories.count; i++) {
            rsdk_library_directory *directory = &inventory->directories.items[i];
            if ((everywhere == 1 || is_directory_of(directory, near)) && (!is_listed || directory->is_listed)) {
                RSDK_TRY(take_if_listed(inventory, directory, name, path, package, error));
            }
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_inventory_find(rsdk_inventory *inventory, const char *near, const char *name, const char **path,
                                rsdk_package_id *package, rsdk_error *error) {
    *path = NULL;
    RSDK_TRY(need_directories(inventory, error));
    RSDK_TRY(need_overrides(inventory, error));
    return find(inventory, near, name, false, path, package, error);
}

const char *rsdk_inventory_find_unread(rsdk_inventory *inventory, const char *near, const char *name) {
    const char *path = NULL;
    size_t place = 0;
    rsdk_package_id package = RSDK_CORE;
    const bool is_unread = find(inventory, near, name, true, &path, &package, NULL) == RSDK_OK && path != NULL &&
                           !rsdk_name_table_find(&inventory->file_places, path, strlen(path), &place);
    return is_unread ? path : NULL;
}

bool rsdk_inventory_is_private(const rsdk_inventory *inventory, const char *path) {
    for (size_t i = 0; i < inventory->directories.count; i++) {
        const rsdk_library_directory *directory = &inventory->directories.items[i];
        if (directory->holds_host_libraries && is_directory_of(directory, path)) {
            return true;
        }
    }
    return false;
}

static rsdk_status search_linker_name(rsdk_inventory *inventory, const char *linker_name, rsdk_linker_name *found,
                                      rsdk_error *error) {
    RSDK_TRY(need_directories(inventory, error));
    RSDK_TRY(need_overrides(inventory, error));
    const rsdk_overriding_file *override = override_named(inventory, linker_name, true);
    if (override != NULL) {
        *found = (rsdk_linker_name){.path = override->file->path, .package = override->entry->package};
        return RSDK_OK;
    }
    for (size_t i = 0; i < inventory->directories.count; i++) {
        rsdk_library_directory *directory = &inventory->directories.items[i];
        const char *best = NULL;
        RSDK_TRY(need_listing(inventory, directory, error));
        for (size_t j = 0; j < directory->listing.names.count; j++) {
            const char *name = directory->listing.names.items[j];
            if (rsdk_soname_has_linker_name(name, linker_name) && (best == NULL || strverscmp(name, best) > 0)) {
                best = name;
            }
        }
        if (best != NULL) {
            return take_if_listed(inventory, directory, best, &found->path, &found->package, error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_inventory_find_linker_name(rsdk_inventory *inventory, const char *linker_name, const char **path,
                                            rsdk_package_id *package, rsdk_error *error) {
    rsdk_linker_name found = {0};
    size_t place = inventory->linker_names.count, length = strlen(linker_name);
    if (rsdk_name_table_find(&inventory->linker_name_places, linker_name, length, &place)) {
        found = inventory->linker_names.items[place];
    } else {
        RSDK_TRY(search_linker_name(inventory, linker_name, &found, error));
        RSDK_TRY(
            rsdk_name_table_set(&inventory->linker_name_places, inventory->arena, linker_name, length, place, error));
        RSDK_APPEND(inventory->arena, &inventory->linker_names, found, error);
    }
    *path = found.path;
    *package = found.package;
    return RSDK_OK;
}

/* Return the directory that another spelling leads to, through ".." or links; NULL: none of ours. */
static rsdk_library_directory *same_directory(rsdk_inventory *inventory, rsdk_file_identity wanted) {
    for (size_t i = 0; i < inventory->directories.count; i++) {
        rsdk_library_directory *candidate = &inventory->directories.items[i];
        if (!candidate->is_identified) {
            candidate->is_identified = true;
            candidate->exists = rsdk_file_identify(candidate->path, &candidate->identity);
        }
        if (candidate->exists && rsdk_file_same(candidate->identity, wanted)) {
            return candidate;
        }
    }
    return NULL;
}

rsdk_status rsdk_inventory_known_directory(rsdk_inventory *inventory, const char *spelling,
                                           const rsdk_known_directory **known, rsdk_error *error) {
    size_t place = inventory->known.count;
    if (!rsdk_name_table_find(&inventory->known_places, spelling, strlen(spelling), &place)) {
        rsdk_known_directory fresh = {.spelling = spelling};
        rsdk_file_identity identity;
        bool exists = false;
        RSDK_TRY(need_directories(inventory, error));
        for (size_t i = 0; fresh.directory == NULL && i < inventory->directories.count; i++) {
            const char *path = inventory->directories.items[i].path;
            fresh.directory = strcmp(path, fresh.spelling) == 0 ? &inventory->directories.items[i] : NULL;
        }
        if (fresh.directory == NULL) {
            exists = rsdk_file_identify(fresh.spelling, &identity);
            fresh.directory = exists ? same_directory(inventory, identity) : NULL;
        }
        if (fresh.directory != NULL) {
            RSDK_TRY(need_listing(inventory, fresh.directory, error));
        }
        const rsdk_directory *listing = fresh.directory != NULL ? &fresh.directory->listing : NULL;
        fresh.may_hold_variants =
            (exists || listing != NULL) && rsdk_elf_machine_may_hold_variants(fresh.spelling, listing);
        RSDK_TRY(
            rsdk_name_table_set(&inventory->known_places, inventory->arena, spelling, strlen(spelling), place, error));
        RSDK_APPEND(inventory->arena, &inventory->known, fresh, error);
    }
    *known = &inventory->known.items[place];
    return RSDK_OK;
}
