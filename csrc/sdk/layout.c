/* The search for the SDK's packages as an import would find them, without importing. For each entry of the search path
 * there is one system call for `_dist_info.py` and one for each package that is asked for. */
#include "sdk/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/path.h"
#include "base/text.h"
#include "sdk/fallback.h"
#include "sdk/open_sdk.h"
#include "sdk/package_name.h"
#include "sdk/tables.h"

/* ---- version and families ---- */

/* Read `DIRECTORY/_dist_info.py`. The first one found is the SDK; another one of another version is worth a warning. */
static rsdk_status consider_dist_info(rsdk_sdk *sdk, const char *directory, rsdk_error *error) {
    rsdk_dist_info info;
    const char *path = rsdk_path_join(&sdk->arena, directory, "_dist_info.py");
    rsdk_error reason = RSDK_ERROR_INIT;
    RSDK_NEED(path, error);
    const uint64_t start = rsdk_clock_now();
    rsdk_status status = rsdk_dist_info_read(path, &sdk->arena, &info, &reason);
    const uint64_t taken = rsdk_clock_now() - start;
    struct stat facts;
    if (status == RSDK_IO_ERROR && stat(directory, &facts) != 0) {
        status = RSDK_FILE_NOT_FOUND; /* a place that this user may not search has nothing, not even for an import */
    }
    bool is_first = sdk->info.path == NULL;
    if (status == RSDK_OK && is_first) {
        sdk->info = info;
        sdk->answer_time = taken;
        sdk->version = info.version;
    } else if (status == RSDK_OK && !rsdk_file_same(info.identity, sdk->info.identity) && info.version != NULL &&
               sdk->version != NULL && strcmp(info.version, sdk->version) != 0) {
        rsdk_sdk_warn(sdk,
                      "two ROCm SDKs are visible: version %s (%s) is used, version %s (%s) is ignored; uninstall one, "
                      "or take its directory out of the search path",
                      sdk->version, sdk->info.path, info.version, path);
    }
    /* A damaged file after the first does not matter to the SDK that is used. */
    if (status == RSDK_NO_MEMORY || (status != RSDK_OK && status != RSDK_FILE_NOT_FOUND && is_first)) {
        return rsdk_fail_with(error, &reason);
    }
    rsdk_error_clear(&reason);
    return RSDK_OK;
}

static rsdk_status in_search_path(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    (void)options;
    for (size_t i = 0; i < sdk->search_path.count; i++) {
        const char *directory =
            rsdk_path_join(&sdk->arena, sdk->search_path.items[i], rsdk_package_table[RSDK_CORE].pure_module);
        RSDK_NEED(directory, error);
        RSDK_TRY(consider_dist_info(sdk, directory, error));
    }
    return RSDK_OK;
}

static rsdk_status in_modules(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    (void)options;
    for (size_t i = 0; i < sdk->modules.count && sdk->info.path == NULL; i++) {
        if (strcmp(sdk->modules.items[i].module, rsdk_package_table[RSDK_CORE].pure_module) == 0) {
            RSDK_TRY(consider_dist_info(sdk, sdk->modules.items[i].directory, error));
        }
    }
    return RSDK_OK;
}

/* Return "7.10.0" for "rocm_sdk_core-7.10.0.dist-info"; NULL for other names. */
static const char *version_of_dist_info(rsdk_arena *arena, const char *name) {
    static const char suffix[] = ".dist-info";
    const char *module = rsdk_package_table[RSDK_CORE].pure_module;
    size_t module_length = strlen(module), length = strlen(name), suffix_length = sizeof suffix - 1;
    if (length <= module_length + 1 + suffix_length || strncmp(name, module, module_length) != 0 ||
        name[module_length] != '-' || strcmp(name + length - suffix_length, suffix) != 0) {
        return NULL;
    }
    return rsdk_arena_copy_bytes(arena, name + module_length + 1, length - suffix_length - module_length - 1);
}

/* Find the version of an SDK without `_dist_info.py`: it is in the name of the .dist-info directory beside the core
 * package. */
