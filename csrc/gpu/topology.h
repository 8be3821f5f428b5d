/* The facts that the system tells of its GPUs. First KFD's topology as the kernel shows it in sysfs: the nodes, read
 * as one consistent picture. */
#ifndef RSDK_GPU_TOPOLOGY_H
#define RSDK_GPU_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "gpu/gpu_runtime.h"
#include "gpu/pci_bus.h"
#include "gpu/problem_list.h"
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

/* Marketing names: from libdrm's amdgpu.ids, else from our own table. */

/* The file, read at the first question. */
typedef struct rsdk_product_names {
    const char *root;    /* without '/' at its end */
    rsdk_arena *scratch; /* holds the file's text */
    bool is_read;
    const char *text; /* NULL: there is no such file */
    size_t length;
} rsdk_product_names;

/* Find the name of a device in the file. *name is a copy in `arena`; NULL where the file does not name the device. The
 * PCI address leads to the revision that tells devices of one id apart. Only RSDK_NO_MEMORY is an error. */
rsdk_status rsdk_product_name_find(rsdk_product_names *names, const char *pci_address, unsigned device_id,
                                   rsdk_arena *arena, const char **name, rsdk_error *error);

/* Return the name in the table, which has one name for all devices of an id; NULL: it has none. */
const char *rsdk_product_name_of_device(unsigned device_id);

/* The kernel side of a GPU that can be used: driver, device files, permissions. Nothing is opened: that would wake a
 * sleeping GPU up. */

typedef struct rsdk_access {
    const char *root; /* without '/' at its end */
    const rsdk_gpu_environment *environment;
    rsdk_problem_list *problems;
    rsdk_pci_bus *bus; /* read where no driver tells of a GPU */
    const rsdk_gpu_options *options;
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

/* The device numbers that HIP and OpenCL give to GPUs, by the visibility variables. */

/* The GPUs to number. Everything is borrowed. */
typedef struct rsdk_device_numbering {
    rsdk_gpu *gpus; /* in the order of their nodes; GPUs without hsa_node get no number */
    size_t gpu_count;
    const rsdk_gpu_environment *environment;
    rsdk_gpu_runtime runtime;
    rsdk_problem_list *problems; /* values of variables that are probably set by mistake; texts go into its arena */
    rsdk_arena *scratch;
} rsdk_device_numbering;

/* Fill rocr_index, hip_index and opencl_index, and, for GPUs that are left out, why_not and hidden_by, unless why_not
 * is filled already. */
rsdk_status rsdk_device_numbering_fill(const rsdk_device_numbering *numbering, rsdk_error *error);

#endif
