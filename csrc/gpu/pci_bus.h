/* AMD's GPUs on the PCI bus, as the kernel shows them in sysfs: also GPUs that KFD does not have. */
#ifndef RSDK_GPU_PCI_BUS_H
#define RSDK_GPU_PCI_BUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_pci_gpu {
    const char *address; /* "0000:c1:00.0" */
    bool is_lent;        /* another driver than amdgpu has it: it is passed on to a virtual machine */
} rsdk_pci_gpu;

typedef struct rsdk_pci_bus {
    const char *root; /* without '/' at its end */
    bool is_read;
    bool exists;                  /* false: there is none, or it cannot be listed */
    RSDK_LIST(rsdk_pci_gpu) gpus; /* ordered by address */
} rsdk_pci_bus;

/* List the bus, once. No attribute is read that could wake a GPU. */
rsdk_status rsdk_pci_bus_read(rsdk_pci_bus *bus, rsdk_arena *arena, rsdk_error *error);

/* The identity of a device: its PCI id, and the version of its graphics and compute block. */
typedef struct rsdk_pci_identity {
    unsigned device_id;  /* 0: not known */
    bool has_gc_version; /* only the amdgpu driver tells it */
    unsigned gc_version[3];
} rsdk_pci_identity;

rsdk_pci_identity rsdk_pci_bus_identify(const rsdk_pci_bus *bus, const rsdk_pci_gpu *gpu);

#endif