static rsdk_status by_metadata(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    (void)options;
    const char *core = NULL;
    rsdk_directory site;
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_sdk_package_directory(sdk, RSDK_CORE, &core, &reason);
    if (status != RSDK_OK && status != RSDK_PACKAGE_NOT_INSTALLED) {
        return rsdk_fail_with(error, &reason);
    }
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) {
        return RSDK_OK;
    }
    const char *parent = rsdk_path_parent(&sdk->arena, core);
    RSDK_NEED(parent, error);
    RSDK_TRY(rsdk_directory_read(parent, &sdk->arena, &site, error));
    for (size_t i = 0; sdk->version == NULL && i < site.names.count; i++) {
        sdk->version = version_of_dist_info(&sdk->arena, site.names.items[i]);
    }
    return RSDK_OK;
}

/* ---- opening ---- */

static rsdk_status add_override(rsdk_sdk *sdk, const rsdk_library_override *wish, rsdk_error *error) {
    rsdk_override override = {.entry = rsdk_catalog_find(wish->shortname),
                              .path = rsdk_arena_copy(&sdk->arena, wish->path),
                              .source = rsdk_arena_copy(&sdk->arena, wish->source)};
    RSDK_NEED(override.path, error);
    RSDK_NEED(override.source, error);
    if (override.entry == NULL) {
        const char *source = rsdk_arena_format(&sdk->arena, "%s: ", override.source);
        RSDK_NEED(source, error);
        return rsdk_sdk_fail_unknown(source, wish->shortname, error);
    }
    if (override.path[0] != '/') {
        return rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_ENV_008, override.path,
                            RSDK_FACTS({"variable", override.source}, {"expected", "the absolute path of a library"}),
                            "%s: '%s' is not an absolute path", override.source, override.path);
    }
    RSDK_APPEND(&sdk->arena, &sdk->overrides, override, error);
    return RSDK_OK;
}

/* Take the places in which to look for packages: only the root, or the search path and the modules. */
static rsdk_status take_places(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    const char *working_directory = NULL;
    if (options->root != NULL && options->root[0] != '\0') {
        return rsdk_root_use(sdk, options, error);
    }
    for (size_t i = 0; i < options->search_path_count; i++) {
        const char *entry = options->search_path[i];
        if (entry[0] != '/' && working_directory == NULL) {
            char *current = getcwd(NULL, 0);
            working_directory = rsdk_arena_copy(&sdk->arena, current != NULL ? current : ".");
            free(current);
            RSDK_NEED(working_directory, error);
        }
        const char *absolute = entry[0] == '/'    ? rsdk_arena_copy(&sdk->arena, entry)
                               : entry[0] == '\0' ? working_directory
                                                  : rsdk_path_join(&sdk->arena, working_directory, entry);
        RSDK_NEED(absolute, error);
        RSDK_APPEND(&sdk->arena, &sdk->search_path, absolute, error);
    }
    for (size_t i = 0; i < options->module_count; i++) {
        rsdk_module_location location = {.module = rsdk_arena_copy(&sdk->arena, options->modules[i].module),
                                         .directory = rsdk_arena_copy(&sdk->arena, options->modules[i].directory)};
        RSDK_NEED(location.module, error);
        RSDK_NEED(location.directory, error);
        RSDK_APPEND(&sdk->arena, &sdk->modules, location, error);
    }
    return RSDK_OK;
}

static rsdk_status in_root_alone(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    (void)options;
    return sdk->root.path != NULL ? rsdk_root_fail_without_sdk(sdk, error) : RSDK_OK;
}

static rsdk_status by_fallback(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    const bool may_fall_back = options->fallback != NULL && options->fallback[0] != '\0';
    return may_fall_back ? rsdk_fallback_use(sdk, options, error) : RSDK_OK;
}

/* The ways to find the SDK, in their order, until its version or its core package is known. An SDK may be absent. */
static rsdk_status (*const search_steps[])(rsdk_sdk *, const rsdk_sdk_options *, rsdk_error *) = {
    in_search_path, in_modules, by_metadata, in_root_alone, by_fallback,
};

