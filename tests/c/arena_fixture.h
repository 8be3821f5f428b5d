/* The fixture of tests that need an arena and nothing on disk. */
#ifndef TESTS_ARENA_FIXTURE_H
#define TESTS_ARENA_FIXTURE_H

#include <stdlib.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

/* Defines `make` and `clear`, set-up and teardown of a cmocka test: *state is a `type`, zeroed, with the members
 * `arena` and `error`. */
#define DEFINE_ARENA_FIXTURE(type)                                                                                     \
    static int make(void **state) {                                                                                    \
        *state = calloc(1, sizeof(type));                                                                              \
        return *state != NULL ? 0 : -1;                                                                                \
    }                                                                                                                  \
    static int clear(void **state) {                                                                                   \
        type *f = *state;                                                                                              \
        rsdk_arena_clear(&f->arena);                                                                                   \
        rsdk_error_clear(&f->error);                                                                                   \
        free(f);                                                                                                       \
        return 0;                                                                                                      \
    }

#endif
