/* Sums over images by target. */
#ifndef RSDK_DEVICE_CODE_TARGET_SUMS_H
#define RSDK_DEVICE_CODE_TARGET_SUMS_H

#include "base/arena.h"
#include "base/name_table.h"
#include "rocm_sdk/device_code.h"

typedef struct rsdk_target_sums {
    RSDK_LIST(rsdk_device_target) list;
    rsdk_name_table places;
} rsdk_target_sums;

/* Add to the sum of a target, whose name is copied if it is new. */
rsdk_status rsdk_target_sums_add(rsdk_target_sums *sums, rsdk_arena *arena, const rsdk_device_target *more,
                                 rsdk_error *error);

/* Sort the sums by the targets' numbers; nothing can be added afterwards. */
void rsdk_target_sums_sort(rsdk_target_sums *sums);

#endif
