/* The parts of a list of GPUs that the other files of this directory may use. */
#ifndef RSDK_GPU_GPU_LIST_H
#define RSDK_GPU_GPU_LIST_H

#include "base/arena.h"
#include "gpu/pci_bus.h"
#include "rocm_sdk/gpu.h"

/* Return the arena for texts that live as long as the list. */
rsdk_arena *rsdk_gpu_list_arena(rsdk_gpu_list *list);

/* Return the PCI bus of the list's machine, which lives as long as the list. */
rsdk_status rsdk_gpu_list_bus(rsdk_gpu_list *list, const rsdk_pci_bus **bus, rsdk_error *error);

#endif
