/* What the other files of this directory may know of a list of GPUs. */
#ifndef RSDK_GPU_GPU_LIST_H
#define RSDK_GPU_GPU_LIST_H

#include "base/arena.h"
#include "rocm_sdk/gpu.h"

/* Where texts that live as long as the list are put. */
rsdk_arena *rsdk_gpu_list_arena(rsdk_gpu_list *list);

#endif
