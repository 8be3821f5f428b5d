/* What the C library is told about the machine's GPUs: the variables of this process's environment. */
#ifndef RSDK_PYTHON_GPU_OPTIONS_H
#define RSDK_PYTHON_GPU_OPTIONS_H

#include "module.h"
#include "rocm_sdk/gpu.h"

typedef struct rsdk_process_gpus {
    rsdk_gpu_options options; /* points into this struct, which therefore must stay where it is */
    rsdk_gpu_environment environment;
    rsdk_gpu_node_override *node_overrides;
} rsdk_process_gpus;

/* Takes the environment as it is; the root of the file system is ROCM_SDK_ROOTFS or "/". Returns 0, or -1 with an
 * exception. To be cleared in both cases. */
int rsdk_process_gpus_init(rsdk_process_gpus *gpus);
void rsdk_process_gpus_clear(rsdk_process_gpus *gpus);

#endif
