/* A hostile file may name any number of targets, so each is looked up in a table. */
#include "device_code/target_sums.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/targets.h"

rsdk_status rsdk_target_sums_add(rsdk_target_sums *sums, rsdk_arena *arena, const rsdk_device_target *more,
                                 rsdk_error *error) {
    size_t place = 0;
    if (!rsdk_name_table_find(&sums->places, more->target, strlen(more->target), &place)) {
        const char *name = rsdk_arena_copy(arena, more->target);
        RSDK_NEED(name, error);
        place = sums->list.count;
        RSDK_TRY(rsdk_name_table_set(&sums->places, arena, name, strlen(name), place, error));
        RSDK_APPEND(arena, &sums->list, ((rsdk_device_target){.target = name}), error);
    }
    sums->list.items[place].size += more->size;
    sums->list.items[place].image_count += more->image_count;
    return RSDK_OK;
}

static int compare(const void *a, const void *b) {
    return rsdk_target_compare(((const rsdk_device_target *)a)->target, ((const rsdk_device_target *)b)->target);
}

void rsdk_target_sums_sort(rsdk_target_sums *sums) {
    if (sums->list.count > 1) {
        qsort(sums->list.items, sums->list.count, sizeof *sums->list.items, compare);
    }
}
