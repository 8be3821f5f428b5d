/* The inventory of library files. */
#include "loader/inventory.h"

#include <string.h>

#include "base/fail.h"
#include "loader/link_map.h"
#include "sdk/layout.h"
#include "sdk/tables.h"

rsdk_inventory rsdk_inventory_of(rsdk_sdk *sdk, bool supports_files) {
    return (rsdk_inventory){.sdk = sdk, .arena = rsdk_sdk_arena(sdk), .supports_files = supports_files};
}

static rsdk_status add_directories_of(rsdk_inventory *inventory, rsdk_package_id package, rsdk_error *error) {
    const char *platform = NULL;
    bool failed = false;
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_sdk_package_directory(inventory->sdk, package, &platform, &reason);
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) { /* not installed: nothing to look through */
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    for (size_t i = 0; i < rsdk_library_directory_count && !failed; i++) {
        rsdk_library_directory directory = {
            .package = package, .path = rsdk_path_join(inventory->arena, platform, rsdk_library_directories[i])};
        failed = directory.path == NULL;
        RSDK_PUSH(inventory->arena, &inventory->directories, directory, failed);
    }
    return failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

/* Whether a shortname leads to the package. Libraries of the other packages (the profiler's) are needed by their own
 * kind only, so none but a given file can lead there. */
static bool holds_named_libraries(rsdk_package_id package) {
    for (size_t i = 0; i < rsdk_library_count; i++) {
        if (rsdk_library_table[i].package == package) {
            return true;
        }
    }
    return false;
}

static rsdk_status need_directories(rsdk_inventory *inventory, rsdk_error *error) {
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; !inventory->has_directories && i < rsdk_library_package_count && status == RSDK_OK; i++) {
        rsdk_package_id package = rsdk_library_packages[i];
        if (inventory->supports_files || holds_named_libraries(package)) {
            status = add_directories_of(inventory, package, error);
        }
    }
    inventory->has_directories = status == RSDK_OK;
    return status;
}

/* What `lower` is called in `upper` ("llvm/lib" in "lib"); NULL where it does not lie below. */
static const char *name_below(const rsdk_library_directory *upper, const rsdk_library_directory *lower) {
    size_t length = strlen(upper->path);
    return strncmp(lower->path, upper->path, length) == 0 && lower->path[length] == '/' ? lower->path + length + 1
                                                                                        : NULL;
}

/* Whether the listing of a directory above says that this one does not exist: that spares the system a question. */
static rsdk_status is_absent_above(rsdk_inventory *inventory, const rsdk_library_directory *directory, bool *is_absent,
                                   rsdk_error *error) {
    for (size_t i = 0; i < inventory->directories.count; i++) {
        const rsdk_library_directory *upper = &inventory->directories.items[i];
        const char *name = upper->is_listed ? name_below(upper, directory) : NULL;
        if (name != NULL) {
            const char *first = rsdk_arena_copy_bytes(inventory->arena, name, strcspn(name, "/"));
            if (first == NULL) {
                return rsdk_fail_no_memory(error);
            }
            *is_absent = !rsdk_directory_has(&upper->listing, first);
            return RSDK_OK;
        }
    }
    return RSDK_OK;
}

static rsdk_status list(rsdk_inventory *inventory, rsdk_library_directory *directory, rsdk_error *error) {
    bool is_absent = false;
    if (directory->is_listed) {
        return RSDK_OK;
    }
    rsdk_status status = is_absent_above(inventory, directory, &is_absent, error);
    if (status == RSDK_OK && is_absent) {
        directory->listing = (rsdk_directory){.path = directory->path};
    } else if (status == RSDK_OK) {
        status = rsdk_directory_read(directory->path, inventory->arena, &directory->listing, error);
    }
    directory->is_listed = status == RSDK_OK;
    return status;
}

rsdk_status rsdk_inventory_directory(rsdk_inventory *inventory, rsdk_package_id package, const char *relative,
                                     const rsdk_library_directory **directory, rsdk_error *error) {
    const char *platform = NULL;
    rsdk_status status = rsdk_sdk_package_directory(inventory->sdk, package, &platform, error);
    if (status == RSDK_OK) {
        status = need_directories(inventory, error);
    }
    for (size_t i = 0; status == RSDK_OK && i < inventory->directories.count; i++) {
        rsdk_library_directory *candidate = &inventory->directories.items[i];
        size_t length = strlen(platform);
        if (strncmp(candidate->path, platform, length) == 0 && candidate->path[length] == '/' &&
            strcmp(candidate->path + length + 1, relative) == 0) {
            *directory = candidate;
            return list(inventory, candidate, error);
        }
    }
    return status != RSDK_OK ? status
                             : rsdk_fail(error, RSDK_BAD_ARGUMENT, NULL, NULL, "%s: not a library directory", relative);
}

