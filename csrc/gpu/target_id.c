/* Target ids: a processor and the features that its code is built for, as in "gfx942:sramecc+:xnack-". */
#include "gpu/targets.h"

#include <string.h>

#include "base/fail.h"
#include "gpu/shown_input.h"

static rsdk_status fail_id(const char *id, const char *what, const char *advice, rsdk_error *error) {
    rsdk_shown_input shown = rsdk_shown_input_make(id, strlen(id));
    return rsdk_fail_as(error, RSDK_BAD_ARGUMENT, RSDK_E_GPU_005, NULL, RSDK_FACTS({"advice", advice}), "\"%s\": %s",
                        shown.text, what);
}

/* Read one feature, `text` up to the next ':'. False where it is not one of the two, or has no sign. */
static bool read_feature(const char *text, size_t length, char *sramecc, char *xnack) {
    static const char *const names[] = {"sramecc", "xnack"};
    char *signs[] = {sramecc, xnack};
    for (size_t i = 0; i < 2; i++) {
        size_t name_length = strlen(names[i]);
        if (length == name_length + 1 && strncmp(text, names[i], name_length) == 0 && *signs[i] == '\0' &&
            (text[name_length] == '+' || text[name_length] == '-')) {
            *signs[i] = text[name_length];
            return true;
        }
    }
    return false;
}

bool rsdk_target_id_read(const char *id, rsdk_target_id *parts) {
    *parts = (rsdk_target_id){.processor_length = strcspn(id, ":")};
    for (const char *at = id + parts->processor_length; *at != '\0';) {
        size_t length = strcspn(++at, ":");
        if (!read_feature(at, length, &parts->sramecc, &parts->xnack)) {
            return false;
        }
        at += length;
    }
    return true;
}

static char *append(char *at, const char *text, char sign) {
    size_t length = strlen(text);
    memcpy(at, text, length);
    at += length;
    if (sign != '\0') {
        *at++ = sign;
    }
    *at = '\0';
    return at;
}

rsdk_status rsdk_target_id_normalize(const char *id, char normal[RSDK_TARGET_ID_SIZE], rsdk_error *error) {
    const rsdk_target *target = NULL;
    rsdk_target_id parts;
    RSDK_TRY(rsdk_target_find_or_fail(id, &target, error));
    if (!rsdk_target_id_read(id, &parts)) {
        return fail_id(id, "features are sramecc and xnack, each once at most, with + or - behind it",
                       "Write for instance gfx942:sramecc+:xnack-", error);
    }
    if (parts.sramecc != '\0' && !target->has_sramecc) {
        return fail_id(id, "this processor has no feature sramecc", "Leave it out", error);
    }
    if (parts.xnack != '\0' && (target->xnack == RSDK_XNACK_NONE || target->xnack == RSDK_XNACK_ALWAYS)) {
        return fail_id(id, "the feature xnack of this processor cannot be chosen", "Leave it out", error);
    }
    char *end = append(normal, target->name, '\0');
    end = parts.sramecc != '\0' ? append(end, ":sramecc", parts.sramecc) : end;
    if (parts.xnack != '\0') {
        (void)append(end, ":xnack", parts.xnack);
    }
    return RSDK_OK;
}
