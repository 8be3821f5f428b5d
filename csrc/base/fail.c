/* Errors: filling, reading and freeing rsdk_error. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_texts[] = {
    [RSDK_OK] = "no error",
    [RSDK_NO_MEMORY] = "out of memory",
    [RSDK_BAD_ARGUMENT] = "bad argument",
    [RSDK_IO_ERROR] = "a file cannot be read",
    [RSDK_BAD_ELF] = "not a usable shared library",
    [RSDK_BAD_METADATA] = "damaged SDK metadata",
    [RSDK_UNKNOWN_LIBRARY] = "unknown library name",
    [RSDK_PACKAGE_NOT_INSTALLED] = "an SDK package is not installed",
    [RSDK_FILE_NOT_FOUND] = "a library's file is missing",
    [RSDK_LOAD_FAILED] = "a library cannot be loaded",
};

void rsdk_error_clear(rsdk_error *error) {
    free(error->message);
    free(error->fix);
    free(error->path);
    *error = (rsdk_error)RSDK_ERROR_INIT;
}

const char *rsdk_error_message(const rsdk_error *error) {
    return error->message != NULL ? error->message : status_texts[error->status];
}

rsdk_status rsdk_fail(rsdk_error *error, rsdk_status status, const char *path, const char *fix, const char *format,
                      ...) {
    if (error == NULL) {
        return status;
    }
    /* The texts may be built from those of the error that is replaced, so they are made before it is cleared. */
    rsdk_error fresh = {.status = status};
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&fresh.message, format, arguments) < 0) {
        fresh.message = NULL;
    }
    va_end(arguments);
    fresh.path = path != NULL ? strdup(path) : NULL;
    fresh.fix = fix != NULL ? strdup(fix) : NULL;
    rsdk_error_clear(error);
    *error = fresh;
    return status;
}

rsdk_status rsdk_fail_with(rsdk_error *to, rsdk_error *from) {
    rsdk_status status = from->status;
    if (to != NULL) {
        rsdk_error_clear(to);
        *to = *from;
        *from = (rsdk_error)RSDK_ERROR_INIT;
    }
    rsdk_error_clear(from);
    return status;
}
