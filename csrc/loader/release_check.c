/* Finds the libraries that a file needs and that the SDK has only in another version. */
#include "loader/release_check.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "elf/soname.h"
#include "sdk/tables.h"

static const char runtime[] = "libamdhip64.so.";

/* A needed library that the SDK has only in another version. */
typedef struct mismatch {
    const char *file, *wanted, *present; /* file: NULL, there is none */
    rsdk_unique_strings names;           /* of all that are wanted */
} mismatch;

static rsdk_status consider(mismatch *found, const rsdk_node *node, const char *name, rsdk_sdk *sdk, rsdk_arena *arena,
                            rsdk_error *error) {
    const rsdk_catalog_entry *entry = rsdk_catalog_find_file(name);
    rsdk_location location = {0};
    rsdk_status status = entry != NULL ? rsdk_loader_locate(sdk, entry->shortname, &location, NULL) : RSDK_OK;
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    const char *present =
        location.soname != NULL || location.path == NULL ? location.soname : rsdk_path_name(location.path);
    if (status != RSDK_OK || present == NULL || !rsdk_soname_is_same_library(present, name)) {
        return RSDK_OK; /* the SDK does not have it at all */
    }
    bool is_runtime = strncmp(name, runtime, sizeof runtime - 1) == 0;
    if (found->file == NULL || (is_runtime && strncmp(found->wanted, runtime, sizeof runtime - 1) != 0)) {
        found->file = node->location.path;
        found->wanted = name;
        found->present = present;
    }
    return rsdk_unique_strings_add(&found->names, arena, name, error);
}

/* HIP has the major version of the release, and only HIP's SONAME has it. */
static rsdk_status fail(const mismatch *found, rsdk_sdk *sdk, rsdk_error *error) {
    const char *version = rsdk_sdk_version(sdk), *number = NULL, *file = rsdk_path_name(found->file);
    rsdk_text built_for = RSDK_TEXT_INIT, more = RSDK_TEXT_INIT, requirement = RSDK_TEXT_INIT;
    version = version != NULL ? version : "another one";
    number = strncmp(found->wanted, runtime, sizeof runtime - 1) == 0 ? found->wanted + sizeof runtime - 1 : NULL;
    if (number != NULL) {
        rsdk_text_add(&built_for, "HIP %s", number);
        rsdk_text_add(&requirement, "rocm[libraries]==%s.*", number);
    } else {
        rsdk_text_add(&built_for, "%s", found->wanted);
    }
    if (found->names.list.count > 1) {
        rsdk_text_add(&more, ", and %zu more in other versions", found->names.list.count - 1);
    }
    rsdk_status status =
        built_for.failed || more.failed || requirement.failed
            ? rsdk_fail_no_memory(error)
            : rsdk_fail_as(error, RSDK_BAD_ELF, RSDK_E_LIB_024, found->file,
                           RSDK_FACTS({"needing", file}, {"wanted", rsdk_text_get(&built_for)}, {"version", version},
                                      {"name", found->wanted}, {"present", found->present},
                                      {"more", rsdk_text_get(&more)}, {"requirement", requirement.data}),
                           "%s: was built for %s, the SDK is %s and has %s", found->file, rsdk_text_get(&built_for),
                           version, found->present);
    rsdk_text_clear(&built_for);
    rsdk_text_clear(&more);
    rsdk_text_clear(&requirement);
    return status;
}

rsdk_status rsdk_release_check(const rsdk_plan *plan, rsdk_sdk *sdk, rsdk_error *error) {
    mismatch found = {0};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; i < plan->graph.nodes.count; i++) {
        const rsdk_node *node = plan->graph.nodes.items[i];
        for (size_t j = 0; status == RSDK_OK && !node->is_sdk && j < node->edges.count; j++) {
            if (node->edges.items[j].kind == RSDK_EDGE_MISSING) {
                status = consider(&found, node, node->edges.items[j].name, sdk, &arena, error);
            }
        }
    }
    if (status == RSDK_OK && found.file != NULL) {
        status = fail(&found, sdk, error);
    }
    rsdk_arena_clear(&arena);
    return status;
}
