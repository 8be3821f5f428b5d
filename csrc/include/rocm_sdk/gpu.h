/* The GPUs of this machine, and the table of gfx targets.
 *
 *     rsdk_gpu_environment environment = {.hip_visible_devices = getenv("HIP_VISIBLE_DEVICES")};
 *     rsdk_gpu_options options = {.environment = &environment};
 *     rsdk_gpu_list *list = NULL;
 *     if (rsdk_gpu_list_new(&options, &list, &error) != RSDK_OK) { puts(rsdk_error_message(&error)); }
 *     for (size_t i = 0; i < rsdk_gpu_list_count(list); i++) { puts(rsdk_gpu_list_get(list, i)->target); }
 *     rsdk_gpu_list_free(list);
 *
 * The kernel's KFD topology is read: no process is started, nothing of ROCm is needed, no GPU is woken up. There is no
 * global state; the environment comes in as values. */
#ifndef ROCM_SDK_GPU_H
#define ROCM_SDK_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rocm_sdk/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- targets ---- */

/* The ability of a processor to restart memory accesses after a page fault, and who decides about it. */
typedef enum rsdk_xnack_support {
    RSDK_XNACK_NONE,       /* the processor cannot */
    RSDK_XNACK_OF_DRIVER,  /* the processor can; the driver decides, for good */
    RSDK_XNACK_OF_PROCESS, /* the processor can; each process decides (HSA_XNACK) */
    RSDK_XNACK_ALWAYS,     /* the processor always does; a target id does not mention it */
} rsdk_xnack_support;

typedef enum rsdk_gpu_class { RSDK_GPU_DISCRETE, RSDK_GPU_DATA_CENTRE, RSDK_GPU_INTEGRATED } rsdk_gpu_class;

/* Return the value as a word: "discrete", "data centre", "integrated". */
const char *rsdk_gpu_class_name(rsdk_gpu_class gpu_class);

enum { RSDK_TARGET_FAMILY_LIMIT = 4 };

/* A gfx target. NULL stands for "none". */
typedef struct rsdk_target {
    const char *name;               /* "gfx90a" */
    uint8_t major, minor, stepping; /* ISA numbers: 9, 0, 10 */
    uint8_t mach;                   /* EF_AMDGPU_MACH, the low byte of e_flags */
    rsdk_xnack_support xnack;
    bool has_sramecc;
    rsdk_gpu_class gpu_class;
    const char *product;                            /* the product's name, or the chip's */
    const char *families[RSDK_TARGET_FAMILY_LIMIT]; /* packaging families besides its own name, then NULL; none: ROCm is
                                                       not built for it */
    const char *generic;                            /* the LLVM generic target whose code it runs */
    const char *sub_family, *family;                /* names in the packaging hierarchy: "gfx9_0", "gfx9" */
    const char *package_owner;                      /* the target whose packages support it; NULL: its own */
} rsdk_target;

/* An LLVM generic target; the targets that name it in `generic` run its code. */
typedef struct rsdk_generic_target {
    const char *name;
    rsdk_xnack_support xnack;
    uint8_t mach;
    bool has_sramecc;
} rsdk_generic_target;

typedef enum rsdk_family_level {
    RSDK_FAMILY_OF_PACKAGES,  /* "gfx94X-dcgpu", a family that the SDK is built and named for */
    RSDK_FAMILY_OF_HIERARCHY, /* "gfx9" */
    RSDK_SUB_FAMILY,          /* "gfx9_4" */
} rsdk_family_level;

/* A name for several targets. */
typedef struct rsdk_target_family {
    const char *name;
    const char *alias; /* another name of it, or NULL */
    rsdk_family_level level;
} rsdk_target_family;

size_t rsdk_target_count(void);
const rsdk_target *rsdk_target_get(size_t index); /* NULL behind the last */

/* Find a target: by its exact name without features; by ISA numbers (12.5.0 is gfx1250, never gfx1250-strict); by
 * EF_AMDGPU_MACH. NULL where there is none. */
const rsdk_target *rsdk_target_find(const char *name);
const rsdk_target *rsdk_target_find_version(unsigned major, unsigned minor, unsigned stepping);
const rsdk_target *rsdk_target_find_mach(unsigned mach);

size_t rsdk_target_generic_count(void);
const rsdk_generic_target *rsdk_target_generic_get(size_t index);
const rsdk_generic_target *rsdk_target_generic_find(const char *name);

