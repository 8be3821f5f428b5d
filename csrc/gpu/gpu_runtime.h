/* The differences between ROCm's runtimes in reading the variables: by build and by release. */
#ifndef RSDK_GPU_GPU_RUNTIME_H
#define RSDK_GPU_GPU_RUNTIME_H

#include <stdbool.h>

#include "rocm_sdk/gpu.h"

/* Zero: which runtime a program will have is not known. */
typedef struct rsdk_gpu_runtime {
    bool reads_binary;          /* "0b1" in ROCR_VISIBLE_DEVICES is 1: it has the strtol of glibc 2.38 */
    bool takes_any_version;     /* HSA_OVERRIDE_GFX_VERSION is as in ROCr 6.4.3, before rocm-systems 5686 */
    bool ends_at_old_doorbells; /* it finds no GPU beside one before Vega, as ROCr from 7.0 to rocm-systems 4936 */
    bool skips_old_doorbells;   /* it leaves out such a GPU alone, as ROCr from 4936 on */
} rsdk_gpu_runtime;

/* Return whether the variables have a value that these runtimes read differently: a binary number, an empty override;
 * of a list that is read (NULL: none is), whether some of its GPUs have doorbells of an older type. */
bool rsdk_gpu_runtime_matters(const rsdk_gpu_environment *environment, const rsdk_gpu_list *list);

/* Make a list as rsdk_gpu_list_new does, for a runtime that is known. */
rsdk_status rsdk_gpu_list_new_for(const rsdk_gpu_options *options, rsdk_gpu_runtime runtime, rsdk_gpu_list **list,
                                  rsdk_error *error);

#endif
