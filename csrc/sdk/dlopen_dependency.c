/* Look-ups in the table of dlopen dependencies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/tables.h"

static bool is_before(rsdk_release a, rsdk_release b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}

bool rsdk_dlopen_dependency_is_of(const rsdk_dlopen_dependency *row, const char *version) {
    rsdk_release release = {0, 0};
    if (row->first.major == 0 && row->last.major == 0) {
        return true;
    }
    if (version == NULL || sscanf(version, "%u.%u", &release.major, &release.minor) != 2) { /* NOLINT(cert-err34-c) */
        return true;
    }
    const bool has_end = row->last.major != 0;
    return !is_before(release, row->first) && !(has_end && is_before(row->last, release));
}

bool rsdk_dlopen_dependency_is_asked_for(const rsdk_dlopen_dependency *row) {
    if (row->only_if == NULL) {
        return true;
    }
    if (row->only_if[0] != '/') {
        const char *value = secure_getenv(row->only_if);
        return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
    }
    char path[4096];
    const char *root = secure_getenv("ROCM_SDK_ROOTFS");
    const int length = snprintf(path, sizeof path, "%s%s", root != NULL ? root : "", row->only_if);
    return length > 0 && (size_t)length < sizeof path && access(path, R_OK | W_OK) == 0;
}
