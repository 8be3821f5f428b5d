/* Finds the SDK's packages as an import would find them, without importing: in the order of the search path, a
 * directory with an
 * `__init__.py` before a bare one. File system calls: per entry one for `_dist_info.py` and one for each package that
 * is asked for. */
#include "sdk/layout.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/fail.h"
#include "sdk/dist_info.h"
#include "sdk/tables.h"

typedef struct package_state {
    bool is_searched;
    const char *module;    /* NULL: a package without a platform directory */
    const char *directory; /* NULL: not installed */
} package_state;

struct rsdk_sdk {
    rsdk_arena arena;
    rsdk_strings search_path; /* absolute */
    RSDK_LIST(rsdk_module_location) modules;
    const char *wanted_family;    /* NULL: none */
    const rsdk_gpu_options *gpus; /* borrowed; NULL: none */
    rsdk_dist_info info;
    const char *version;
    package_state packages[RSDK_PACKAGE_COUNT];
    bool has_build_info;
    rsdk_build_info build_info;
    rsdk_strings warnings;
};

static const char family_placeholder[] = "{target_family}";

rsdk_arena *rsdk_sdk_arena(rsdk_sdk *sdk) {
    return &sdk->arena;
}

void rsdk_sdk_warn(rsdk_sdk *sdk, const char *format, ...) {
    char *sentence = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&sentence, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        const char *kept = rsdk_arena_copy(&sdk->arena, sentence);
        bool failed = kept == NULL;
        if (!failed) {
            RSDK_PUSH(&sdk->arena, &sdk->warnings, kept, failed);
        }
        free(sentence);
    }
}

/* ---- modules on the search path ---- */

typedef enum place_kind { NOTHING_THERE, BARE_DIRECTORY, REGULAR_PACKAGE } place_kind;

static place_kind look_at(rsdk_sdk *sdk, const char *directory) {
    struct stat facts;
    if (stat(directory, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
        return NOTHING_THERE;
    }
    const char *init = rsdk_path_join(&sdk->arena, directory, "__init__.py");
    const char *compiled = rsdk_path_join(&sdk->arena, directory, "__init__.pyc");
    bool is_regular = init != NULL && compiled != NULL && (access(init, F_OK) == 0 || access(compiled, F_OK) == 0);
    return is_regular ? REGULAR_PACKAGE : BARE_DIRECTORY;
}

/* The directory of a module; *directory stays NULL where there is none. */
static rsdk_status find_module(rsdk_sdk *sdk, const char *module, const char **directory, rsdk_error *error) {
    const char *bare = NULL;
    for (size_t i = 0; i < sdk->search_path.count; i++) {
        const char *candidate = rsdk_path_join(&sdk->arena, sdk->search_path.items[i], module);
        if (candidate == NULL) {
            return rsdk_fail_no_memory(error);
        }
        place_kind kind = look_at(sdk, candidate);
        if (kind == REGULAR_PACKAGE) {
            *directory = candidate;
            return RSDK_OK;
        }
        bare = bare == NULL && kind == BARE_DIRECTORY ? candidate : bare;
    }
    *directory = bare;
    for (size_t i = 0; *directory == NULL && i < sdk->modules.count; i++) {
        if (strcmp(sdk->modules.items[i].module, module) == 0) {
            *directory = sdk->modules.items[i].directory;
        }
    }
    return RSDK_OK;
}

/* ---- version and families ---- */

/* Reads `DIRECTORY/_dist_info.py`. The first one found is the SDK; another one of another version is worth a warning.
 */
static rsdk_status consider_dist_info(rsdk_sdk *sdk, const char *directory, rsdk_error *error) {
    rsdk_dist_info info;
    const char *path = rsdk_path_join(&sdk->arena, directory, "_dist_info.py");
    rsdk_error reason = RSDK_ERROR_INIT;
    if (path == NULL) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_status status = rsdk_dist_info_read(path, &sdk->arena, &info, &reason);
    struct stat facts;
    if (status == RSDK_IO_ERROR && stat(directory, &facts) != 0) {
        status = RSDK_FILE_NOT_FOUND; /* a place that this user may not search holds nothing, for an import too */
    }
    bool is_first = sdk->info.path == NULL;
    if (status == RSDK_OK && is_first) {
        sdk->info = info;
        sdk->version = info.version;
    } else if (status == RSDK_OK && !rsdk_file_same(info.identity, sdk->info.identity) && info.version != NULL &&
               sdk->version != NULL && strcmp(info.version, sdk->version) != 0) {
        rsdk_sdk_warn(sdk,
                      "two ROCm SDKs are visible: version %s (%s) is used, version %s (%s) is ignored; uninstall one, "
                      "or take its directory out of sys.path",
                      sdk->version, sdk->info.path, info.version, path);
    }
    /* A damaged file behind the first is no concern of the SDK that is used. */
    if (status == RSDK_NO_MEMORY || (status != RSDK_OK && status != RSDK_FILE_NOT_FOUND && is_first)) {
        (void)rsdk_fail(error, status, reason.path, reason.fix, "%s", rsdk_error_message(&reason));
    } else {
        status = RSDK_OK;
    }
    rsdk_error_clear(&reason);
    return status;
}

static rsdk_status read_dist_info(rsdk_sdk *sdk, rsdk_error *error) {
    const char *module = rsdk_package_table[RSDK_CORE].pure_module;
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; i < sdk->search_path.count && status == RSDK_OK; i++) {
        const char *directory = rsdk_path_join(&sdk->arena, sdk->search_path.items[i], module);
        status = directory != NULL ? consider_dist_info(sdk, directory, error) : rsdk_fail_no_memory(error);
    }
    for (size_t i = 0; i < sdk->modules.count && status == RSDK_OK && sdk->info.path == NULL; i++) {
        if (strcmp(sdk->modules.items[i].module, module) == 0) {
            status = consider_dist_info(sdk, sdk->modules.items[i].directory, error);
        }
    }
    return status;
}

