/* The kernel side of a GPU that can be used: driver, device files, permissions. Nothing is opened: that would wake a
 * sleeping GPU up. */
#ifndef RSDK_GPU_ACCESS_H
#define RSDK_GPU_ACCESS_H

#include <stdbool.h>

#include "gpu/pci_bus.h"
#include "gpu/problem_list.h"

typedef struct rsdk_access {
    const char *root; /* without '/' at its end */
    const rsdk_gpu_environment *environment;
    rsdk_problem_list *problems;
    rsdk_pci_bus *bus; /* read where no driver tells of a GPU */
} rsdk_access;

typedef enum rsdk_device_state {
    RSDK_DEVICE_OPENS,    /* the device opens for reading and writing */
    RSDK_DEVICE_LEFT_OUT, /* not there, or refused by the device cgroup: ROCm goes on without it */
    RSDK_DEVICE_REFUSED,  /* ROCm finds no GPU at all */
} rsdk_device_state;

/* Add the problems, of the driver or of WSL2, that explain why there is no GPU. `has_topology`: KFD is there and knows
 * none. */
rsdk_status rsdk_access_explain_no_gpu(rsdk_access *access, bool has_topology, rsdk_error *error);

/* Check /dev/kfd. *detail is NULL if it can be opened, else the detail of the problem that is added. */
rsdk_status rsdk_access_check_kfd(rsdk_access *access, const char **detail, rsdk_error *error);

/* Check the render node of a GPU (renderD<minor>; 0: it has none). *detail as above. */
rsdk_status rsdk_access_check_render_node(rsdk_access *access, unsigned minor, int node, rsdk_device_state *state,
                                          const char **detail, rsdk_error *error);

#endif
