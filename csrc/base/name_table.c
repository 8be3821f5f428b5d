/* Open addressing with linear steps; at most half of the slots are used. */
#include "base/name_table.h"

#include <string.h>
#include <sys/auxv.h>

enum { FIRST_CAPACITY = 16 };

typedef struct rsdk_name_slot {
    const void *name; /* NULL: free */
    size_t length, value;
    uint64_t hash;
} rsdk_name_slot;

__extension__ typedef unsigned __int128 wide;

static uint64_t mix(uint64_t a, uint64_t b) {
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const rsdk_name_table *table, const void *name, size_t length) {
    uint64_t hash = table->key[0] ^ length;
    for (size_t at = 0; at < length; at += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, (const char *)name + at, length - at < sizeof word ? length - at : sizeof word);
        hash = mix(hash ^ word, table->key[1] | 1);
    }
    return mix(hash, table->key[0] | 1);
}

/* Return the slot of the name, or the free slot where it belongs. There is a free slot. */
static rsdk_name_slot *slot_of(const rsdk_name_table *table, const void *name, size_t length, uint64_t hash) {
    size_t at = (size_t)hash & (table->capacity - 1);
    for (;; at = (at + 1) & (table->capacity - 1)) {
        rsdk_name_slot *slot = &table->slots[at];
        bool is_same = slot->hash == hash && slot->length == length;
        if (slot->name == NULL || (is_same && memcmp(slot->name, name, length) == 0)) {
            return slot;
        }
    }
}

bool rsdk_name_table_find(const rsdk_name_table *table, const void *name, size_t length, size_t *value) {
    if (table->count == 0) {
        return false;
    }
    const rsdk_name_slot *slot = slot_of(table, name, length, hash_of(table, name, length));
    if (slot->name != NULL) {
        *value = slot->value;
    }
    return slot->name != NULL;
}

static rsdk_status make_room(rsdk_name_table *table, rsdk_arena *arena, rsdk_error *error) {
    if (table->count < table->capacity / 2) {
        return RSDK_OK;
    }
    rsdk_name_table larger = {.count = table->count,
                              .capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2};
    larger.slots = rsdk_arena_alloc(arena, larger.capacity, sizeof *larger.slots);
    RSDK_NEED(larger.slots, error);
    static const uint64_t without_secret[2] = {0x9E3779B97F4A7C15U, 0xC2B2AE3D27D4EB4FU};
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives an address as a number */
    const void *random = (const void *)getauxval(AT_RANDOM);
    memcpy(larger.key, random != NULL ? random : without_secret, sizeof without_secret);
    for (size_t i = 0; i < table->capacity; i++) {
        const rsdk_name_slot *slot = &table->slots[i];
        if (slot->name != NULL) {
            *slot_of(&larger, slot->name, slot->length, slot->hash) = *slot;
        }
    }
    *table = larger;
    return RSDK_OK;
}

rsdk_status rsdk_name_table_set(rsdk_name_table *table, rsdk_arena *arena, const void *name, size_t length,
                                size_t value, rsdk_error *error) {
    RSDK_TRY(make_room(table, arena, error));
    uint64_t hash = hash_of(table, name, length);
    rsdk_name_slot *slot = slot_of(table, name, length, hash);
    table->count += slot->name == NULL;
    *slot = (rsdk_name_slot){.name = name, .length = length, .value = value, .hash = hash};
    return RSDK_OK;
}

rsdk_status rsdk_unique_strings_add(rsdk_unique_strings *strings, rsdk_arena *arena, const char *text,
                                    rsdk_error *error) {
    size_t place = 0;
    RSDK_NEED(text, error);
    if (rsdk_name_table_find(&strings->places, text, strlen(text), &place)) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_name_table_set(&strings->places, arena, text, strlen(text), strings->list.count, error));
    RSDK_APPEND(arena, &strings->list, text, error);
    return RSDK_OK;
}
