/* KFD's topology as the kernel shows it in sysfs: the nodes, read as one consistent picture. */
#ifndef RSDK_GPU_TOPOLOGY_H
#define RSDK_GPU_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "gpu/properties.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_kfd_node {
    unsigned number;
    bool is_hidden; /* the device cgroup refuses to show it; the rest is 0 then */
    rsdk_node_properties properties;
    uint64_t gpu_id; /* with details */
    uint64_t memory; /* bytes in its own banks, with details */
} rsdk_kfd_node;

typedef struct rsdk_topology {
    bool exists;                    /* false: the kernel has no KFD */
    RSDK_LIST(rsdk_kfd_node) nodes; /* in numeric order, hidden ones too */
} rsdk_topology;

/* Read the topology. `root` has no '/' at its end: "" for the running system. */
rsdk_status rsdk_topology_read(const char *root, bool with_details, rsdk_arena *arena, rsdk_topology *topology,
                               rsdk_error *error);

#endif
