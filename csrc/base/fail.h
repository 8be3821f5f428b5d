/* The macros and functions by which the library's own code reports an error or passes one on.
 *
 * A function that can fail returns an rsdk_status. RSDK_NEED and RSDK_APPEND fill the error that they are given, which
 * may be NULL, so that running out of memory is written down in one place. The three macros return from the function
 * that uses them. The macros are for functions that own nothing, which are most: results live in an arena. A function
 * that owns something (a descriptor, a lock, an error of its own) has one exit, where it gives that back; it calls a
 * function that owns nothing for the rest. */
#ifndef RSDK_BASE_FAIL_H
#define RSDK_BASE_FAIL_H

#include <stddef.h>

#include "rocm_sdk/error.h"

/* Fill *error (which may be NULL; an error already in it is replaced) and return `status`, whose code it has. `path`
 * may be NULL and is copied. Where a copy cannot be allocated that text stays NULL. */
rsdk_status rsdk_fail(rsdk_error *error, rsdk_status status, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Do the same with a code of its own, and facts for its texts: a list that RSDK_FACTS writes, or NULL. */
rsdk_status rsdk_fail_as(rsdk_error *error, rsdk_status status, rsdk_code code, const char *path,
                         const rsdk_fact *facts, const char *format, ...) __attribute__((format(printf, 6, 7)));

#define RSDK_FACTS(...) ((const rsdk_fact[]){__VA_ARGS__, {NULL, NULL}})

/* Return the value of a fact in a list; NULL where it is not there. */
const char *rsdk_fact_find(const rsdk_fact *facts, size_t count, const char *name);

/* Do the same as rsdk_fail for an allocation that failed. The function is inline, so that a static analyser sees that
 * it never returns RSDK_OK. */
static inline rsdk_status rsdk_fail_no_memory(rsdk_error *error) {
    if (error != NULL) {
        rsdk_error_clear(error);
        error->status = RSDK_NO_MEMORY;
    }
    return RSDK_NO_MEMORY;
}

/* Move the error `from` to *to, which may be NULL, and return its status. `from` is empty afterwards. */
rsdk_status rsdk_fail_with(rsdk_error *to, rsdk_error *from);

/* Return the error's message without the path that it begins with: the fault of the file, for a text that names the
 * file already. Borrowed. */
const char *rsdk_error_detail(const rsdk_error *error);

/* Return from the function where `call` does not give RSDK_OK. */
#define RSDK_TRY(call)                                                                                                 \
    do {                                                                                                               \
        rsdk_status status_ = (call);                                                                                  \
        if (status_ != RSDK_OK) {                                                                                      \
            return status_;                                                                                            \
        }                                                                                                              \
    } while (0)

/* Return from the function where `pointer` is NULL: an allocation has failed. */
#define RSDK_NEED(pointer, error)                                                                                      \
    do {                                                                                                               \
        if ((pointer) == NULL) {                                                                                       \
            return rsdk_fail_no_memory(error);                                                                         \
        }                                                                                                              \
    } while (0)

#endif
