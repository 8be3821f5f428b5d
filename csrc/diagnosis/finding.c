/* Findings, and the package that a file belongs to. */
#include "diagnosis/finding.h"

#include <string.h>

#include "base/path.h"
#include "sdk/package_name.h"
#include "sdk/record.h"

rsdk_status rsdk_finding_add(rsdk_finding *finding, rsdk_arena *arena, const char *name, const char *value,
                             rsdk_error *error) {
    if (value != NULL) {
        RSDK_APPEND(arena, &finding->facts, ((rsdk_fact){name, value}), error);
    }
    return RSDK_OK;
}

rsdk_status rsdk_finding_copy_facts(rsdk_finding *finding, rsdk_arena *arena, const rsdk_fact *facts, size_t count,
                                    rsdk_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (facts[i].value == NULL) {
            continue;
        }
        const char *name = rsdk_arena_copy(arena, facts[i].name), *value = rsdk_arena_copy(arena, facts[i].value);
        RSDK_NEED(name, error);
        RSDK_NEED(value, error);
        RSDK_TRY(rsdk_finding_add(finding, arena, name, value, error));
    }
    return RSDK_OK;
}

const char *rsdk_finding_fact(const rsdk_finding *finding, const char *name) {
    return rsdk_fact_find(finding->facts.items, finding->facts.count, name);
}

static rsdk_status add_package(rsdk_finding *finding, rsdk_arena *arena, const char *distribution, const char *version,
                               rsdk_error *error) {
    RSDK_TRY(rsdk_finding_add(finding, arena, "distribution", distribution, error));
    if (version == NULL) {
        return RSDK_OK;
    }
    const char *requirement = rsdk_arena_format(arena, "%s==%s", distribution, version);
    RSDK_NEED(requirement, error);
    RSDK_TRY(rsdk_finding_add(finding, arena, "version", version, error));
    return rsdk_finding_add(finding, arena, "requirement", requirement, error);
}

rsdk_status rsdk_finding_add_owner(rsdk_finding *finding, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_error *error) {
    rsdk_recorded_file recorded;
    if (finding->path == NULL || finding->path[0] != '/' || rsdk_finding_fact(finding, "requirement") != NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_record_find_path(finding->path, arena, &recorded, error));
    if (recorded.distribution != NULL) {
        return add_package(finding, arena, recorded.distribution, recorded.version, error);
    }
    for (unsigned id = 0; sdk != NULL && id < RSDK_PACKAGE_COUNT; id++) {
        const char *directory = NULL;
        rsdk_status status = rsdk_sdk_package_directory(sdk, (rsdk_package_id)id, &directory, NULL);
        if (status == RSDK_NO_MEMORY) {
            return rsdk_fail_no_memory(error);
        }
        if (status == RSDK_OK &&
            (strcmp(finding->path, directory) == 0 || rsdk_path_below(finding->path, directory) != NULL)) {
            if (rsdk_sdk_fallback(sdk) != NULL) {
                const char *copy = rsdk_arena_copy(arena, directory);
                RSDK_NEED(copy, error);
                if (strcmp(rsdk_sdk_fallback(sdk), "system") == 0) {
                    RSDK_TRY(rsdk_finding_add(finding, arena, "system_prefix", copy, error));
                }
                return rsdk_finding_add(finding, arena, "prefix", copy, error);
            }
            const char *distribution = rsdk_package_name_distribution(sdk, (rsdk_package_id)id, NULL, arena);
            RSDK_NEED(distribution, error);
            return add_package(finding, arena, distribution, rsdk_sdk_version(sdk), error);
        }
    }
    return RSDK_OK;
}