rsdk_status rsdk_inventory_read(rsdk_inventory *inventory, const char *path, const rsdk_elf_file **file,
                                rsdk_error *error) {
    bool failed = false;
    for (size_t i = 0; i < inventory->files.count; i++) {
        if (strcmp(inventory->files.items[i]->path, path) == 0) {
            *file = inventory->files.items[i];
            return RSDK_OK;
        }
    }
    rsdk_elf_file *fresh = rsdk_arena_alloc(inventory->arena, 1, sizeof *fresh);
    if (fresh == NULL) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_status status = rsdk_elf_file_read(path, inventory->arena, fresh, error);
    if (status == RSDK_OK) {
        *file = fresh;
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        RSDK_PUSH(inventory->arena, &inventory->files, fresh, failed);
    }
    return failed ? rsdk_fail_no_memory(error) : status;
}

static rsdk_status take_if_listed(rsdk_inventory *inventory, rsdk_library_directory *directory, const char *name,
                                  const char **path, rsdk_package_id *package, rsdk_error *error) {
    rsdk_status status = list(inventory, directory, error);
    if (status == RSDK_OK && rsdk_directory_has(&directory->listing, name)) {
        *package = directory->package;
        *path = rsdk_path_join(inventory->arena, directory->path, name);
        return *path != NULL ? RSDK_OK : rsdk_fail_no_memory(error);
    }
    return status;
}

static bool is_directory_of(const rsdk_library_directory *directory, const char *path) {
    size_t length = strlen(directory->path);
    return strncmp(path, directory->path, length) == 0 && path[length] == '/' && strchr(path + length + 1, '/') == NULL;
}

rsdk_status rsdk_inventory_find(rsdk_inventory *inventory, const char *near, const char *name, const char **path,
                                rsdk_package_id *package, rsdk_error *error) {
    *path = NULL;
    rsdk_status status = need_directories(inventory, error);
    /* First beside the library that needs it, then everywhere. */
    for (unsigned everywhere = near == NULL; everywhere < 2; everywhere++) {
        for (size_t i = 0; status == RSDK_OK && *path == NULL && i < inventory->directories.count; i++) {
            rsdk_library_directory *directory = &inventory->directories.items[i];
            if (everywhere == 1 || is_directory_of(directory, near)) {
                status = take_if_listed(inventory, directory, name, path, package, error);
            }
        }
    }
    return status;
}

rsdk_status rsdk_inventory_find_linker_name(rsdk_inventory *inventory, const char *stem, const char **path,
                                            rsdk_package_id *package, rsdk_error *error) {
    const char *best = NULL;
    rsdk_library_directory *place = NULL;
    *path = NULL;
    rsdk_status status = need_directories(inventory, error);
    for (size_t i = 0; status == RSDK_OK && best == NULL && i < inventory->directories.count; i++) {
        place = &inventory->directories.items[i];
        status = list(inventory, place, error);
        for (size_t j = 0; j < place->listing.names.count; j++) {
            const char *name = place->listing.names.items[j];
            best = rsdk_has_stem(name, stem) && (best == NULL || strverscmp(name, best) > 0) ? name : best;
        }
    }
    return status == RSDK_OK && best != NULL ? take_if_listed(inventory, place, best, path, package, error) : status;
}

/* The directory that another spelling leads to, through ".." or links; NULL: none of ours. */
static rsdk_library_directory *same_directory(rsdk_inventory *inventory, const char *spelling) {
    rsdk_file_identity wanted;
    if (!rsdk_file_identify(spelling, &wanted)) {
        return NULL;
    }
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
                                           const rsdk_library_directory **directory, rsdk_error *error) {
    for (size_t i = 0; i < inventory->known.count; i++) {
        if (strcmp(inventory->known.items[i].spelling, spelling) == 0) {
            *directory = inventory->known.items[i].directory;
            return RSDK_OK;
        }
    }
    bool failed = false;
    rsdk_known_directory known = {.spelling = spelling};
    rsdk_status status = need_directories(inventory, error);
    for (size_t i = 0; status == RSDK_OK && known.directory == NULL && i < inventory->directories.count; i++) {
        const char *path = inventory->directories.items[i].path;
        known.directory = strcmp(path, spelling) == 0 ? &inventory->directories.items[i] : NULL;
    }
    if (status == RSDK_OK && known.directory == NULL) {
        known.directory = same_directory(inventory, spelling);
    }
    if (status == RSDK_OK && known.directory != NULL) {
        status = list(inventory, known.directory, error);
    }
    if (status == RSDK_OK) {
        *directory = known.directory;
        RSDK_PUSH(inventory->arena, &inventory->known, known, failed);
    }
    return failed ? rsdk_fail_no_memory(error) : status;
}
