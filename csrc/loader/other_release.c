/* The needs of files, collected and judged together. */
#include "loader/other_release.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "elf/elf_dynsym.h"
#include "elf/soname.h"
#include "sdk/layout.h"
#include "sdk/tables.h"

static const char hip[] = "libamdhip64.so";

/* Return the rank of a need. Of several missing libraries, HIP is named, or else a library that the SDK has in another
 * version, or that shows the release. */
static int rank_of(const rsdk_release_need *need) {
    if (rsdk_soname_has_linker_name(need->name, hip)) {
        return 4;
    }
    if (need->present != NULL) {
        return 3;
    }
    return rsdk_built_for_knows(need->name) ? 2 : 1;
}

rsdk_status rsdk_other_release_add(rsdk_other_release *found, rsdk_arena *arena, const rsdk_release_need *need,
                                   rsdk_error *error) {
    if (!rsdk_catalog_is_of_rocm(need->name)) {
        return RSDK_OK;
    }
    rsdk_built_for_add(&found->built_for, need->name);
    if (need->is_here) {
        return RSDK_OK;
    }
    int rank = rank_of(need);
    if (rank > found->rank) {
        found->rank = rank;
        found->file = need->file;
        found->wanted = need->name;
        found->present = need->present;
    }
    return rsdk_unique_strings_add(need->present != NULL ? &found->others : &found->absent, arena, need->name, error);
}

/* Return the releases of the SDK, by its HIP. */
static rsdk_release_range sdk_releases(const rsdk_other_release *found) {
    rsdk_built_for sdk = {.is_newer = false};
    if (found->runtime != NULL) {
        rsdk_built_for_add(&sdk, found->runtime);
    }
    return rsdk_built_for_releases(&sdk);
}

/* Return whether the releases that the SDK's HIP and the files fit have none in common. */
static bool is_apart(const rsdk_other_release *found) {
    rsdk_release_range here = sdk_releases(found), wanted = rsdk_built_for_releases(&found->built_for);
    return rsdk_release_range_is_known(here) && rsdk_release_range_is_known(wanted) &&
           !rsdk_release_ranges_meet(here, wanted);
}

bool rsdk_other_release_is(const rsdk_other_release *found) {
    return found->file != NULL && (found->others.list.count > 0 || is_apart(found));
}

bool rsdk_other_release_explains(const rsdk_other_release *found, const char *name) {
    /* AMD's builds have their own copies of system libraries, under names that no other build has. */
    static const char own_copies[] = "librocm_sysdeps_";
    size_t unused = 0;
    if (rsdk_name_table_find(&found->others.places, name, strlen(name), &unused)) {
        return true;
    }
    return is_apart(found) && (rsdk_catalog_is_of_rocm(name) || strncmp(name, own_copies, sizeof own_copies - 1) == 0);
}

const char *rsdk_other_release_present(const rsdk_other_release *found) {
    return found->present != NULL ? found->present : found->runtime;
}

void rsdk_other_release_add_built_for(const rsdk_other_release *found, rsdk_text *text) {
    rsdk_release_range range = rsdk_built_for_releases(&found->built_for);
    if (rsdk_release_range_is_known(range)) {
        rsdk_release_range_add_text(range, text);
    } else {
        rsdk_text_add(text, "%s", found->wanted);
    }
}

void rsdk_other_release_add_sdk(const rsdk_other_release *found, rsdk_text *text) {
    rsdk_release_range_add_text(sdk_releases(found), text);
}

void rsdk_other_release_add_more(const rsdk_other_release *found, rsdk_text *text) {
    size_t count = found->others.list.count + (is_apart(found) ? found->absent.list.count : 0);
    if (count > 1) {
        rsdk_text_add(text, " and %zu more of ROCm", count - 1);
    }
}

void rsdk_other_release_add_versions(rsdk_other_release *found, const rsdk_elf_dynsym *symbols) {
    bool needs_hip = rsdk_release_range_is_known(found->built_for.hip);
    for (size_t i = 0; needs_hip && i < symbols->versions.count; i++) {
        const rsdk_elf_version *version = &symbols->versions.items[i];
        if (version->name != NULL && version->file != NULL) {
            rsdk_built_for_add_version(&found->built_for, version->file, version->name);
        }
    }
}

/* ---- of a plan ---- */

/* Find the SDK's library of which `name` is a version; *present stays NULL if the SDK has none. */
static rsdk_status find_present(rsdk_sdk *sdk, const char *name, const char **present, rsdk_error *error) {
    const rsdk_catalog_entry *entry = rsdk_catalog_find_file(name);
    rsdk_location location = {0};
    rsdk_status status = entry != NULL ? rsdk_loader_locate(sdk, entry->shortname, &location, NULL) : RSDK_OK;
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    const char *found =
        location.soname != NULL || location.path == NULL ? location.soname : rsdk_path_name(location.path);
    if (status == RSDK_OK && found != NULL && rsdk_soname_is_same_library(found, name)) {
        *present = found;
    }
    return RSDK_OK;
}

