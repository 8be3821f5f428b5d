/* From a shortname to the one file: an override, the catalog's file name pattern, a SONAME; else the library may be
 * absent. To add another way, add a function and its row in search_steps. */
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "elf/elf_machine.h"
#include "loader/resolver.h"
#include "sdk/layout.h"
#include "sdk/open_sdk.h"
#include "sdk/record.h"
#include "sdk/tables.h"

typedef struct resolution {
    rsdk_inventory *inventory;
    const rsdk_catalog_entry *entry;
    const rsdk_library_directory *directory; /* of the SDK; NULL: not asked for yet */
    const rsdk_elf_file *best;               /* NULL: not found yet */
    const rsdk_elf_file *runner_up;          /* another library that matches as well, NULL: none */
    rsdk_error *first_failure;               /* the failure of a file that matches and cannot be used */
} resolution;

static rsdk_status read_loadable(const resolution *r, const char *name, const rsdk_elf_file **file, rsdk_error *error) {
    const char *path = rsdk_path_join(r->inventory->arena, r->directory->path, name);
    RSDK_NEED(path, error);
    RSDK_TRY(rsdk_inventory_read(r->inventory, path, file, error));
    return rsdk_elf_machine_check(*file, error);
}

static bool has_own_name(const rsdk_elf_file *file) {
    return file->soname != NULL && strcmp(file->soname, rsdk_path_name(file->path)) == 0;
}

static const char *name_of(const rsdk_elf_file *file) {
    return file->soname != NULL ? file->soname : rsdk_path_name(file->path);
}

/* Return whether a file is better than another. A file under its own SONAME beats a copy or link under another name;
 * then the highest version counts ("so.10" above "so.9"). */
static bool is_better(const rsdk_elf_file *file, const rsdk_elf_file *than) {
    if (has_own_name(file) != has_own_name(than)) {
        return has_own_name(file);
    }
    return strverscmp(name_of(file), name_of(than)) > 0;
}

static void consider(resolution *r, const rsdk_elf_file *file) {
    if (r->best == NULL) {
        r->best = file;
        return;
    }
    const rsdk_elf_file *loser = is_better(file, r->best) ? r->best : file;
    r->best = loser == file ? r->best : file;
    if (strcmp(name_of(loser), name_of(r->best)) != 0) {
        r->runner_up = loser;
    }
}

/* Consider one file of the directory. The first failure of a file that cannot be used is remembered. Only
 * RSDK_NO_MEMORY is an error. */
static rsdk_status try_candidate(resolution *r, const char *name, rsdk_error *error) {
    const rsdk_elf_file *file = NULL;
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_status status = read_loadable(r, name, &file, &reason);
    if (status == RSDK_OK) {
        consider(r, file);
    } else if (r->first_failure->status == RSDK_OK) {
        (void)rsdk_fail_with(r->first_failure, &reason);
    }
    rsdk_error_clear(&reason);
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
}

/* ---- the steps ---- */

static rsdk_status by_override(resolution *r, bool *is_found, rsdk_error *error) {
    const rsdk_overriding_file *override = NULL;
    RSDK_TRY(rsdk_inventory_find_override(r->inventory, r->entry, &override, error));
    r->best = override != NULL ? override->file : NULL;
    *is_found = r->best != NULL;
    return RSDK_OK;
}

static rsdk_status by_file_name(resolution *r, bool *is_found, rsdk_error *error) {
    RSDK_TRY(rsdk_inventory_directory(r->inventory, r->entry->package, r->entry->directory, &r->directory, error));
    for (size_t i = 0; i < r->directory->listing.names.count; i++) {
        const char *name = r->directory->listing.names.items[i];
        RSDK_TRY(rsdk_catalog_fits(r->entry, name) ? try_candidate(r, name, error) : RSDK_OK);
    }
    *is_found = r->best != NULL;
    return RSDK_OK;
}

/* Look for the library by SONAMEs. Damage to files that are not this library does not matter. If the file is there
 * but broken, no other file replaces it. */
static rsdk_status by_soname(resolution *r, bool *is_found, rsdk_error *error) {
    if (r->first_failure->status != RSDK_OK) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_inventory_need_sonames(r->inventory, r->directory, error));
    for (size_t i = 0; i < r->directory->sonames.count; i++) {
        const rsdk_named_file *named = &r->directory->sonames.items[i];
        RSDK_TRY(rsdk_catalog_fits(r->entry, named->soname) ? try_candidate(r, named->name, error) : RSDK_OK);
    }
    *is_found = r->best != NULL;
    return RSDK_OK;
}

