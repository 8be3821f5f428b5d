/* The override of a GPU's version. The variable with the node's number comes first, even where it is invalid. */
#include "gpu/features.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAJOR_LIMIT = 63, PART_LIMIT = 255 };

/* Read the decimal number at *at, which is moved behind it, as "%u" of sscanf reads it: blanks and a sign may stand
 * before it, a number of more than 64 bits is the largest of them, and 32 bits are kept. */
static bool read_part(const char **at, unsigned limit, unsigned *part) {
    *at += strspn(*at, " \t\n\v\f\r");
    bool is_negative = **at == '-', is_too_large = false;
    *at += **at == '-' || **at == '+';
    const char *start = *at;
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        is_too_large |= __builtin_mul_overflow(number, 10, &number) ||
                        __builtin_add_overflow(number, (uint64_t)(**at - '0'), &number);
    }
    *part = (unsigned)(is_too_large ? UINT64_MAX : is_negative ? -number : number);
    return *at > start && *part <= limit;
}

bool rsdk_override_parse(const char *text, rsdk_isa_version *version) {
    return read_part(&text, MAJOR_LIMIT, &version->major) && *text++ == '.' &&
           read_part(&text, PART_LIMIT, &version->minor) && *text++ == '.' &&
           read_part(&text, PART_LIMIT, &version->stepping) && *text == '\0';
}

bool rsdk_override_is_known(const char *processor) {
    static const char *const unknown[] = {"gfx600", "gfx601", "gfx602", "gfx703",
                                          "gfx704", "gfx705", "gfx940", "gfx941"};
    bool is_known = rsdk_target_find(processor) != NULL;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        is_known &= strcmp(processor, unknown[i]) != 0;
    }
    return is_known;
}

const char *rsdk_override_variable(rsdk_arena *arena, const rsdk_override *override, int hsa_node) {
    static const char name[] = "HSA_OVERRIDE_GFX_VERSION";
    return override->is_of_node ? rsdk_arena_format(arena, "%s_%d", name, hsa_node) : name;
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
    if (override.value != NULL && !rsdk_override_parse(override.value, &override.version)) {
        override.state = RSDK_OVERRIDE_INVALID;
    } else if (override.version.major != 0 || override.version.minor != 0 || override.version.stepping != 0) {
        override.state = RSDK_OVERRIDE_VALID; /* ROCm takes 0.0.0 for none */
    }
    return override;
}