size_t rsdk_target_family_count(void);
const rsdk_target_family *rsdk_target_family_get(size_t index);

/* Find a family by its name or alias; '_' and '-', 'x' and 'X' are the same: "gfx94X-dcgpu", "gfx9_4", "gfx9-4",
 * "gfx94x". */
const rsdk_target_family *rsdk_target_family_find(const char *name);

/* Return whether ROCm is built for `target` and the family contains it. */
bool rsdk_target_family_contains(const rsdk_target_family *family, const rsdk_target *target);

/* Return the targets that a list of targets and families, separated by ',' or ';', stands for: in order, each once.
 * `targets` must hold rsdk_target_count(). RSDK_BAD_ARGUMENT for an unknown name, with the nearest known ones. */
rsdk_status rsdk_target_expand(const char *list, const rsdk_target **targets, size_t *count, rsdk_error *error);

/* Return the packaging families of a target, its own name first: `families` must hold RSDK_TARGET_FAMILY_LIMIT + 1.
 * There are none where ROCm is not built for the target. The target may carry features. RSDK_BAD_ARGUMENT as above. */
rsdk_status rsdk_target_families_of(const char *target, const char **families, size_t *count, rsdk_error *error);

/* Return the target whose packages support this one, which may carry features. RSDK_BAD_ARGUMENT as above. */
rsdk_status rsdk_target_package_owner(const char *target, const char **owner, rsdk_error *error);

/* Check a target id, which is a target and the features its code is built for in any order, and write it as the tools
 * do: "gfx942:xnack-:sramecc+" becomes "gfx942:sramecc+:xnack-". RSDK_BAD_ARGUMENT for an unknown target, as above, and
 * for features that the target does not have. */
enum { RSDK_TARGET_ID_SIZE = 64 };
rsdk_status rsdk_target_id_normalize(const char *id, char normal[RSDK_TARGET_ID_SIZE], rsdk_error *error);

/* Find the known targets and families that `name` may have been meant for, the nearest first; return how many. */
size_t rsdk_target_nearest(const char *name, const char *nearest[], size_t limit);

/* ---- GPUs ---- */

/* The variables that change the GPUs that ROCm sees; NULL: not set. Empty is not the same. */
typedef struct rsdk_gpu_node_override {
    unsigned node; /* n of HSA_OVERRIDE_GFX_VERSION_n */
    const char *value;
} rsdk_gpu_node_override;

typedef struct rsdk_gpu_environment {
    const char *rocr_visible_devices;
    const char *hip_visible_devices;
    const char *cuda_visible_devices;
    const char *gpu_device_ordinal;
    const char *hsa_override_gfx_version;
    const rsdk_gpu_node_override *node_overrides;
    size_t node_override_count;
    const char *hsa_xnack;
    const char *hsa_enable_sramecc;
    const char *hsa_disable_gfx12_strict;
    const char *hsa_enable_dxg_detection;
} rsdk_gpu_environment;

typedef struct rsdk_gpu_options {
    const char *root;                        /* the file system's root; NULL: "/" */
    const rsdk_gpu_environment *environment; /* NULL: no variable is set */
    bool targets_only; /* quicker: name, gpu_id, uuid, places, partitions and memory are left out, and device files are
                          assumed to exist */
    const char *refused; /* a device file that an open was tried of, which has the last word; NULL: none */
    int refusal;         /* errno of that open */
} rsdk_gpu_options;

typedef enum rsdk_feature { RSDK_FEATURE_UNSUPPORTED, RSDK_FEATURE_OFF, RSDK_FEATURE_ON } rsdk_feature;