static rsdk_status fill(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    sdk->info.nonce = "";
    RSDK_TRY(take_places(sdk, options, error));
    for (size_t i = 0; i < options->override_count; i++) {
        RSDK_TRY(add_override(sdk, &options->overrides[i], error));
    }
    sdk->gpus = options->gpus;
    if (options->target_family != NULL && options->target_family[0] != '\0') {
        sdk->wanted_family = rsdk_arena_copy(&sdk->arena, options->target_family);
        RSDK_NEED(sdk->wanted_family, error);
    }
    for (size_t i = 0; i < sizeof search_steps / sizeof *search_steps && sdk->version == NULL &&
                       sdk->packages[RSDK_CORE].directory == NULL;
         i++) {
        RSDK_TRY(search_steps[i](sdk, options, error));
    }
    return RSDK_OK;
}

rsdk_status rsdk_sdk_open(const rsdk_sdk_options *options, rsdk_sdk **sdk, rsdk_error *error) {
    *sdk = NULL;
    rsdk_sdk *fresh = calloc(1, sizeof *fresh);
    RSDK_NEED(fresh, error);
    rsdk_status status = fill(fresh, options, error);
    if (status != RSDK_OK) {
        rsdk_sdk_free(fresh);
        return status;
    }
    *sdk = fresh;
    return RSDK_OK;
}

void rsdk_sdk_free(rsdk_sdk *sdk) {
    if (sdk != NULL) {
        rsdk_arena_clear(&sdk->arena);
        free(sdk);
    }
}

const char *rsdk_sdk_override(const rsdk_sdk *sdk, const rsdk_catalog_entry *entry, const char **source) {
    for (size_t i = 0; i < sdk->overrides.count; i++) {
        if (sdk->overrides.items[i].entry == entry) {
            *source = sdk->overrides.items[i].source;
            return sdk->overrides.items[i].path;
        }
    }
    return NULL;
}

rsdk_status rsdk_sdk_fail_unknown(const char *source, const char *shortname, rsdk_error *error) {
    const char *nearest[3];
    size_t count = rsdk_catalog_nearest(shortname, nearest, sizeof nearest / sizeof *nearest);
    rsdk_text near = RSDK_TEXT_INIT;
    for (size_t i = 0; i < count; i++) {
        rsdk_text_add_item(&near, " or ", nearest[i]);
    }
    rsdk_status status = rsdk_fail_as(error, RSDK_UNKNOWN_LIBRARY, RSDK_E_API_004, NULL,
                                      RSDK_FACTS({"name", shortname}, {"near", near.data}),
                                      "%sunknown ROCm library name '%s'", source, shortname);
    rsdk_text_clear(&near);
    return status;
}

const char *rsdk_sdk_library_place(const rsdk_sdk *sdk, const char *directory) {
    bool is_elsewhere = sdk->fallback.place != NULL && strcmp(directory, "lib") == 0;
    return is_elsewhere ? sdk->fallback.library_directory : directory;
}

/* ---- packages ---- */

static rsdk_status search_package(rsdk_sdk *sdk, rsdk_package_id package, rsdk_package_state *state,
                                  rsdk_error *error) {
    if (package == RSDK_LIBRARIES && !rsdk_sdk_is_kpack_split(sdk)) {
        RSDK_TRY(rsdk_libraries_family_choose(sdk, state, error));
    }
    if (state->directory != NULL || package == RSDK_META || package == RSDK_DEVICE) {
        return RSDK_OK; /* the last two have no platform directory */
    }
    state->module = rsdk_package_name_module(sdk, package, NULL, &sdk->arena);
    RSDK_NEED(state->module, error);
    return rsdk_module_search_find(sdk, state->module, &state->directory, error);
}

/* Return how many characters two versions have before a post-release: "7.10.0.post2" has as many as "7.10.0". */
static size_t release_length(const char *version) {
    const char *post = strstr(version, ".post");
    return post != NULL && post[5 + strspn(post + 5, "0123456789")] == '\0' ? (size_t)(post - version)
                                                                            : strlen(version);
}

