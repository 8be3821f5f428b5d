/* AMD's GPUs on the PCI bus, as the kernel shows them in sysfs: also those that KFD does not have. */
#ifndef RSDK_GPU_PCI_GPU_H
#define RSDK_GPU_PCI_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

/* What the driver found in the GPU: the version of its graphics and compute block. */
typedef struct rsdk_pci_gpu {
    const char *address; /* "0000:c1:00.0" */
    uint16_t device_id;  /* 0: not known */
    bool has_gc_version; /* only the amdgpu driver tells it */
    unsigned gc_version[3];
} rsdk_pci_gpu;

typedef RSDK_LIST(rsdk_pci_gpu) rsdk_pci_gpus;

/* The GPUs, ordered by address, in `arena`. `root` without '/' at its end. A directory that cannot be read has none. */
rsdk_status rsdk_pci_gpus_read(const char *root, rsdk_arena *arena, rsdk_pci_gpus *gpus, rsdk_error *error);

#endif
