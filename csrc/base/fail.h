/* How the library's own code reports an error, and how it passes one on.
 *
 * A function that can fail returns an rsdk_status and has an `rsdk_error *` in scope by the name of `error`, as a
 * parameter or as a local: RSDK_NEED and RSDK_APPEND fill it, so that running out of memory is written down in one
 * place. The three macros return from the function that uses them. They are for functions that own nothing, which are
 * most: results live in an arena. A function that owns something (a descriptor, a lock, an error of its own) has one
 * exit, where it gives that back; it calls a function that owns nothing for the rest. */
#ifndef RSDK_BASE_FAIL_H
#define RSDK_BASE_FAIL_H

#include <stddef.h>

#include "rocm_sdk/error.h"

/* Fills *error (which may be NULL; an error already in it is replaced) and returns `status`. `path` and `fix` may be
 * NULL and are copied. Where a copy cannot be allocated that text stays NULL. */
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

/* Gives an error that was just filled a code that is more precise than its status, which is passed on. `code` is a
 * literal. */
static inline rsdk_status rsdk_fail_as(const char *code, rsdk_error *error, rsdk_status status) {
    if (error != NULL && status != RSDK_NO_MEMORY) {
        error->code = code;
    }
    return status;
}

/* Moves the error `from` to *to, which may be NULL, and returns its status. `from` is empty afterwards. */
rsdk_status rsdk_fail_with(rsdk_error *to, rsdk_error *from);

/* Returns from the function where `call` does not give RSDK_OK. */
#define RSDK_TRY(call)                                                                                                 \
    do {                                                                                                               \
        rsdk_status status_ = (call);                                                                                  \
        if (status_ != RSDK_OK) {                                                                                      \
            return status_;                                                                                            \
        }                                                                                                              \
    } while (0)

/* Returns from the function where `pointer` is NULL: an allocation has failed. */
#define RSDK_NEED(pointer)                                                                                             \
    do {                                                                                                               \
        if ((pointer) == NULL) {                                                                                       \
            return rsdk_fail_no_memory(error);                                                                         \
        }                                                                                                              \
    } while (0)

#endif