/* "rocm_sdk_core-7.10.0.dist-info" gives "7.10.0"; NULL for other names. */
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

/* An SDK without `_dist_info.py`: its version is in the name of the .dist-info directory beside the core package. */
static rsdk_status version_from_metadata(rsdk_sdk *sdk, rsdk_error *error) {
    const char *core = NULL;
    rsdk_directory site;
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_status status = rsdk_sdk_package_directory(sdk, RSDK_CORE, &core, &reason);
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) {
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    const char *parent = rsdk_path_parent(&sdk->arena, core);
    if (parent == NULL) {
        return rsdk_fail_no_memory(error);
    }
    status = rsdk_directory_read(parent, &sdk->arena, &site, error);
    for (size_t i = 0; status == RSDK_OK && sdk->version == NULL && i < site.names.count; i++) {
        sdk->version = version_of_dist_info(&sdk->arena, site.names.items[i]);
    }
    return status;
}

/* ---- opening ---- */

static rsdk_status add_search_directory(rsdk_sdk *sdk, const char *entry, const char **working_directory,
                                        rsdk_error *error) {
    const char *absolute = entry[0] == '/' ? rsdk_arena_copy(&sdk->arena, entry) : NULL;
    bool failed = false;
    if (entry[0] != '/') {
        if (*working_directory == NULL) {
            char *current = getcwd(NULL, 0);
            *working_directory = rsdk_arena_copy(&sdk->arena, current != NULL ? current : ".");
            free(current);
        }
        if (*working_directory != NULL) {
            absolute = entry[0] == '\0' ? *working_directory : rsdk_path_join(&sdk->arena, *working_directory, entry);
        }
    }
    if (absolute == NULL) {
        return rsdk_fail_no_memory(error);
    }
    RSDK_PUSH(&sdk->arena, &sdk->search_path, absolute, failed);
    return failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

static rsdk_status take_options(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error) {
    const char *working_directory = NULL;
    bool failed = false;
    for (size_t i = 0; i < options->search_path_count; i++) {
        rsdk_status status = add_search_directory(sdk, options->search_path[i], &working_directory, error);
        if (status != RSDK_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < options->module_count; i++) {
        rsdk_module_location location = {.module = rsdk_arena_copy(&sdk->arena, options->modules[i].module),
                                         .directory = rsdk_arena_copy(&sdk->arena, options->modules[i].directory)};
        failed |= location.module == NULL || location.directory == NULL;
        RSDK_PUSH(&sdk->arena, &sdk->modules, location, failed);
    }
    sdk->gpus = options->gpus;
    if (options->target_family != NULL && options->target_family[0] != '\0') {
        sdk->wanted_family = rsdk_arena_copy(&sdk->arena, options->target_family);
        failed |= sdk->wanted_family == NULL;
    }
    return failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

rsdk_status rsdk_sdk_open(const rsdk_sdk_options *options, rsdk_sdk **sdk, rsdk_error *error) {
    *sdk = NULL;
    rsdk_sdk *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) {
        return rsdk_fail_no_memory(error);
    }
    fresh->info.nonce = "";
    rsdk_status status = take_options(fresh, options, error);
    if (status == RSDK_OK) {
        status = read_dist_info(fresh, error);
    }
    if (status == RSDK_OK && fresh->version == NULL) {
        status = version_from_metadata(fresh, error);
    }
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

const char *rsdk_sdk_version(const rsdk_sdk *sdk) {
    return sdk->version;
}

const char *rsdk_sdk_nonce(const rsdk_sdk *sdk) {
    return sdk->info.nonce;
}

const char *rsdk_sdk_default_family(const rsdk_sdk *sdk) {
    return sdk->info.default_family;
}

const char *const *rsdk_sdk_families(const rsdk_sdk *sdk, rsdk_family_list list, size_t *count) {
    *count = sdk->info.families[list].count;
    return sdk->info.families[list].items;
}

static const char *dist_template(const rsdk_sdk *sdk, rsdk_package_id package) {
    bool is_overridden = package == RSDK_LIBRARIES && sdk->info.libraries_template != NULL;
    return is_overridden ? sdk->info.libraries_template : rsdk_package_table[package].dist_template;
}

bool rsdk_sdk_is_kpack_split(const rsdk_sdk *sdk) {
    /* Without `_dist_info.py` no family is known, so the neutral name is all that can be asked for. */
    return sdk->info.path == NULL || strstr(dist_template(sdk, RSDK_LIBRARIES), family_placeholder) == NULL;
}

size_t rsdk_sdk_warning_count(const rsdk_sdk *sdk) {
    return sdk->warnings.count;
}

const char *rsdk_sdk_warning(const rsdk_sdk *sdk, size_t index) {
    return index < sdk->warnings.count ? sdk->warnings.items[index] : NULL;
}

/* ---- packages ---- */

/* The distribution's name with the family, up to its first `:`, put in ("gfx942:xnack+" shares the packages of gfx942);
 * without a family the placeholder goes, and the dash before it. */
static char *distribution_name(rsdk_sdk *sdk, rsdk_package_id package, const char *family) {
    const char *template = dist_template(sdk, package);
    const char *placeholder = strstr(template, family_placeholder);
    if (placeholder == NULL) {
        return rsdk_arena_copy(&sdk->arena, template);
    }
    int before = (int)(placeholder - template);
    const char *after = placeholder + sizeof family_placeholder - 1;
    if (family == NULL) {
        return rsdk_arena_format(&sdk->arena, "%.*s%s", before > 0 ? before - 1 : 0, template, after);
    }
    return rsdk_arena_format(&sdk->arena, "%.*s%.*s%s", before, template, (int)strcspn(family, ":"), family, after);
}

/* `_` + distribution name with `_` for `-` + nonce. */
static char *platform_module(rsdk_sdk *sdk, rsdk_package_id package, const char *family) {
    char *distribution = distribution_name(sdk, package, family);
    if (distribution == NULL) {
        return NULL;
    }
    for (char *dash = strchr(distribution, '-'); dash != NULL; dash = strchr(dash, '-')) {
        *dash = '_';
    }
    return rsdk_arena_format(&sdk->arena, "_%s%s", distribution, sdk->info.nonce);
}

typedef struct family_choice {
    RSDK_LIST(package_state) installed;
    rsdk_strings families; /* of each of `installed` */
} family_choice;

static rsdk_status try_family(rsdk_sdk *sdk, const char *family, family_choice *choice, rsdk_error *error) {
    bool failed = false;
    package_state state = {.is_searched = true, .module = platform_module(sdk, RSDK_LIBRARIES, family)};
    for (size_t i = 0; i < choice->families.count; i++) {
        if (strcmp(choice->families.items[i], family) == 0) {
            return RSDK_OK; /* the lists overlap */
        }
    }
    rsdk_status status =
        state.module != NULL ? find_module(sdk, state.module, &state.directory, error) : rsdk_fail_no_memory(error);
    if (status == RSDK_OK && state.directory != NULL) {
        RSDK_PUSH(&sdk->arena, &choice->installed, state, failed);
        RSDK_PUSH(&sdk->arena, &choice->families, family, failed);
    }
    return failed ? rsdk_fail_no_memory(error) : status;
}

static rsdk_status fail_family(rsdk_sdk *sdk, const family_choice *choice, rsdk_error *error) {
    const char *installed = "none";
    for (size_t i = 0; i < choice->families.count && installed != NULL; i++) {
        installed = i == 0 ? choice->families.items[i]
                           : rsdk_arena_format(&sdk->arena, "%s, %s", installed, choice->families.items[i]);
    }
    const char *distribution = distribution_name(sdk, RSDK_LIBRARIES, sdk->wanted_family);
    if (installed == NULL || distribution == NULL) {
        return rsdk_fail_no_memory(error);
    }
    const char *fix =
        rsdk_arena_format(&sdk->arena, "pip install \"%s%s%s\", or unset ROCM_SDK_TARGET_FAMILY", distribution,
                          sdk->version != NULL ? "==" : "", sdk->version != NULL ? sdk->version : "");
    return rsdk_fail(
        error, RSDK_PACKAGE_NOT_INSTALLED, NULL, fix,
        "the libraries for target family %s, which ROCM_SDK_TARGET_FAMILY asks for, are not installed; installed: %s",
        sdk->wanted_family, installed);
}

/* The index of the installed family that fits the machine's GPUs; their count where none does. */
static size_t family_of_machine(rsdk_sdk *sdk, const family_choice *choice) {
    size_t count = choice->families.count;
    rsdk_family_choice fitting = {.family = count};
    rsdk_error error = RSDK_ERROR_INIT;
    if (sdk->gpus == NULL) {
        return count;
    }
    if (rsdk_family_choose(sdk->gpus, choice->families.items, count, &fitting, &error) != RSDK_OK) {
        rsdk_sdk_warn(sdk, "the GPUs of this machine are not known: %s", rsdk_error_message(&error));
        fitting.family = count;
    } else if (fitting.other < count) {
        rsdk_sdk_warn(sdk,
                      "GPUs of several target families are visible; the libraries for %s are used, not those for %s: "
                      "set ROCM_SDK_TARGET_FAMILY to choose",
                      choice->families.items[fitting.family], choice->families.items[fitting.other]);
    }
    rsdk_error_clear(&error);
    return fitting.family;
}

/* The one of several installed families: the one that fits the machine; else the default family; else the first. */
static size_t pick_family(rsdk_sdk *sdk, const family_choice *choice) {
    size_t count = choice->families.count, picked = family_of_machine(sdk, choice);
    for (size_t i = 0; picked == count && sdk->info.default_family != NULL && i < count; i++) {
        picked = strcmp(choice->families.items[i], sdk->info.default_family) == 0 ? i : picked;
    }
    if (picked == count) {
        rsdk_sdk_warn(sdk,
                      "libraries for %zu target families are installed, none fits a GPU of this machine and none is "
                      "the default; using %s: set ROCM_SDK_TARGET_FAMILY to choose",
                      count, choice->families.items[0]);
        picked = 0;
    }
    return picked;
}

/* The libraries package of one family, where the SDK has one per family: the one asked for; else the only one; else
 * the one that is picked. */
static rsdk_status choose_family(rsdk_sdk *sdk, package_state *chosen, rsdk_error *error) {
    family_choice choice = {0};
    rsdk_status status = sdk->wanted_family != NULL ? try_family(sdk, sdk->wanted_family, &choice, error) : RSDK_OK;
    if (status == RSDK_OK && choice.installed.count == 1) {
        *chosen = choice.installed.items[0];
        return RSDK_OK;
    }
    for (size_t list = 0; list < RSDK_FAMILY_LIST_COUNT; list++) {
        for (size_t i = 0; i < sdk->info.families[list].count && status == RSDK_OK; i++) {
            status = try_family(sdk, sdk->info.families[list].items[i], &choice, error);
        }
    }
    if (status == RSDK_OK && sdk->wanted_family != NULL) {
        return fail_family(sdk, &choice, error);
    }
    if (status != RSDK_OK || choice.installed.count == 0) {
        return status;
    }
    *chosen = choice.installed.items[choice.installed.count == 1 ? 0 : pick_family(sdk, &choice)];
    return RSDK_OK;
}

static rsdk_status search_package(rsdk_sdk *sdk, rsdk_package_id package, package_state *state, rsdk_error *error) {
    if (package == RSDK_LIBRARIES && !rsdk_sdk_is_kpack_split(sdk)) {
        rsdk_status status = choose_family(sdk, state, error);
        if (status != RSDK_OK || state->directory != NULL) {
            return status;
        }
    }
    state->is_searched = true;
    if (package == RSDK_META || package == RSDK_DEVICE) {
        return RSDK_OK; /* no platform directory of their own */
    }
    state->module = platform_module(sdk, package, NULL);
    return state->module != NULL ? find_module(sdk, state->module, &state->directory, error)
                                 : rsdk_fail_no_memory(error);
}

static rsdk_status find_package(rsdk_sdk *sdk, rsdk_package_id package, rsdk_error *error) {
    package_state *state = &sdk->packages[package];
    return state->is_searched ? RSDK_OK : search_package(sdk, package, state, error);
}

rsdk_status rsdk_sdk_package_directory(rsdk_sdk *sdk, rsdk_package_id package, const char **directory,
                                       rsdk_error *error) {
    *directory = NULL;
    rsdk_status status = find_package(sdk, package, error);
    if (status == RSDK_OK && sdk->packages[package].directory == NULL) {
        bool missing[RSDK_PACKAGE_COUNT] = {false};
        missing[package] = true;
        return rsdk_sdk_fail_not_installed(
            sdk, package == RSDK_CORE ? "no ROCm SDK is on the search path" : "the ROCm SDK is incomplete", missing,
            error);
    }
    *directory = sdk->packages[package].directory;
    return status;
}

const char *rsdk_sdk_package_module(rsdk_sdk *sdk, rsdk_package_id package) {
    return find_package(sdk, package, NULL) == RSDK_OK ? sdk->packages[package].module : NULL;
}

rsdk_status rsdk_sdk_fail_not_installed(rsdk_sdk *sdk, const char *what, const bool missing[RSDK_PACKAGE_COUNT],
                                        rsdk_error *error) {
    const char *extras = "", *names = "";
    for (size_t i = 0; i < RSDK_PACKAGE_COUNT && extras != NULL && names != NULL; i++) {
        if (missing[i]) {
            const char *distribution = distribution_name(sdk, (rsdk_package_id)i, NULL);
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
    const char *fix =
        extras[0] != '\0' ? rsdk_arena_format(&sdk->arena, "pip install \"rocm[%s]\"", extras) : "pip install rocm";
    return rsdk_fail(error, RSDK_PACKAGE_NOT_INSTALLED, NULL, fix, "%s: not installed: %s", what, names);
}

/* ---- dist_info.json ---- */

static rsdk_status read_build_info(rsdk_sdk *sdk, rsdk_error *error) {
    const char *core = NULL;
    if (sdk->has_build_info) {
        return RSDK_OK;
    }
    rsdk_status status = rsdk_sdk_package_directory(sdk, RSDK_CORE, &core, error);
    if (status != RSDK_OK) {
        return status;
    }
    const char *path = rsdk_path_join(&sdk->arena, core, "share/therock/dist_info.json");
    status =
        path != NULL ? rsdk_build_info_read(path, &sdk->arena, &sdk->build_info, error) : rsdk_fail_no_memory(error);
    sdk->has_build_info = status == RSDK_OK;
    return status;
}

rsdk_status rsdk_sdk_built_targets(rsdk_sdk *sdk, const char **targets, rsdk_error *error) {
    rsdk_status status = read_build_info(sdk, error);
    *targets = status == RSDK_OK ? sdk->build_info.targets : "";
    return status;
}

rsdk_status rsdk_sdk_is_declared_absent(rsdk_sdk *sdk, const char *shortname, bool *is_absent, rsdk_error *error) {
    rsdk_status status = read_build_info(sdk, error);
    *is_absent = false;
    for (size_t i = 0; status == RSDK_OK && i < sdk->build_info.absent_libraries.count; i++) {
        *is_absent |= strcmp(sdk->build_info.absent_libraries.items[i], shortname) == 0;
    }
    return status;
}