/* Return whether the SDK may lack the library. A library that leaves the SDK and that RECORD lists was there, and is
 * lost. */
static rsdk_status is_optional(resolution *r, bool *is_found, rsdk_error *error) {
    const rsdk_catalog_entry *e = r->entry;
    rsdk_sdk *sdk = r->inventory->sdk;
    rsdk_recorded_file file = {0};
    if (r->first_failure->status == RSDK_OK && rsdk_catalog_leaving(e, rsdk_sdk_version(sdk)) != NULL) {
        RSDK_TRY(rsdk_record_find_in_package(sdk, e->package, e->so_pattern, r->inventory->arena, &file, error));
        *is_found = file.distribution == NULL;
    } else {
        *is_found = e->is_optional && r->first_failure->status == RSDK_OK;
    }
    return RSDK_OK;
}

static rsdk_status is_declared_absent(resolution *r, bool *is_found, rsdk_error *error) {
    return rsdk_sdk_is_declared_absent(r->inventory->sdk, r->entry->shortname, is_found, error);
}

/* A way to find a library, or to know that it is absent. */
typedef struct search_step {
    rsdk_found_via found_via;
    rsdk_status (*search)(resolution *, bool *is_found, rsdk_error *);
} search_step;

static const search_step search_steps[] = {
    {RSDK_FOUND_BY_OVERRIDE, by_override},      {RSDK_FOUND_BY_FILE_NAME, by_file_name},
    {RSDK_FOUND_BY_SONAME, by_soname},          {RSDK_ABSENT_OPTIONAL, is_optional},
    {RSDK_ABSENT_DECLARED, is_declared_absent},
};

static rsdk_status search(resolution *r, rsdk_location *location, rsdk_error *error) {
    for (size_t i = 0; i < sizeof search_steps / sizeof *search_steps; i++) {
        bool is_found = false;
        RSDK_TRY(search_steps[i].search(r, &is_found, error));
        if (is_found) {
            /* Fill in the location that a step has found. */
            *location = (rsdk_location){
                .shortname = r->entry->shortname, .package = r->entry->package, .found_via = search_steps[i].found_via};
            if (r->best != NULL) {
                location->path = r->best->path;
                location->soname = r->best->soname;
                if (r->directory != NULL && rsdk_sdk_fallback(r->inventory->sdk) != NULL) {
                    location->found_via = RSDK_FOUND_BY_FALLBACK;
                }
                if (r->runner_up != NULL) {
                    rsdk_sdk_warn(
                        r->inventory->sdk,
                        "%s: several libraries match: %s is used, %s is ignored; remove the one that is stale",
                        r->entry->shortname, r->best->path, r->runner_up->path);
                }
            }
            return RSDK_OK;
        }
    }
    const char *path = r->directory->path;
    const char *kind = rsdk_fact_find(r->first_failure->facts, r->first_failure->fact_count, "kind");
    const rsdk_fact facts[] = {
        {"shortname", r->entry->shortname}, {"pattern", r->entry->so_pattern}, {"kind", kind}, {0}};
    if (r->first_failure->status != RSDK_OK) {
        return rsdk_fail_as(error, r->first_failure->status, r->first_failure->code, r->first_failure->path, facts,
                            "%s: %s", r->entry->shortname, rsdk_error_message(r->first_failure));
    }
    if (!r->directory->listing.exists) {
        return rsdk_fail_as(error, RSDK_FILE_NOT_FOUND, RSDK_E_API_001, path, facts,
                            "%s: no library found: tried %s/%s, but that directory does not exist", r->entry->shortname,
                            path, r->entry->so_pattern);
    }
    return rsdk_fail_as(
        error, RSDK_FILE_NOT_FOUND, RSDK_E_API_001, path, facts,
        "%s: no library found: tried the file name %s/%s, then the SONAME %s of each of the %zu files there",
        r->entry->shortname, path, r->entry->so_pattern, r->entry->so_pattern, r->directory->listing.names.count);
}

