/* How the code of one file fits GPUs. A GPU whose mode is open counts as several, one in each mode. */
#ifndef RSDK_DEVICE_CODE_FITS_H
#define RSDK_DEVICE_CODE_FITS_H

#include "base/arena.h"
#include "rocm_sdk/compatibility.h"
#include "rocm_sdk/device_code.h"
#include "rocm_sdk/gpu.h"

/* A GPU in one mode. */
typedef struct rsdk_gpu_mode {
    size_t gpu; /* index of the GPU */
    char id[RSDK_TARGET_ID_SIZE];
} rsdk_gpu_mode;

typedef RSDK_LIST(rsdk_gpu_mode) rsdk_gpu_modes;

/* Adds the modes that the target id of a GPU leaves open: four for "gfx90a", one for "gfx1030". RSDK_BAD_ARGUMENT where
 * it is no target id. */
rsdk_status rsdk_gpu_modes_add(rsdk_gpu_modes *modes, rsdk_arena *arena, size_t gpu, const char *id, rsdk_error *error);

/* A file in one mode of a GPU. */
typedef struct rsdk_file_fit {
    rsdk_code_fit worst;   /* over the bundles that have something for it */
    rsdk_code_fit best;    /* over all images */
    rsdk_misfit misfit;    /* why a bundle has nothing: the reason that comes nearest */
    size_t covered, total; /* bundles. What lies outside of bundles counts as one */
} rsdk_file_fit;

/* Fills `fits`, one for each mode. Everything that is needed on the way lives in `scratch`. */
rsdk_status rsdk_file_fits(const rsdk_device_code *code, const rsdk_gpu_modes *modes, unsigned patches,
                           rsdk_arena *scratch, rsdk_file_fit *fits, rsdk_error *error);

#endif