/* A GPU, or a partition of one. Texts are borrowed from the list. */
typedef struct rsdk_gpu {
    const char *target;         /* the target that ROCm presents, with features: "gfx942:sramecc+:xnack-" */
    const char *processor;      /* the same without features */
    const char *real_processor; /* the real one, whatever HSA_OVERRIDE_GFX_VERSION says; "unknown": nothing tells */
    bool is_known;              /* real_processor is in the table of targets */
    bool is_overridden;         /* an HSA_OVERRIDE_GFX_VERSION applies to it */
    rsdk_feature xnack, sramecc;
    bool is_xnack_guessed;    /* only the driver knows, and it is not asked */
    rsdk_gpu_class gpu_class; /* discrete where is_known is false */
    const char *name;         /* marketing name; NULL with targets_only */

    unsigned node;      /* KFD node number, as in sysfs */
    int hsa_node;       /* number that ROCm gives to the node, n of HSA_OVERRIDE_GFX_VERSION_n; -1: left out */
    uint64_t gpu_id;    /* KFD's hash, 0 with targets_only */
    uint64_t unique_id; /* serial number, 0: unknown */
    const char *uuid;   /* "GPU-" and unique_id in 16 hexadecimal digits; "GPU-XX": unknown; NULL with targets_only */
    uint64_t hive_id;   /* XGMI hive, 0: none */

    const char *pci_address; /* "0000:c1:00.0"; NULL with targets_only, as are the render node's two */
    uint16_t vendor_id, device_id;
    unsigned render_minor;    /* 128 stands for renderD128, 0: none */
    const char *render_node;  /* "/dev/dri/renderD128", below the root; NULL: none */
    unsigned compute_units;   /* 0: unknown */
    unsigned xcc_count;       /* accelerator complex dies in it, at least 1 */
    unsigned partition;       /* the partition's number, from 0 */
    unsigned partition_count; /* partitions of the GPU that are here; 1: not partitioned, 0 with targets_only */
    uint64_t memory;          /* bytes of its own memory; 0 with targets_only */

    int hip_index;       /* HIP's device number, whether or not its files can be opened; -1: HIP does not see it */
    int opencl_index;    /* number among OpenCL's GPUs; -1: not seen */
    bool is_usable;      /* HIP sees it, and this user may open its device files */
    const char *why_not; /* one line; NULL where it is usable */

    const char *hidden_by; /* the variable that hides it ("HIP_VISIBLE_DEVICES") where that is why; NULL */
    int rocr_index;        /* number among the GPUs that ROCR_VISIBLE_DEVICES leaves, which HIP and OpenCL count; -1 */

    const char *marketing_name; /* the GPU's name in amdgpu.ids, which HIP and rocminfo print; NULL: none */
    unsigned hip_processors;    /* multiProcessorCount of HIP: compute units, from gfx10 on pairs of them (WGPs) */
    bool has_old_doorbells;     /* it is from before Vega: ROCr from 7.0 on fails at it (rocm-systems 8801) */
} rsdk_gpu;

/* A problem that keeps a GPU from being used, or a setting that is probably a mistake. Texts are borrowed from the
 * list, one line each. The code is W-GPU-010 or a later one; rsdk_problem_make (rocm_sdk/problem.h) makes words of it.
 */
typedef struct rsdk_gpu_problem {
    rsdk_code code;
    int node;               /* KFD node that it is about; -1: all */
    const char *path;       /* file or variable */
    const char *detail;     /* the finding */
    const rsdk_fact *facts; /* `detail` and others that the texts of the code name */
    size_t fact_count;
} rsdk_gpu_problem;

typedef struct rsdk_gpu_list rsdk_gpu_list;

/* Read the machine. No driver and no GPU are results, with problems that say why. RSDK_IO_ERROR or RSDK_FILE_NOT_FOUND
 * where the topology is damaged or does not hold still; the error names the file. */
rsdk_status rsdk_gpu_list_new(const rsdk_gpu_options *options, rsdk_gpu_list **list, rsdk_error *error);
void rsdk_gpu_list_free(rsdk_gpu_list *list); /* NULL is allowed */

/* Return the number of GPUs, or one GPU by its index in the order of their nodes. */
size_t rsdk_gpu_list_count(const rsdk_gpu_list *list);
const rsdk_gpu *rsdk_gpu_list_get(const rsdk_gpu_list *list, size_t index); /* NULL behind the last */

/* Return the number of GPU nodes that the device cgroup hides: the kernel says that they exist, and nothing else. */
size_t rsdk_gpu_list_hidden_count(const rsdk_gpu_list *list);

size_t rsdk_gpu_list_problem_count(const rsdk_gpu_list *list);
const rsdk_gpu_problem *rsdk_gpu_list_problem(const rsdk_gpu_list *list, size_t index); /* NULL behind the last */

/* ---- variables for some of the GPUs ---- */

/* The variable that chooses: HIP_VISIBLE_DEVICES, which HIP reads, or ROCR_VISIBLE_DEVICES, which holds for OpenMP and
 * OpenCL too. */