static rsdk_status find_entry(rsdk_inventory *inventory, const rsdk_catalog_entry *entry, rsdk_location *location,
                              rsdk_error *error) {
    rsdk_error first_failure = RSDK_ERROR_INIT;
    resolution r = {.inventory = inventory, .entry = entry, .first_failure = &first_failure};
    const rsdk_status status = search(&r, location, error);
    rsdk_error_clear(&first_failure);
    return status;
}

/* ---- several names ---- */

/* Return whether the SDK says that it has no such library: then it is not a fault if its package is missing. */
static bool is_declared_without(rsdk_sdk *sdk, const char *shortname) {
    bool is_absent = false;
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_sdk_is_declared_absent(sdk, shortname, &is_absent, &reason);
    rsdk_error_clear(&reason);
    return status == RSDK_OK && is_absent;
}

/* Check the packages of the libraries. There is one error for all missing packages; an error about a single one (a
 * target family) stays as it is. */
static rsdk_status check_packages(rsdk_sdk *sdk, const char *const *shortnames, size_t count, rsdk_error *error) {
    bool missing[RSDK_PACKAGE_COUNT] = {false};
    size_t missing_count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *directory = NULL, *source = NULL;
        const rsdk_catalog_entry *entry = rsdk_catalog_find(shortnames[i]);
        rsdk_package_id package = entry->package;
        if (missing[package] || rsdk_sdk_override(sdk, entry, &source) != NULL) {
            continue;
        }
        rsdk_status status = rsdk_sdk_package_directory(sdk, package, &directory, error);
        if (status != RSDK_OK && status != RSDK_PACKAGE_NOT_INSTALLED) {
            return status;
        }
        missing[package] = status != RSDK_OK && !is_declared_without(sdk, shortnames[i]);
        missing_count += missing[package];
    }
    bool is_about_family = missing_count == 1 && missing[RSDK_LIBRARIES] && !rsdk_sdk_is_kpack_split(sdk) &&
                           error != NULL && error->status != RSDK_OK;
    if (missing_count == 0 || is_about_family) {
        return missing_count == 0 ? RSDK_OK : error->status;
    }
    rsdk_text what = RSDK_TEXT_INIT;
    for (size_t i = 0; i < count; i++) {
        if (missing[rsdk_catalog_find(shortnames[i])->package]) {
            rsdk_text_add_item(&what, ", ", shortnames[i]);
        }
    }
    rsdk_status status = rsdk_sdk_fail_not_installed(sdk, rsdk_text_get(&what), missing, error);
    rsdk_text_clear(&what);
    return status;
}

rsdk_status rsdk_resolver_find_all(rsdk_inventory *inventory, const char *const *shortnames, size_t count,
                                   rsdk_location *locations, rsdk_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (rsdk_catalog_find(shortnames[i]) == NULL) {
            return rsdk_sdk_fail_unknown("", shortnames[i], error);
        }
    }
    RSDK_TRY(check_packages(inventory->sdk, shortnames, count, error));
    for (size_t i = 0; i < count; i++) {
        const rsdk_catalog_entry *entry = rsdk_catalog_find(shortnames[i]);
        rsdk_status status = find_entry(inventory, entry, &locations[i], error);
        if (status == RSDK_PACKAGE_NOT_INSTALLED) { /* the SDK declares it absent: check_packages would have refused */
            locations[i] = (rsdk_location){
                .shortname = entry->shortname, .package = entry->package, .found_via = RSDK_ABSENT_DECLARED};
        } else if (status != RSDK_OK) {
            return status;
        }
    }
    if (error != NULL) {
        rsdk_error_clear(error);
    }
    return RSDK_OK;
}

