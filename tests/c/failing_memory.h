/* An allocator that fails where a test wants it, and the run of something with each allocation failing in turn.
 * Included once, before all else, in a test program whose name ends in out_of_memory: the linker puts the functions
 * below in place of the allocator's (--wrap, see the Makefile), and the arena is compiled anew with a block size of 1,
 * so that every piece is an allocation of its own. */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#define RSDK_ARENA_BLOCK_SIZE 1
#include "base/arena.c" /* NOLINT(bugprone-suspicious-include) */

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "child_process.h"

static size_t allocations, failing; /* number `failing` fails; 0: none */
static ptrdiff_t live;              /* blocks that are not freed yet */

static bool may_allocate(void) {
    if (failing != 0 && ++allocations == failing) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

static void *count(void *block) {
    live += block != NULL;
    return block;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
char *__real_strdup(const char *text);
char *__real_getcwd(char *buffer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
char *__wrap_strdup(const char *text);
char *__wrap_getcwd(char *buffer, size_t size);
int __real_vasprintf(char **text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
int __wrap_vasprintf(char **text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

void *__wrap_malloc(size_t size) {
    return may_allocate() ? count(__real_malloc(size)) : NULL;
}

void *__wrap_calloc(size_t number, size_t size) {
    return may_allocate() ? count(__real_calloc(number, size)) : NULL;
}

void *__wrap_realloc(void *block, size_t size) {
    if (!may_allocate()) {
        return NULL;
    }
    live -= block != NULL;
    return count(__real_realloc(block, size));
}

void __wrap_free(void *block) {
    live -= block != NULL;
    __real_free(block);
}

char *__wrap_strdup(const char *text) {
    return may_allocate() ? count(__real_strdup(text)) : NULL;
}

char *__wrap_getcwd(char *buffer, size_t size) {
    return may_allocate() ? count(__real_getcwd(buffer, size)) : NULL;
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments) {
    if (!may_allocate()) {
        return -1;
    }
    int length = __real_vasprintf(text, format, arguments);
    live += length >= 0;
    return length;
}

/* What uses memory. It releases what it has got. */
typedef rsdk_status (*memory_user)(void *context, rsdk_error *error);

/* One run with allocation number `number` failing; returns whether there was such an allocation. Ends the process
 * unless the answer is RSDK_NO_MEMORY or what is wanted, and nothing is left allocated. */
static bool fails_at(memory_user use, void *context, size_t number, rsdk_status wanted) {
    rsdk_error error = RSDK_ERROR_INIT;
    const ptrdiff_t before = live;
    allocations = 0;
    failing = number;
    rsdk_status status = use(context, &error);
    bool has_failed = allocations >= failing;
    failing = 0;
    if (status != wanted && !(has_failed && status == RSDK_NO_MEMORY)) {
        (void)fprintf(stderr, "allocation %zu: status %d, %s\n", number, status, rsdk_error_message(&error));
        _exit(1);
    }
    REQUIRE(error.status == status);
    rsdk_error_clear(&error);
    if (live != before) {
        (void)fprintf(stderr, "allocation %zu: %td blocks are left\n", number, live - before);
        _exit(1);
    }
    return has_failed;
}

/* Runs it with each allocation failing in turn, of which there are more than `least`. */
static void fail_each(memory_user use, void *context, rsdk_status wanted, size_t least) {
    size_t number = 1;
    while (fails_at(use, context, number, wanted)) {
        number++;
    }
    REQUIRE(number > least); /* something was tried */
}

#endif
