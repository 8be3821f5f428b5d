/* Reads the override of a GPU's version. The variable with the node's number comes first, even where it is invalid. */
#include "gpu/override.h"

#include <stddef.h>

enum { MAJOR_LIMIT = 63, PART_LIMIT = 255 };

/* The decimal number at *at, which is moved behind it. */
static bool read_part(const char **at, unsigned limit, unsigned *part) {
    const char *start = *at;
    *part = 0;
    while (**at >= '0' && **at <= '9') {
        *part = *part * 10 + (unsigned)(**at - '0');
        if (*part > limit) {
            return false;
        }
        ++*at;
    }
    return *at > start;
}

bool rsdk_override_parse(const char *text, rsdk_isa_version *version) {
    return read_part(&text, MAJOR_LIMIT, &version->major) && *text++ == '.' &&
           read_part(&text, PART_LIMIT, &version->minor) && *text++ == '.' &&
           read_part(&text, PART_LIMIT, &version->stepping) && *text == '\0';
}

rsdk_override rsdk_override_of(const rsdk_gpu_environment *environment, unsigned hsa_node) {
    rsdk_override override = {.value = environment->hsa_override_gfx_version};
    for (size_t i = 0; i < environment->node_override_count; i++) {
        if (environment->node_overrides[i].node == hsa_node) {
            override.value = environment->node_overrides[i].value;
            override.is_of_node = true;
            break;
        }
    }
    if (override.value != NULL) {
        override.state =
            rsdk_override_parse(override.value, &override.version) ? RSDK_OVERRIDE_VALID : RSDK_OVERRIDE_INVALID;
    }
    return override;
}