rsdk_status rsdk_resolver_find_catalog(rsdk_inventory *inventory, rsdk_location *locations, rsdk_error *failures,
                                       rsdk_error *error) {
    const rsdk_error *lack = NULL;
    const rsdk_overriding_file *override = NULL;
    /* A refused override, or a package that cannot be looked up, is not the fault of each library. */
    RSDK_TRY(rsdk_inventory_find_override(inventory, &rsdk_library_table[0], &override, error));
    for (size_t i = 0; i < rsdk_library_count; i++) {
        const char *shortname = rsdk_library_table[i].shortname, *directory = NULL;
        rsdk_status status =
            rsdk_sdk_package_directory(inventory->sdk, rsdk_library_table[i].package, &directory, &failures[i]);
        if (status != RSDK_OK && status != RSDK_PACKAGE_NOT_INSTALLED) {
            return rsdk_fail_with(error, &failures[i]);
        }
        status = rsdk_resolver_find_all(inventory, &shortname, 1, &locations[i], &failures[i]);
        if (status == RSDK_NO_MEMORY) {
            return rsdk_fail_no_memory(error);
        }
        lack = status == RSDK_PACKAGE_NOT_INSTALLED ? &failures[i] : lack;
    }
    return lack == NULL ? RSDK_OK : rsdk_fail(error, lack->status, lack->path, "%s", rsdk_error_message(lack));
}

rsdk_status rsdk_resolver_find_installed(rsdk_inventory *inventory, rsdk_location *locations, bool *lacks_packages,
                                         rsdk_error *error) {
    inventory->keeps_all = true;
    for (size_t i = 0; i < rsdk_library_count; i++) {
        const rsdk_catalog_entry *entry = &rsdk_library_table[i];
        rsdk_error reason = RSDK_ERROR_INIT;
        rsdk_status status = find_entry(inventory, entry, &locations[i], &reason);
        if (status != RSDK_OK && status != RSDK_PACKAGE_NOT_INSTALLED && status != RSDK_FILE_NOT_FOUND) {
            return rsdk_fail_with(error, &reason);
        }
        rsdk_error_clear(&reason);
        if (status != RSDK_OK) {
            locations[i] = (rsdk_location){
                .shortname = entry->shortname, .package = entry->package, .found_via = RSDK_ABSENT_OPTIONAL};
        }
        *lacks_packages |=
            status == RSDK_PACKAGE_NOT_INSTALLED && !is_declared_without(inventory->sdk, entry->shortname);
    }
    return RSDK_OK;
}

/* Let the texts live as long as the SDK. */
static rsdk_status keep_texts(rsdk_sdk *sdk, rsdk_location *location, rsdk_error *error) {
    const char **texts[] = {&location->path, &location->soname};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (*texts[i] != NULL) {
            *texts[i] = rsdk_sdk_keep(sdk, *texts[i]);
            RSDK_NEED(*texts[i], error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_loader_locate_all(rsdk_sdk *sdk, const char *const *shortnames, size_t count, rsdk_location *locations,
                                   rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_inventory inventory = rsdk_inventory_make(sdk, &arena, false);
    rsdk_status status = rsdk_resolver_find_all(&inventory, shortnames, count, locations, error);
    for (size_t i = 0; i < count && status == RSDK_OK; i++) {
        /* Tell callers that ask for a library that has left the SDK what replaces it. A preload says nothing: a
         * framework of an older release lists it, and can do without. */
        const char *version = rsdk_sdk_version(sdk);
        const rsdk_leaving_library *row = rsdk_catalog_leaving(rsdk_catalog_find(locations[i].shortname), version);
        if (row != NULL && locations[i].path == NULL) {
            rsdk_sdk_warn(sdk, "%s: ROCm %s has no such library any more: %s replaces it", row->shortname, version,
                          row->successor);
        }
        status = keep_texts(sdk, &locations[i], error);
    }
    for (size_t i = 0; i < count && status != RSDK_OK; i++) {
        locations[i] = (rsdk_location){0}; /* no text of the inventory stays */
    }
    rsdk_arena_clear(&arena);
    return status;
}

rsdk_status rsdk_loader_locate(rsdk_sdk *sdk, const char *shortname, rsdk_location *location, rsdk_error *error) {
    return rsdk_loader_locate_all(sdk, &shortname, 1, location, error);
}

const char *rsdk_loader_found_via_name(rsdk_found_via found_via) {
    static const char *const names[] = {
        [RSDK_FOUND_BY_FILE_NAME] = "file name",
        [RSDK_FOUND_BY_SONAME] = "SONAME",
        [RSDK_FOUND_BY_NEED] = "need",
        [RSDK_FOUND_BY_OVERRIDE] = "override",
        [RSDK_FOUND_BY_FALLBACK] = "fallback",
        [RSDK_ABSENT_OPTIONAL] = "absent (optional)",
        [RSDK_ABSENT_DECLARED] = "absent (declared)",
    };
    return names[found_via];
}