/* Return the first library of ROCm that a plan lacks, or NULL, mark the packages that have the missing ones, and set
 * the file that needs it. Most plans lack nothing, and then this costs nothing. */
static const char *find_lack(const rsdk_plan *plan, const char **file, bool missing[RSDK_PACKAGE_COUNT]) {
    const char *first = NULL;
    for (size_t i = 0; i < plan->graph.nodes.count; i++) {
        const rsdk_node *node = plan->graph.nodes.items[i];
        for (size_t j = 0; !node->is_sdk && j < node->edges.count; j++) {
            const rsdk_edge *edge = &node->edges.items[j];
            if (edge->kind == RSDK_EDGE_MISSING && rsdk_catalog_is_of_rocm(edge->name)) {
                const rsdk_catalog_entry *entry = rsdk_catalog_find_file(edge->name);
                missing[entry != NULL ? entry->package : RSDK_CORE] = true;
                *file = first != NULL ? *file : node->location.path;
                first = first != NULL ? first : edge->name;
            }
        }
    }
    return first;
}

/* Add the needs of a node. The versions of HIP's symbols are in tables that a plan does not read. A file that cannot be
 * read has none. */
static rsdk_status add_node(rsdk_other_release *found, const rsdk_node *node, rsdk_sdk *sdk, rsdk_arena *arena,
                            rsdk_error *error) {
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    rsdk_status status = rsdk_elf_file_read_with_symbols(node->location.path, false, arena, &file, &symbols, NULL);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    for (size_t i = 0; i < node->edges.count; i++) {
        const rsdk_edge *edge = &node->edges.items[i];
        rsdk_release_need need = {.file = node->location.path, .name = edge->name};
        need.is_here = edge->kind != RSDK_EDGE_MISSING;
        if (!need.is_here) {
            RSDK_TRY(find_present(sdk, edge->name, &need.present, error));
        }
        RSDK_TRY(rsdk_other_release_add(found, arena, &need, error));
    }
    if (status == RSDK_OK) {
        rsdk_other_release_add_versions(found, &symbols);
    }
    return RSDK_OK;
}

static rsdk_status fail(const rsdk_other_release *found, rsdk_sdk *sdk, rsdk_error *error) {
    const char *version = rsdk_sdk_version(sdk), *file = rsdk_path_name(found->file);
    const char *present = rsdk_other_release_present(found);
    rsdk_text built_for = RSDK_TEXT_INIT, more = RSDK_TEXT_INIT, requirement = RSDK_TEXT_INIT;
    rsdk_other_release_add_built_for(found, &built_for);
    rsdk_other_release_add_more(found, &more);
    rsdk_release_range_add_requirement(rsdk_built_for_releases(&found->built_for), &requirement);
    rsdk_status status =
        built_for.failed || more.failed || requirement.failed
            ? rsdk_fail_no_memory(error)
            : rsdk_fail_as(error, RSDK_BAD_ELF, RSDK_E_LIB_024, found->file,
                           RSDK_FACTS({"needing", file}, {"wanted", rsdk_text_get(&built_for)}, {"version", version},
                                      {"name", found->wanted}, {"present", present}, {"more", rsdk_text_get(&more)},
                                      {"requirement", requirement.data}),
                           "%s: was built for %s, the SDK is %s and has %s", found->file, rsdk_text_get(&built_for),
                           version != NULL ? version : "another one", present);
    rsdk_text_clear(&built_for);
    rsdk_text_clear(&more);
    rsdk_text_clear(&requirement);
    return status;
}

static rsdk_status judge(const rsdk_plan *plan, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_error *error) {
    rsdk_other_release found = {.runtime = NULL};
    RSDK_TRY(find_present(sdk, hip, &found.runtime, error));
    for (size_t i = 0; i < plan->graph.nodes.count; i++) {
        const rsdk_node *node = plan->graph.nodes.items[i];
        if (!node->is_sdk) {
            RSDK_TRY(add_node(&found, node, sdk, arena, error));
        }
    }
    return rsdk_other_release_is(&found) ? fail(&found, sdk, error) : RSDK_OK;
}

rsdk_status rsdk_other_release_check(const rsdk_plan *plan, rsdk_sdk *sdk, rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_text what = RSDK_TEXT_INIT;
    rsdk_status status = RSDK_OK;
    bool missing[RSDK_PACKAGE_COUNT] = {false};
    const char *file = NULL, *lack = find_lack(plan, &file, missing);
    if (lack != NULL && rsdk_sdk_version(sdk) == NULL) {
        rsdk_text_add(&what, "%s needs %s", file, lack);
        status = rsdk_sdk_fail_not_installed(sdk, rsdk_text_get(&what), missing, error);
    } else if (lack != NULL) {
        status = judge(plan, sdk, &arena, error);
    }
    rsdk_text_clear(&what);
    rsdk_arena_clear(&arena);
    return status;
}
