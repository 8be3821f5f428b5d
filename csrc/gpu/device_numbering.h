/* The device numbers that HIP and OpenCL give to GPUs, by the visibility variables. */
#ifndef RSDK_GPU_DEVICE_NUMBERING_H
#define RSDK_GPU_DEVICE_NUMBERING_H

#include "gpu/gpu_runtime.h"
#include "gpu/problem_list.h"

/* The GPUs to number. Everything is borrowed. */
typedef struct rsdk_device_numbering {
    rsdk_gpu *gpus; /* in the order of their nodes; GPUs without hsa_node get no number */
    size_t gpu_count;
    const rsdk_gpu_environment *environment;
    rsdk_gpu_runtime runtime;
    rsdk_problem_list *problems; /* values of variables that are probably set by mistake; texts go into its arena */
    rsdk_arena *scratch;
} rsdk_device_numbering;

/* Fill rocr_index, hip_index and opencl_index, and, for GPUs that are left out, why_not and hidden_by, unless why_not
 * is filled already. */
rsdk_status rsdk_device_numbering_fill(const rsdk_device_numbering *numbering, rsdk_error *error);

#endif
