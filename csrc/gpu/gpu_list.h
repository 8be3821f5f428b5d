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

/* The GPUs of a machine, for a choice of packages: also before its driver works. Visibility and overrides do not
 * count: the installed packages serve all GPUs. */

typedef enum rsdk_detection_source {
    RSDK_DETECTED_BY_KFD,
    RSDK_DETECTED_BY_DRIVER, /* amdgpu's, where KFD has no GPU */
    RSDK_DETECTED_BY_PCI_ID, /* a guess */
} rsdk_detection_source;

/* Return the value as a word: "KFD", "amdgpu", "PCI id". */
const char *rsdk_detection_source_name(rsdk_detection_source source);

typedef struct rsdk_detected_gpu {
    const char *target; /* NULL: nothing tells it, or it is not in the table */
    rsdk_gpu_class gpu_class;
    rsdk_detection_source source;
    const char *place; /* "node 1", or its PCI address */
} rsdk_detected_gpu;

typedef RSDK_LIST(rsdk_detected_gpu) rsdk_detected_gpus;

/* Find the GPUs of KFD in the order of their nodes; if there are none, the GPUs on the PCI bus in the order of their
 * addresses. All results are in `arena`. `root` is the file system's, NULL: "/". Errors as with rsdk_gpu_list_new. */
rsdk_status rsdk_detection_read(const char *root, rsdk_arena *arena, rsdk_detected_gpus *gpus, rsdk_error *error);

#endif
