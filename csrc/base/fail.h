/* How the library's own code reports an error: `return rsdk_fail(error, STATUS, path, fix, "message ...");`. */
#ifndef RSDK_BASE_FAIL_H
#define RSDK_BASE_FAIL_H

#include <stddef.h>

#include "rocm_sdk/error.h"

/* Fills *error (which may be NULL; an error already in it is replaced) and returns `status`. `path` and `fix` may be
 * NULL and are copied. When a copy cannot be allocated that text stays NULL: an error about an error helps nobody. */
rsdk_status rsdk_fail(rsdk_error *error, rsdk_status status, const char *path, const char *fix, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same for an allocation that failed. Inline, so that a static analyser sees that it never returns RSDK_OK. */
static inline rsdk_status rsdk_fail_no_memory(rsdk_error *error) {
    if (error != NULL) {
        rsdk_error_clear(error);
        error->status = RSDK_NO_MEMORY;
    }
    return RSDK_NO_MEMORY;
}

#endif
