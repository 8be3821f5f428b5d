/* Arena: memory that is given out piece by piece and freed as a whole. A plan or an open SDK owns one arena, and
 * everything in it lives exactly as long: no piece has an owner of its own, so nothing can leak and nothing can be
 * freed twice. */
#ifndef RSDK_BASE_ARENA_H
#define RSDK_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/fail.h" /* IWYU pragma: export */

typedef struct rsdk_arena {
    struct rsdk_arena_block *newest;
} rsdk_arena;

#define RSDK_ARENA_INIT                                                                                                \
    { NULL }

/* Free everything; the arena can be used again. */
void rsdk_arena_clear(rsdk_arena *arena);

/* A place in an arena. What was allocated behind it is freed by the return to it. */
typedef struct rsdk_arena_mark {
    struct rsdk_arena_block *block;
    size_t used;
} rsdk_arena_mark;

rsdk_arena_mark rsdk_arena_here(const rsdk_arena *arena);
void rsdk_arena_return(rsdk_arena *arena, rsdk_arena_mark mark);

/* Allocate `count` zeroed items of `size` bytes, aligned for any type; NULL when out of memory or when the product
 * overflows. */
void *rsdk_arena_alloc(rsdk_arena *arena, size_t count, size_t size);

/* Allocate `size` bytes that are not zeroed, as room for bytes that are read from a file; aligned and NULL as above. */
void *rsdk_arena_alloc_room(rsdk_arena *arena, size_t size);

char *rsdk_arena_copy(rsdk_arena *arena, const char *text);
char *rsdk_arena_copy_bytes(rsdk_arena *arena, const char *bytes, size_t length); /* adds the NUL */
char *rsdk_arena_format(rsdk_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *rsdk_arena_format_list(rsdk_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Make space for one more item in a growing array of `*capacity` items, `count` of them used. Return the array, moved
 * if it had to grow (the old one stays valid and unused until the arena goes), or NULL. Use RSDK_APPEND. */
void *rsdk_arena_grow(rsdk_arena *arena, void *items, size_t count, size_t *capacity, size_t size);

/* An array that grows in an arena. */
#define RSDK_LIST(type)                                                                                                \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count, capacity;                                                                                        \
    }

/* Append `value`; return from the function where memory is short (see base/fail.h). */
#define RSDK_APPEND(arena, list, value, error)                                                                         \
    do {                                                                                                               \
        void *grown_ = rsdk_arena_grow(arena, (list)->items, (list)->count, &(list)->capacity, sizeof *(list)->items); \
        RSDK_NEED(grown_, error);                                                                                      \
        (list)->items = grown_;                                                                                        \
        (list)->items[(list)->count++] = (value);                                                                      \
    } while (0)

typedef RSDK_LIST(const char *) rsdk_strings;

#endif
