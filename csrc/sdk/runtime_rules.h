/* The rules by which a libhsa-runtime64 reads the variables that choose and present GPUs, as its file shows. */
#ifndef RSDK_SDK_RUNTIME_RULES_H
#define RSDK_SDK_RUNTIME_RULES_H

#include "gpu/gpu_runtime.h"

/* Read the rules of the libhsa-runtime64 at a path. Errors as of rsdk_elf_file_read. */
rsdk_status rsdk_runtime_rules_read(const char *path, rsdk_gpu_runtime *runtime, rsdk_error *error);

#endif
