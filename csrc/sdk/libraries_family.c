/* The choice of a libraries package: the package of each family that the SDK names is looked for, and one is picked. */
#include "sdk/package_name.h"

#include <string.h>

#include "rocm_sdk/gpu.h"

/* The libraries packages that are installed, and the family of each. */
typedef struct candidates {
    RSDK_LIST(rsdk_package_state) installed;
    rsdk_strings families; /* of each of `installed` */
} candidates;

static rsdk_status try_family(rsdk_sdk *sdk, const char *family, candidates *found, rsdk_error *error) {
    rsdk_package_state state = {.is_searched = true};
    for (size_t i = 0; i < found->families.count; i++) {
        if (strcmp(found->families.items[i], family) == 0) {
            return RSDK_OK; /* the lists overlap */
        }
    }
    state.module = rsdk_package_name_module(sdk, RSDK_LIBRARIES, family, &sdk->arena);
    RSDK_NEED(state.module, error);
    RSDK_TRY(rsdk_module_search_find(sdk, state.module, &state.directory, error));
    if (state.directory != NULL) {
        RSDK_APPEND(&sdk->arena, &found->installed, state, error);
        RSDK_APPEND(&sdk->arena, &found->families, family, error);
    }
    return RSDK_OK;
}

/* Return whether there are packages of the wanted family somewhere: the SDK lists the family, or AMD has a family of
 * this name. */
static bool is_known_family(const rsdk_sdk *sdk) {
    bool is_known = rsdk_target_find(sdk->wanted_family) != NULL || rsdk_target_family_find(sdk->wanted_family) != NULL;
    for (size_t list = 0; list < RSDK_FAMILY_LIST_COUNT; list++) {
        for (size_t i = 0; i < sdk->info.families[list].count; i++) {
            is_known |= strcmp(sdk->info.families[list].items[i], sdk->wanted_family) == 0;
        }
    }
    return is_known;
}

static rsdk_status fail_family(rsdk_sdk *sdk, const candidates *found, rsdk_error *error) {
    const char *installed = "none";
    for (size_t i = 0; i < found->families.count && installed != NULL; i++) {
        installed = i == 0 ? found->families.items[i]
                           : rsdk_arena_format(&sdk->arena, "%s, %s", installed, found->families.items[i]);
    }
    const char *distribution = rsdk_package_name_distribution(sdk, RSDK_LIBRARIES, sdk->wanted_family, &sdk->arena);
    if (installed == NULL || distribution == NULL) {
        return rsdk_fail_no_memory(error);
    }
    const char *requirement = rsdk_arena_format(&sdk->arena, "%s%s%s", distribution, sdk->version != NULL ? "==" : "",
                                                sdk->version != NULL ? sdk->version : "");
    const char *expected = rsdk_arena_format(&sdk->arena, "an installed target family, that is %s", installed);
    RSDK_NEED(requirement, error);
    RSDK_NEED(expected, error);
    return rsdk_fail_as(
        error, RSDK_PACKAGE_NOT_INSTALLED, is_known_family(sdk) ? RSDK_E_PKG_014 : RSDK_E_ENV_008,
        sdk->packages[RSDK_CORE].directory,
        RSDK_FACTS({"requirement", requirement}, {"variable", "ROCM_SDK_TARGET_FAMILY"}, {"expected", expected}),
        "the libraries for target family %s, which ROCM_SDK_TARGET_FAMILY asks for, are not installed; installed: %s",
        sdk->wanted_family, installed);
}

/* Return the index of the installed family that fits the machine's GPUs; their count if none does. */
static size_t family_of_machine(rsdk_sdk *sdk, const candidates *found) {
    size_t count = found->families.count;
    rsdk_family_choice fitting = {.family = count};
    rsdk_error error = RSDK_ERROR_INIT;
    if (sdk->gpus == NULL) {
        return count;
    }
    if (rsdk_family_choose(sdk->gpus, found->families.items, count, &fitting, &error) != RSDK_OK) {
        rsdk_sdk_warn(sdk, "the GPUs of this machine are not known: %s", rsdk_error_message(&error));
        fitting.family = count;
    } else if (fitting.other < count) {
        rsdk_sdk_warn(sdk,
                      "GPUs of several target families are visible; the libraries for %s are used, not those for %s: "
                      "set ROCM_SDK_TARGET_FAMILY to choose",
                      found->families.items[fitting.family], found->families.items[fitting.other]);
    }
    rsdk_error_clear(&error);
    return fitting.family;
}

/* Pick one of several installed families: the family that fits the machine; else the default family; else the first. */
static size_t pick_family(rsdk_sdk *sdk, const candidates *found) {
    size_t count = found->families.count, picked = family_of_machine(sdk, found);
    for (size_t i = 0; picked == count && sdk->info.default_family != NULL && i < count; i++) {
        picked = strcmp(found->families.items[i], sdk->info.default_family) == 0 ? i : picked;
    }
    if (picked == count) {
        rsdk_sdk_warn(sdk,
                      "libraries for %zu target families are installed, none fits a GPU of this machine and none is "
                      "the default; using %s: set ROCM_SDK_TARGET_FAMILY to choose",
                      count, found->families.items[0]);
        picked = 0;
    }
    return picked;
}

rsdk_status rsdk_libraries_family_choose(rsdk_sdk *sdk, rsdk_package_state *chosen, rsdk_error *error) {
    candidates found = {0};
    if (sdk->wanted_family != NULL) {
        RSDK_TRY(try_family(sdk, sdk->wanted_family, &found, error));
        if (found.installed.count == 1) {
            *chosen = found.installed.items[0];
            return RSDK_OK;
        }
    }
    for (size_t list = 0; list < RSDK_FAMILY_LIST_COUNT; list++) {
        for (size_t i = 0; i < sdk->info.families[list].count; i++) {
            RSDK_TRY(try_family(sdk, sdk->info.families[list].items[i], &found, error));
        }
    }
    if (sdk->wanted_family != NULL) {
        return fail_family(sdk, &found, error);
    }
    if (found.installed.count > 0) {
        *chosen = found.installed.items[found.installed.count == 1 ? 0 : pick_family(sdk, &found)];
    }
    return RSDK_OK;
}