static rsdk_status find_package(rsdk_sdk *sdk, rsdk_package_id package, rsdk_error *error) {
    rsdk_package_state found = {.is_searched = true};
    const rsdk_arena_mark before = rsdk_arena_here(&sdk->arena);
    if (sdk->packages[package].is_searched) {
        return RSDK_OK;
    }
    const rsdk_status status = search_package(sdk, package, &found, error);
    if (status != RSDK_OK) {
        rsdk_arena_return(&sdk->arena, before); /* nothing is kept from a search in vain */
        return status;
    }
    sdk->packages[package] = found;
    /* Warn of libraries of another version than core: they share data structures with core that differ. */
    rsdk_dist_info info = {0};
    const char *directory = sdk->packages[package].directory;
    if (package != RSDK_LIBRARIES || directory == NULL || sdk->version == NULL) {
        return RSDK_OK;
    }
    const char *site = rsdk_path_parent(&sdk->arena, directory);
    RSDK_NEED(site, error);
    const char *path =
        rsdk_arena_format(&sdk->arena, "%s/%s/_dist_info.py", site, rsdk_package_table[package].pure_module);
    RSDK_NEED(path, error);
    if (rsdk_dist_info_read(path, &sdk->arena, &info, NULL) != RSDK_OK || info.version == NULL) {
        return RSDK_OK; /* the package does not say */
    }
    size_t length = release_length(sdk->version);
    if (release_length(info.version) != length || strncmp(info.version, sdk->version, length) != 0) {
        rsdk_sdk_warn(sdk, "%s has version %s, %s version %s: libraries of different versions crash or compute wrongly",
                      rsdk_package_table[package].pure_module, info.version, rsdk_package_table[RSDK_CORE].pure_module,
                      sdk->version);
    }
    return RSDK_OK;
}

rsdk_status rsdk_sdk_package_directory(rsdk_sdk *sdk, rsdk_package_id package, const char **directory,
                                       rsdk_error *error) {
    *directory = NULL;
    RSDK_TRY(find_package(sdk, package, error));
    if (sdk->packages[package].directory == NULL) {
        bool missing[RSDK_PACKAGE_COUNT] = {false};
        missing[package] = true;
        return rsdk_sdk_fail_not_installed(
            sdk, package == RSDK_CORE ? "no ROCm SDK is on the search path" : "the ROCm SDK is incomplete", missing,
            error);
    }
    *directory = sdk->packages[package].directory;
    return RSDK_OK;
}

const char *rsdk_sdk_package_module(rsdk_sdk *sdk, rsdk_package_id package) {
    return find_package(sdk, package, NULL) == RSDK_OK ? sdk->packages[package].module : NULL;
}

/* Return a clause about the places that somebody chose, as the end of a sentence; NULL: out of memory. */
static const char *end_about_places(rsdk_sdk *sdk) {
    if (sdk->root.path != NULL) {
        return rsdk_arena_format(&sdk->arena, "; %s=%s: no other directory is searched", sdk->root.source,
                                 sdk->root.path);
    }
    return sdk->fallback.in_vain != NULL ? sdk->fallback.in_vain : "";
}

