/* The names of packages, filled in. */
#include "sdk/package_name.h"

#include <string.h>

#include "gpu/targets.h"
#include "sdk/tables.h"

static const char family_placeholder[] = "{target_family}";

static const char *dist_template(const rsdk_sdk *sdk, rsdk_package_id package) {
    bool is_overridden = package == RSDK_LIBRARIES && sdk->info.libraries_template != NULL;
    return is_overridden ? sdk->info.libraries_template : rsdk_package_table[package].dist_template;
}

bool rsdk_sdk_is_kpack_split(const rsdk_sdk *sdk) {
    /* Without `_dist_info.py` no family is known, so the neutral name is all that can be asked for. */
    return sdk->info.path == NULL || strstr(dist_template(sdk, RSDK_LIBRARIES), family_placeholder) == NULL;
}

/* The owner of the family's packages replaces the placeholder ("gfx942:xnack+" shares the packages of gfx942). Without
 * a family the placeholder is removed, and the dash before it. */
char *rsdk_package_name_distribution(const rsdk_sdk *sdk, rsdk_package_id package, const char *family,
                                     rsdk_arena *arena) {
    const char *template = dist_template(sdk, package);
    const char *placeholder = strstr(template, family_placeholder);
    if (placeholder == NULL) {
        return rsdk_arena_copy(arena, template);
    }
    int before = (int)(placeholder - template);
    const char *after = placeholder + sizeof family_placeholder - 1;
    if (family == NULL) {
        return rsdk_arena_format(arena, "%.*s%s", before > 0 ? before - 1 : 0, template, after);
    }
    size_t length = 0;
    const char *owner = rsdk_target_owner_of_name(family, &length);
    return rsdk_arena_format(arena, "%.*s%.*s%s", before, template, (int)length, owner, after);
}

/* The name is `_` + distribution name with `_` for `-` + nonce. */
char *rsdk_package_name_module(const rsdk_sdk *sdk, rsdk_package_id package, const char *family, rsdk_arena *arena) {
    char *distribution = rsdk_package_name_distribution(sdk, package, family, arena);
    if (distribution == NULL) {
        return NULL;
    }
    for (char *dash = strchr(distribution, '-'); dash != NULL; dash = strchr(dash, '-')) {
        *dash = '_';
    }
    return rsdk_arena_format(arena, "_%s%s", distribution, sdk->info.nonce);
}
