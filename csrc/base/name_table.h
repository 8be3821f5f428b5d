/* A hash table from names to numbers, in an arena: so that a look-up costs the same whatever the number of libraries.
 * The hash is keyed by a secret of the process, so that nobody can choose names that share a slot. */
#ifndef RSDK_BASE_NAME_TABLE_H
#define RSDK_BASE_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A name is `length` bytes of any kind: a text, a part of one, a file identity. */
typedef struct rsdk_name_table {
    struct rsdk_name_slot *slots;
    size_t count, capacity;
    uint64_t key[2]; /* the keys of the hash, as long as there are slots */
} rsdk_name_table;

/* Return whether the name is there; then *value becomes its number. */
bool rsdk_name_table_find(const rsdk_name_table *table, const void *name, size_t length, size_t *value);

/* Add a name, which is borrowed; a name that is there already gets this number. */
rsdk_status rsdk_name_table_set(rsdk_name_table *table, rsdk_arena *arena, const void *name, size_t length,
                                size_t value, rsdk_error *error);

/* A list in which no text stands twice. */
typedef struct rsdk_unique_strings {
    rsdk_strings list;
    rsdk_name_table places;
} rsdk_unique_strings;

/* Append a text unless it is there; `text` is borrowed, NULL: memory is short. */
rsdk_status rsdk_unique_strings_add(rsdk_unique_strings *strings, rsdk_arena *arena, const char *text,
                                    rsdk_error *error);

#endif