typedef enum rsdk_gpu_layer { RSDK_GPU_LAYER_HIP, RSDK_GPU_LAYER_ROCR } rsdk_gpu_layer;

typedef struct rsdk_gpu_selection {
    const char *words; /* separated by ',': HIP's device numbers, "discrete" (all that are not integrated),
                          "integrated", "supported", targets and families, UUIDs */
    rsdk_gpu_layer layer;
    const char *const *supported; /* targets that "supported" stands for, NULL behind the last; NULL: none */
} rsdk_gpu_selection;

typedef struct rsdk_gpu_variable {
    const char *name, *value; /* NULL as value: it is to be removed */
} rsdk_gpu_variable;

enum { RSDK_GPU_VARIABLE_LIMIT = 4 };

/* Compute the variables of a process that is to see only the chosen GPUs of `list`, which was read with `environment`
 * (NULL: no variable is set): `variables` must hold RSDK_GPU_VARIABLE_LIMIT. A GPU that the environment hides is never
 * chosen. Texts live in the list. RSDK_BAD_ARGUMENT if nothing is chosen, for an unknown word, and for a number or UUID
 * that no visible GPU has. */
rsdk_status rsdk_gpu_list_choose(rsdk_gpu_list *list, const rsdk_gpu_environment *environment,
                                 const rsdk_gpu_selection *selection, rsdk_gpu_variable *variables, size_t *count,
                                 rsdk_error *error);

/* ---- health ---- */

typedef enum rsdk_health_state {
    RSDK_HEALTH_GOOD,
    RSDK_HEALTH_BAD,     /* `problem` names the fault */
    RSDK_HEALTH_UNKNOWN, /* the kernel does not say it, or not to this user */
    RSDK_HEALTH_FACT,    /* neither good nor bad in itself */
} rsdk_health_state;

/* Return the value as a word: "good", "bad", "unknown", "fact". */
const char *rsdk_health_state_name(rsdk_health_state state);

/* A finding about a GPU, or about the machine. Texts are borrowed from the rsdk_health. */
typedef struct rsdk_health_item {
    const char *check; /* "power", "kernel", "firmware", "memory", "BAR", "atomics", "errors", "bus", "IOMMU" */
    int node;          /* KFD node; -1: the machine */
    rsdk_health_state state;
    const char *text;                /* the finding, one line */
    const rsdk_gpu_problem *problem; /* NULL unless bad */
} rsdk_health_item;

typedef struct rsdk_health rsdk_health;

/* Read the condition of the GPUs of a list, as the kernel shows it; the list was made with the same `root` and without
 * targets_only. A GPU that is asleep is not woken: its item says so, and nothing else of it is read. The list may be
 * freed before the result. RSDK_NO_MEMORY is the only failure: an item that cannot be read is unknown. */
rsdk_status rsdk_health_new(const rsdk_gpu_list *list, const char *root, rsdk_health **health, rsdk_error *error);
void rsdk_health_free(rsdk_health *health); /* NULL is allowed */

/* Return the number of items, or one item by its index: GPU by GPU in the order of their nodes, then the machine's. */
size_t rsdk_health_count(const rsdk_health *health);
const rsdk_health_item *rsdk_health_get(const rsdk_health *health, size_t index); /* NULL behind the last */

/* ---- what fits ---- */

/* Families are indices; their count stands for "none". */
typedef struct rsdk_family_choice {
    size_t family; /* the family that fits the machine's GPUs */
    size_t other;  /* a family that another visible GPU would need instead */
    char gpu[32];  /* the processor of the GPU that decided; "" where none did */
} rsdk_family_choice;

/* Return the index of the family that fits a processor ("gfx942") best, of equal ones the first; `count` where none
 * does. */
size_t rsdk_family_find_best(const char *const *families, size_t count, const char *processor);

/* Choose the family that the machine needs from the `families` that are offered ("gfx94X-dcgpu", "gfx1100",
 * "gfx942:xnack+"). The GPU with the greatest weight decides: visible before hidden, discrete before integrated, then
 * more memory, then the order of nodes; GPUs that no family fits do not count. For one GPU a family of its series goes
 * before its own name, as with the established `rocm` package. Errors as with rsdk_gpu_list_new. */
rsdk_status rsdk_family_choose(const rsdk_gpu_options *options, const char *const *families, size_t count,
                               rsdk_family_choice *choice, rsdk_error *error);

#ifdef __cplusplus
}
#endif
#endif
