/* Errors: filling, reading and freeing rsdk_error. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdbool.h>
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
    free(error->path);
    free(error->facts);
    *error = (rsdk_error)RSDK_ERROR_INIT;
}

const char *rsdk_error_message(const rsdk_error *error) {
    return error->message != NULL ? error->message : status_texts[error->status];
}

const char *rsdk_error_detail(const rsdk_error *error) {
    const char *message = rsdk_error_message(error);
    size_t length = error->path != NULL ? strlen(error->path) : 0;
    bool has_path = length > 0 && strncmp(message, error->path, length) == 0;
    return has_path && strncmp(message + length, ": ", 2) == 0 ? message + length + 2 : message;
}

const char *rsdk_fact_find(const rsdk_fact *facts, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(facts[i].name, name) == 0) {
            return facts[i].value;
        }
    }
    return NULL;
}

/* Copy facts up to the fact without a name. Facts without a value are left out: they are not known. NULL where there
 * are none, or no memory. */
static rsdk_fact *copy_facts(const rsdk_fact *facts, size_t *count) {
    size_t size = 0;
    *count = 0;
    for (const rsdk_fact *fact = facts; fact != NULL && fact->name != NULL; fact++) {
        if (fact->value != NULL) {
            size += sizeof *fact + strlen(fact->name) + strlen(fact->value) + 2;
            ++*count;
        }
    }
    rsdk_fact *copies = *count > 0 ? malloc(size) : NULL;
    if (copies == NULL) {
        *count = 0;
        return NULL;
    }
    char *text = (char *)(copies + *count);
    rsdk_fact *copy = copies;
    for (const rsdk_fact *fact = facts; fact->name != NULL; fact++) {
        if (fact->value != NULL) {
            copy->name = text;
            text = stpcpy(text, fact->name) + 1;
            copy++->value = text;
            text = stpcpy(text, fact->value) + 1;
        }
    }
    return copies;
}

static rsdk_status fill(rsdk_error *error, rsdk_status status, rsdk_code code, const char *path, const rsdk_fact *facts,
                        const char *format, va_list arguments) {
    /* The new texts may be built from texts of the error that is replaced, so they are made before it is cleared. */
    rsdk_error fresh = {.status = status, .code = code};
    if (vasprintf(&fresh.message, format, arguments) < 0) {
        fresh.message = NULL;
    }
    fresh.path = path != NULL ? strdup(path) : NULL;
    fresh.facts = copy_facts(facts, &fresh.fact_count);
    rsdk_error_clear(error);
    *error = fresh;
    return status;
}

rsdk_status rsdk_fail(rsdk_error *error, rsdk_status status, const char *path, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        (void)fill(error, status, RSDK_NO_CODE, path, NULL, format, arguments);
        va_end(arguments);
    }
    return status;
}

rsdk_status rsdk_fail_as(rsdk_error *error, rsdk_status status, rsdk_code code, const char *path,
                         const rsdk_fact *facts, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        (void)fill(error, status, code, path, facts, format, arguments);
        va_end(arguments);
    }
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
