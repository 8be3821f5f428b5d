/* The arena: a chain of blocks; a request that does not fit opens a new one. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tests that let each allocation fail in turn build with a block size of 1, so that every request is an allocation.
 */
#ifndef RSDK_ARENA_BLOCK_SIZE
#define RSDK_ARENA_BLOCK_SIZE 16384
#endif

typedef struct rsdk_arena_block {
    struct rsdk_arena_block *older;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
} rsdk_arena_block;

static size_t round_up(size_t size) {
    const size_t step = alignof(max_align_t);
    return (size + step - 1) / step * step;
}

rsdk_arena_mark rsdk_arena_here(const rsdk_arena *arena) {
    return (rsdk_arena_mark){.block = arena->newest, .used = arena->newest != NULL ? arena->newest->used : 0};
}

void rsdk_arena_return(rsdk_arena *arena, rsdk_arena_mark mark) {
    while (arena->newest != mark.block) {
        rsdk_arena_block *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
    if (mark.block != NULL) {
        mark.block->used = mark.used;
    }
}

void rsdk_arena_clear(rsdk_arena *arena) {
    rsdk_arena_return(arena, (rsdk_arena_mark){NULL, 0});
}

void *rsdk_arena_alloc_room(rsdk_arena *arena, size_t size) {
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    const size_t wanted = round_up(size);
    rsdk_arena_block *block = arena->newest;
    if (block == NULL || block->size - block->used < wanted) {
        size_t capacity = round_up(wanted > RSDK_ARENA_BLOCK_SIZE ? wanted : RSDK_ARENA_BLOCK_SIZE);
        block = malloc(sizeof *block + capacity);
        if (block == NULL) {
            return NULL;
        }
        *block = (rsdk_arena_block){.older = arena->newest, .size = capacity};
        arena->newest = block;
    }
    void *piece = block->bytes + block->used;
    block->used += wanted;
    return piece;
}

void *rsdk_arena_alloc(rsdk_arena *arena, size_t count, size_t size) {
    size_t wanted;
    void *piece = __builtin_mul_overflow(count, size, &wanted) ? NULL : rsdk_arena_alloc_room(arena, wanted);
    return piece != NULL ? memset(piece, 0, wanted) : NULL;
}

char *rsdk_arena_copy_bytes(rsdk_arena *arena, const char *bytes, size_t length) {
    char *copy = rsdk_arena_alloc(arena, length + 1, 1);
    return copy != NULL ? memcpy(copy, bytes, length) : NULL;
}

char *rsdk_arena_copy(rsdk_arena *arena, const char *text) {
    return rsdk_arena_copy_bytes(arena, text, strlen(text));
}

char *rsdk_arena_format_list(rsdk_arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    /* Most texts fit into the rest of the block; only longer ones are formatted twice. */
    rsdk_arena_block *block = arena->newest;
    size_t available = block != NULL ? block->size - block->used : 0;
    char *text = block != NULL ? (char *)block->bytes + block->used : NULL;
    int length = vsnprintf(text, available, format, arguments);
    bool fits = length >= 0 && (size_t)length < available;
    if (fits) {
        block->used += round_up((size_t)length + 1); /* the available size is a multiple of the step, too */
    } else {
        text = length < 0 ? NULL : rsdk_arena_alloc(arena, (size_t)length + 1, 1);
    }
    if (!fits && text != NULL) {
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

char *rsdk_arena_format(rsdk_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = rsdk_arena_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

void *rsdk_arena_grow(rsdk_arena *arena, void *items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) {
        return items;
    }
    size_t wanted, larger = *capacity == 0 ? 8 : *capacity * 2;
    void *moved = __builtin_mul_overflow(larger, size, &wanted) ? NULL : rsdk_arena_alloc_room(arena, wanted);
    if (moved == NULL) {
        return NULL;
    }
    if (count > 0) {
        memcpy(moved, items, count * size);
    }
    *capacity = larger;
    return moved;
}
