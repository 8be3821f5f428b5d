/* The fit of one file's code for GPUs. A GPU whose mode is open counts as several, one in each mode. */
#ifndef RSDK_DEVICE_CODE_FITS_H
#define RSDK_DEVICE_CODE_FITS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/name_table.h"
#include "rocm_sdk/compatibility.h"
#include "rocm_sdk/device_code.h"
#include "rocm_sdk/gpu.h"

/* A GPU in one mode. */
typedef struct rsdk_gpu_mode {
    size_t gpu; /* index of the GPU */
    char id[RSDK_TARGET_ID_SIZE];
} rsdk_gpu_mode;

typedef RSDK_LIST(rsdk_gpu_mode) rsdk_gpu_modes;

/* Add the modes that the target id of a GPU leaves open: four for "gfx90a", one for "gfx1030". RSDK_BAD_ARGUMENT where
 * `id` is not a target id. */
rsdk_status rsdk_gpu_modes_add(rsdk_gpu_modes *modes, rsdk_arena *arena, size_t gpu, const char *id, rsdk_error *error);

/* The fit of code for each target in each mode, computed once for a target: thousands of files share a few. */
typedef struct rsdk_fit_table {
    rsdk_arena *arena;
    unsigned patches; /* patches of the runtime, RSDK_PATCHES_* */
    bool without_spirv;
    rsdk_gpu_modes modes;
    rsdk_name_table places; /* places of targets whose processor is among the modes */
    RSDK_LIST(rsdk_compatibility) cells;
    rsdk_compatibility *next; /* the row in hand */
    rsdk_compatibility *none; /* the row of all other targets */
} rsdk_fit_table;

/* Make the table. Call this when the modes are known. */
rsdk_status rsdk_fit_table_init(rsdk_fit_table *table, rsdk_error *error);

/* Return the row of a target, with a result for each mode; it holds until the next one is asked for. NULL when out of
 * memory. */
const rsdk_compatibility *rsdk_fit_table_row(rsdk_fit_table *table, const char *target);

/* A file in one mode of a GPU. */
typedef struct rsdk_file_fit {
    rsdk_code_fit worst;   /* over the bundles that have something for it */
    rsdk_code_fit best;    /* over all images */
    rsdk_misfit misfit;    /* the nearest reason why a bundle has nothing */
    size_t covered, total; /* bundles; images outside of bundles count as one */
} rsdk_file_fit;

/* Fill `fits`, one for each mode. Temporary data lives in `scratch`. */
rsdk_status rsdk_file_fits(const rsdk_device_code *code, rsdk_fit_table *table, rsdk_arena *scratch,
                           rsdk_file_fit *fits, rsdk_error *error);

#endif
