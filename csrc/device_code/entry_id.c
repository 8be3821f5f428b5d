/* kind - architecture - vendor - system - environment - target id. The target id may have dashes of its own
 * ("gfx9-4-generic", a final "xnack-"), and old IDs lack the environment. */
#include "device_code/listing.h"

#include <stddef.h>
#include <string.h>

#include "rocm_sdk/gpu.h"

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

bool rsdk_entry_id_has_amd_architecture(const char *triple) {
    return starts_with(triple, "amdgcn") || starts_with(triple, "amdgpu") || starts_with(triple, "spirv64");
}

/* Return the text behind the next dash, NULL where there is none. */
static const char *behind_dash(const char *text) {
    const char *dash = text != NULL ? strchr(text, '-') : NULL;
    return dash != NULL ? dash + 1 : NULL;
}

bool rsdk_entry_id_parse(const char *id, const char **target) {
    const char *architecture = behind_dash(id);
    if (architecture == NULL || starts_with(id, "host-") || !rsdk_entry_id_has_amd_architecture(architecture)) {
        return false;
    }
    const char *environment = behind_dash(behind_dash(behind_dash(architecture)));
    const char *rest = behind_dash(environment);
    bool lacks_environment = environment != NULL && starts_with(environment, "gfx");
    *target = lacks_environment ? environment : rest != NULL ? rest : "";
    return true;
}

const char *rsdk_entry_id_normal_target(const char *target, rsdk_arena *arena) {
    char name[RSDK_TARGET_ID_SIZE], normal[RSDK_TARGET_ID_SIZE];
    size_t length = strcspn(target, ":");
    if (length < sizeof name) {
        memcpy(name, target, length);
        name[length] = '\0';
        if (rsdk_target_find(name) != NULL && rsdk_target_id_normalize(target, normal, NULL) == RSDK_OK) {
            return rsdk_arena_copy(arena, normal);
        }
    }
    return rsdk_arena_copy(arena, target);
}