rsdk_status rsdk_sdk_fail_not_installed(rsdk_sdk *sdk, const char *what, const bool missing[RSDK_PACKAGE_COUNT],
                                        rsdk_error *error) {
    const rsdk_arena_mark before = rsdk_arena_here(&sdk->arena);
    const char *extras = "", *names = "";
    for (size_t i = 0; i < RSDK_PACKAGE_COUNT && extras != NULL && names != NULL; i++) {
        if (missing[i]) {
            const char *distribution = rsdk_package_name_distribution(sdk, (rsdk_package_id)i, NULL, &sdk->arena);
            names = rsdk_arena_format(&sdk->arena, "%s%s%s", names, names[0] != '\0' ? ", " : "",
                                      distribution != NULL ? distribution : "");
        }
        if (missing[i] && !rsdk_package_table[i].is_required) {
            extras = rsdk_arena_format(&sdk->arena, "%s%s%s", extras, extras[0] != '\0' ? "," : "",
                                       rsdk_package_table[i].name);
        }
    }
    if (extras == NULL || names == NULL) {
        return rsdk_fail_no_memory(error);
    }
    const char *version = sdk->version != NULL ? sdk->version : "", *equals = sdk->version != NULL ? "==" : "";
    const char *requirement = extras[0] != '\0'
                                  ? rsdk_arena_format(&sdk->arena, "rocm[%s]%s%s", extras, equals, version)
                                  : rsdk_arena_format(&sdk->arena, "rocm%s%s", equals, version);
    const char *more = end_about_places(sdk);
    const char *variable = sdk->root.path != NULL ? sdk->root.source : sdk->fallback.source;
    RSDK_NEED(requirement, error);
    RSDK_NEED(more, error);
    const rsdk_status status = rsdk_fail_as(
        error, RSDK_PACKAGE_NOT_INSTALLED, sdk->version != NULL ? RSDK_E_PKG_014 : RSDK_E_PKG_001,
        sdk->packages[RSDK_CORE].directory,
        RSDK_FACTS({"requirement", requirement}, {"more", more[0] != '\0' ? more : NULL}, {"variable", variable}),
        "%s: not installed: %s%s", what, names, more);
    rsdk_arena_return(&sdk->arena, before);
    return status;
}

/* ---- dist_info.json ---- */

/* Read the build information of a package, which must be installed, at first use. */
static rsdk_status need_build_info(rsdk_sdk *sdk, rsdk_package_id package, rsdk_error *error) {
    const char *directory = NULL;
    if (sdk->has_build_info[package]) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_sdk_package_directory(sdk, package, &directory, error));
    /* Files of two packages have two names: both are in one development tree. */
    const char *name = package == RSDK_CORE ? "share/therock/dist_info.json" : "share/therock/libraries_dist_info.json";
    const rsdk_arena_mark before = rsdk_arena_here(&sdk->arena);
    const char *path = rsdk_path_join(&sdk->arena, directory, name);
    RSDK_NEED(path, error);
    const rsdk_status status = rsdk_build_info_read(path, &sdk->arena, &sdk->build_info[package], error);
    sdk->has_build_info[package] = status == RSDK_OK;
    if (status != RSDK_OK) {
        rsdk_arena_return(&sdk->arena, before); /* nothing is kept of a damaged file */
    }
    return status;
}

rsdk_status rsdk_sdk_built_targets(rsdk_sdk *sdk, const char **targets, rsdk_error *error) {
    *targets = "";
    RSDK_TRY(need_build_info(sdk, RSDK_CORE, error));
    *targets = sdk->build_info[RSDK_CORE].targets;
    return RSDK_OK;
}

static rsdk_status is_declared_absent_by(rsdk_sdk *sdk, rsdk_package_id package, const char *shortname, bool *is_absent,
                                         rsdk_error *error) {
    RSDK_TRY(need_build_info(sdk, package, error));
    const rsdk_strings *absent = &sdk->build_info[package].absent_libraries;
    for (size_t i = 0; i < absent->count; i++) {
        *is_absent |= strcmp(absent->items[i], shortname) == 0;
    }
    return RSDK_OK;
}

rsdk_status rsdk_sdk_is_declared_absent(rsdk_sdk *sdk, const char *shortname, bool *is_absent, rsdk_error *error) {
    const rsdk_catalog_entry *entry = rsdk_catalog_find(shortname);
    *is_absent = false;
    RSDK_TRY(is_declared_absent_by(sdk, RSDK_CORE, shortname, is_absent, error));
    if (*is_absent || entry == NULL || entry->package == RSDK_CORE) {
        return RSDK_OK;
    }
    rsdk_error reason = RSDK_ERROR_INIT;
    const rsdk_status status = is_declared_absent_by(sdk, entry->package, shortname, is_absent, &reason);
    if (status != RSDK_OK && status != RSDK_PACKAGE_NOT_INSTALLED) {
        return rsdk_fail_with(error, &reason);
    }
    rsdk_error_clear(&reason);
    return RSDK_OK;
}
