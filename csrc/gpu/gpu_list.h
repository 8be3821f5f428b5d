/* What the other files of this directory may know of a list of GPUs. */
#ifndef RSDK_GPU_GPU_LIST_H
#define RSDK_GPU_GPU_LIST_H

#include "base/arena.h"
#include "gpu/pci_bus.h"
#include "rocm_sdk/gpu.h"

/* Where texts that live as long as the list are put. */
rsdk_arena *rsdk_gpu_list_arena(rsdk_gpu_list *list);

/* The PCI bus of its machine, which lives as long as the list. */
rsdk_status rsdk_gpu_list_bus(rsdk_gpu_list *list, const rsdk_pci_bus **bus, rsdk_error *error);

#endif
