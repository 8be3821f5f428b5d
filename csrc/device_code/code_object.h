/* AMDGPU code objects: for which target the ELF header says that the code is. Source: LLVM's AMDGPUUsage, "ELF Code
 * Object". */
#ifndef RSDK_DEVICE_CODE_CODE_OBJECT_H
#define RSDK_DEVICE_CODE_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "elf/elf_header.h"
#include "rocm_sdk/gpu.h"

typedef struct rsdk_code_object {
    char target[RSDK_TARGET_ID_SIZE]; /* "gfx90a:xnack-", "mach-0x7f" for one that is not known; "" where only notes
                                         tell it */
    unsigned version;                 /* 2 to 6, 0 where it is not for the HSA runtime */
    unsigned generic_version;         /* 0 where the target is not generic */
} rsdk_code_object;

/* Return whether an ELF file is code for AMD's GPUs. */
bool rsdk_code_object_is(const rsdk_elf_header *header);

void rsdk_code_object_describe(const rsdk_elf_header *header, rsdk_code_object *object);

#endif
