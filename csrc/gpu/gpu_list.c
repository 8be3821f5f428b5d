/* The list of GPUs: what the topology says, then what stands between a GPU and its user, in the order in which ROCm
 * goes about it: device files, overrides, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "gpu/access.h"
#include "gpu/features.h"
#include "gpu/override.h"
#include "gpu/problem_list.h"
#include "gpu/product_name.h"
#include "gpu/shown_input.h"
#include "gpu/topology.h"
#include "gpu/visibility.h"

struct rsdk_gpu_list {
    rsdk_arena arena; /* holds the list itself too */
    RSDK_LIST(rsdk_gpu) gpus;
    rsdk_problem_list problems;
    size_t hidden_count;
};

typedef struct builder {
    rsdk_gpu_list *list;
    rsdk_arena scratch;
    const rsdk_gpu_environment *environment;
    bool targets_only;
    rsdk_access access;
    rsdk_topology topology;
    rsdk_product_names names;
    const char *kfd_fault;      /* why nothing can be used; NULL */
    const char *start_fault;    /* a render node that makes ROCm find no GPU; NULL */
    const char *override_fault; /* a variable that does; NULL */
    bool failed;                /* an allocation failed */
} builder;

/* The first reason counts: it is what ROCm meets first. */
static void blame(builder *b, rsdk_gpu *gpu, const char *why_not) {
    b->failed |= why_not == NULL;
    gpu->why_not = gpu->why_not == NULL ? why_not : gpu->why_not;
}

/* ---- what the topology says ---- */

static void fill_places(builder *b, const rsdk_node_properties *properties, rsdk_gpu *gpu) {
    rsdk_arena *arena = &b->list->arena;
    uint64_t location = properties->location_id;
    char uuid[RSDK_UUID_SIZE];
    rsdk_visibility_format_uuid(properties->unique_id, uuid);
    gpu->uuid = rsdk_arena_copy(arena, uuid);
    gpu->pci_address =
        rsdk_arena_format(arena, "%04" PRIx64 ":%02x:%02x.%u", properties->domain, (unsigned)(location >> 8 & 0xFF),
                          (unsigned)(location >> 3 & 0x1F), (unsigned)(location & 7));
    if (properties->drm_render_minor <= INT32_MAX) { /* -1 is printed without its sign */
        gpu->render_minor = (unsigned)properties->drm_render_minor;
    }
    if (gpu->render_minor != 0) {
        gpu->render_node = rsdk_arena_format(arena, "/dev/dri/renderD%u", gpu->render_minor);
        b->failed |= gpu->render_node == NULL;
    }
    b->failed |= gpu->uuid == NULL || gpu->pci_address == NULL;
}

static void fill_target(builder *b, const rsdk_node_properties *properties, rsdk_gpu *gpu) {
    rsdk_isa_version version;
    gpu->target = gpu->processor = gpu->real_processor = "unknown";
    if (!rsdk_features_isa_version(properties, &version)) {
        return;
    }
    const rsdk_target *target = rsdk_target_find_version(version.major, version.minor, version.stepping);
    b->failed |= !rsdk_features_fill(&b->list->arena, version, properties->capability, b->environment, gpu);
    gpu->real_processor = target != NULL ? target->name : gpu->processor;
    gpu->is_known = target != NULL;
    gpu->gpu_class = target != NULL ? target->gpu_class : RSDK_GPU_DISCRETE;
}

static rsdk_status fill_name(builder *b, rsdk_gpu *gpu, rsdk_error *error) {
    const rsdk_target *target = rsdk_target_find(gpu->real_processor);
    rsdk_status status =
        rsdk_product_name_find(&b->names, gpu->pci_address, gpu->device_id, &b->list->arena, &gpu->name, error);
    if (gpu->name == NULL) {
        gpu->name = target != NULL ? target->product : "AMD GPU";
    }
    return status;
}

static rsdk_status add_gpu(builder *b, const rsdk_kfd_node *node, rsdk_error *error) {
    const rsdk_node_properties *properties = &node->properties;
    rsdk_gpu gpu = {
        .node = node->number,
        .hsa_node = -1,
        .gpu_id = node->gpu_id,
        .unique_id = properties->unique_id,
        .hive_id = properties->hive_id,
        .vendor_id = (uint16_t)properties->vendor_id,
        .device_id = (uint16_t)properties->device_id,
        .xcc_count = properties->num_xcc != 0 ? (unsigned)properties->num_xcc : 1,
        .memory = node->memory,
        .hip_index = -1,
        .opencl_index = -1,
    };
    if (properties->simd_per_cu != 0) {
        gpu.compute_units = (unsigned)(properties->simd_count / properties->simd_per_cu);
    }
    if (!b->targets_only) {
        fill_places(b, properties, &gpu);
    }
    fill_target(b, properties, &gpu);
    if (b->failed) {
        return rsdk_fail_no_memory(error);
    }
    rsdk_status status = b->targets_only ? RSDK_OK : fill_name(b, &gpu, error);
    RSDK_PUSH(&b->list->arena, &b->list->gpus, gpu, b->failed);
    return b->failed ? rsdk_fail_no_memory(error) : status;
}

/* Partitions of one GPU are nodes that differ in the last digit of the PCI address at most. */
static void number_partitions(rsdk_gpu_list *list) {
    for (size_t i = 0; i < list->gpus.count; i++) {
        rsdk_gpu *gpu = &list->gpus.items[i];
        size_t device_length = strlen(gpu->pci_address) - 1;
        for (size_t j = 0; j < list->gpus.count; j++) {
            if (strncmp(gpu->pci_address, list->gpus.items[j].pci_address, device_length) == 0) {
                gpu->partition_count++;
                gpu->partition += j < i;
            }
        }
    }
}

/* ---- device files ---- */

/* ROCm numbers the nodes anew: without those that are hidden and those whose render node is not there. */
static void check_devices(builder *b) {
    int next = 0;
    size_t index = 0;
    if (b->list->gpus.count > 0 && !b->targets_only) {
        b->kfd_fault = rsdk_access_check_kfd(&b->access);
    }
    for (size_t i = 0; i < b->topology.nodes.count; i++) {
        const rsdk_kfd_node *node = &b->topology.nodes.items[i];
        if (node->is_hidden) {
            continue;
        }
        if (node->properties.simd_count == 0) {
            next++;
            continue;
        }
        rsdk_gpu *gpu = &b->list->gpus.items[index++];
        if (b->targets_only) {
            gpu->hsa_node = next++;
            continue;
        }
        const char *cause = NULL;
        rsdk_device_state state = rsdk_access_check_render_node(&b->access, gpu->render_minor, (int)gpu->node, &cause);
        if (state != RSDK_DEVICE_LEFT_OUT) {
            gpu->hsa_node = next++;
        }
        if (state == RSDK_DEVICE_REFUSED && b->start_fault == NULL) {
            b->start_fault = cause;
        }
        if (cause != NULL) {
            blame(b, gpu, cause);
        }
    }
}

static void report_hidden(builder *b) {
    rsdk_gpu_problem problem = {.kind = RSDK_GPU_NODES_HIDDEN, .node = RSDK_NO_NODE};
    problem.path = "/dev/dri";
    problem.cause = rsdk_arena_format(&b->list->arena, "the device cgroup hides %zu GPU node%s", b->list->hidden_count,
                                      b->list->hidden_count == 1 ? "" : "s");
    problem.fix = "start the container with --device=/dev/dri, or with each wanted --device=/dev/dri/renderD...";
    (void)rsdk_problem_list_add(&b->list->problems, problem);
}

/* ---- overrides ---- */

static void report_override(builder *b, const rsdk_gpu *gpu, const rsdk_override *override) {
    rsdk_arena *arena = &b->list->arena;
    bool is_invalid = override->state == RSDK_OVERRIDE_INVALID;
    rsdk_gpu_problem problem = {.node = (int)gpu->node, .path = "HSA_OVERRIDE_GFX_VERSION"};
    if (override->is_of_node) {
        problem.path = rsdk_arena_format(arena, "HSA_OVERRIDE_GFX_VERSION_%d", gpu->hsa_node);
    }
    const char *name = problem.path != NULL ? problem.path : "";
    problem.kind = is_invalid ? RSDK_GPU_OVERRIDE_INVALID : RSDK_GPU_OVERRIDE_UNKNOWN_TARGET;
    rsdk_shown_input value = rsdk_shown_input_make(override->value, strlen(override->value));
    problem.cause = is_invalid
                        ? rsdk_arena_format(arena, "%s=%s: is not major.minor.stepping, so ROCm finds no GPU at all",
                                            name, value.text)
                        : rsdk_arena_format(arena, "%s=%s: there is no %s, so ROCm leaves the GPU out", name,
                                            value.text, gpu->processor);
    problem.fix = "unset it, or give a version in decimal numbers, such as 10.3.0 for gfx1030 or 9.0.10 for gfx90a";
    const char *cause = rsdk_problem_list_add(&b->list->problems, problem);
    if (is_invalid && b->override_fault == NULL) {
        b->override_fault = cause;
    }
}

static void apply_override(builder *b, uint64_t capability, rsdk_gpu *gpu) {
    rsdk_override override = rsdk_override_of(b->environment, (unsigned)gpu->hsa_node);
    if (override.state == RSDK_OVERRIDE_VALID) {
        gpu->is_overridden = true;
        if (!rsdk_features_fill(&b->list->arena, override.version, capability, b->environment, gpu)) {
            b->failed = true;
            return;
        }
    }
    bool is_missing_target = gpu->is_overridden && rsdk_target_find(gpu->processor) == NULL;
    if (override.state == RSDK_OVERRIDE_INVALID || is_missing_target) {
        report_override(b, gpu, &override);
    }
}

static void apply_overrides(builder *b) {
    size_t index = 0;
    for (size_t i = 0; i < b->topology.nodes.count; i++) {
        const rsdk_kfd_node *node = &b->topology.nodes.items[i];
        if (node->properties.simd_count != 0) { /* 0 of hidden nodes too */
            rsdk_gpu *gpu = &b->list->gpus.items[index++];
            if (gpu->hsa_node >= 0 && strcmp(gpu->real_processor, "unknown") != 0) {
                apply_override(b, node->properties.capability, gpu);
            }
        }
    }
}

/* ---- visibility ---- */

/* GPUs of the list by their indices, in an order of their own. */
typedef struct numbering {
    size_t *gpus;
    size_t count;
} numbering;

typedef rsdk_selection (*grammar)(const char *value, const uint64_t *unique_ids, size_t count, size_t *chosen);

static void report_cut(builder *b, const char *variable, const char *value, const rsdk_selection *selection,
                       size_t device_count) {
    rsdk_arena *arena = &b->list->arena;
    static const char *const faults[] = {[RSDK_TOKEN_GOOD] = "",
                                         [RSDK_TOKEN_EMPTY] = "is empty",
                                         [RSDK_TOKEN_NOT_A_NUMBER] =
                                             "is neither a number as it must be written nor a UUID",
                                         [RSDK_TOKEN_OUT_OF_RANGE] = "is not the number of a device",
                                         [RSDK_TOKEN_UNKNOWN_UUID] = "is the UUID of no device",
                                         [RSDK_TOKEN_AMBIGUOUS_UUID] = "is the start of several UUIDs",
                                         [RSDK_TOKEN_REPEATED] = "names a device again"};
    const char *behind = selection->token + selection->token_length;
    behind += *behind == ',';
    rsdk_shown_input whole = rsdk_shown_input_make(value, strlen(value)),
                     rest = rsdk_shown_input_make(behind, strlen(behind));
    rsdk_shown_input token = rsdk_shown_input_make(selection->token, selection->token_length);
    rsdk_gpu_problem problem = {.kind = RSDK_GPU_VISIBILITY_CUT_SHORT, .node = RSDK_NO_NODE, .path = variable};
    problem.cause =
        rsdk_arena_format(arena, "%s=%s: \"%s\" %s, so the list ends there and leaves %zu of %zu devices%s%s%s",
                          variable, whole.text, token.text, faults[selection->fault], selection->count, device_count,
                          *behind != '\0' ? "; \"" : "", rest.text, *behind != '\0' ? "\" behind it is ignored" : "");
    problem.fix = "write device numbers from 0, without blanks or leading zeros, or UUIDs, each once";
    (void)rsdk_problem_list_add(&b->list->problems, problem);
}

/* "-1" alone is how users ask for no device at all. */
static bool is_meant(const char *value) {
    return strcmp(value, "-1") == 0;
}

/* The devices of `all` that a variable leaves; the others are blamed on it where `blames` is true. */
static numbering select_devices(builder *b, const char *variable, const char *value, grammar select, numbering all,
                                bool blames) {
    numbering left = {.gpus = rsdk_arena_alloc(&b->scratch, all.count + 1, sizeof *left.gpus)};
    uint64_t *ids = rsdk_arena_alloc(&b->scratch, all.count + 1, sizeof *ids);
    if (left.gpus == NULL || ids == NULL) {
        b->failed = true;
        return left;
    }
    for (size_t i = 0; i < all.count; i++) {
        ids[i] = b->list->gpus.items[all.gpus[i]].unique_id;
    }
    rsdk_selection selection = select(value, ids, all.count, left.gpus);
    if (selection.fault != RSDK_TOKEN_GOOD && all.count > 0 && !is_meant(value)) {
        report_cut(b, variable, value, &selection, all.count);
    }
    left.count = selection.count;
    for (size_t i = 0; i < left.count; i++) {
        left.gpus[i] = all.gpus[left.gpus[i]];
    }
    for (size_t i = 0; blames && left.count < all.count && i < all.count; i++) {
        bool is_left = false;
        for (size_t j = 0; j < left.count; j++) {
            is_left |= left.gpus[j] == all.gpus[i];
        }
        if (!is_left) {
            rsdk_shown_input shown = rsdk_shown_input_make(value, strlen(value));
            blame(b, &b->list->gpus.items[all.gpus[i]],
                  rsdk_arena_format(&b->list->arena, "hidden by %s=%s", variable, shown.text));
        }
    }
    return left;
}

/* ROCm has no agent for a GPU whose version it does not know. What our table lacks a newer ROCm may know, but not what
 * an override makes up. */
static numbering drop_unknown(builder *b, numbering all) {
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++) {
        rsdk_gpu *gpu = &b->list->gpus.items[all.gpus[i]];
        if (strcmp(gpu->processor, "unknown") == 0) {
            blame(b, gpu, "neither the kernel nor the PCI device id says which target it is");
        } else if (gpu->is_overridden && rsdk_target_find(gpu->processor) == NULL) {
            blame(b, gpu, rsdk_arena_format(&b->list->arena, "presented as %s, which does not exist", gpu->processor));
        } else {
            all.gpus[kept++] = all.gpus[i];
        }
    }
    all.count = kept;
    return all;
}

static void number_devices(builder *b) {
    const rsdk_gpu_environment *e = b->environment;
    numbering all = {.gpus = rsdk_arena_alloc(&b->scratch, b->list->gpus.count + 1, sizeof *all.gpus)};
    bool has_hip = e->hip_visible_devices != NULL && e->hip_visible_devices[0] != '\0';
    if (all.gpus == NULL) {
        b->failed = true;
        return;
    }
    for (size_t i = 0; i < b->list->gpus.count; i++) {
        if (b->list->gpus.items[i].hsa_node >= 0) {
            all.gpus[all.count++] = i;
        }
    }
    all = select_devices(b, "ROCR_VISIBLE_DEVICES", e->rocr_visible_devices, rsdk_visibility_select_rocr, all, true);
    all = drop_unknown(b, all);
    numbering hip = select_devices(b, has_hip ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
                                   has_hip ? e->hip_visible_devices : e->cuda_visible_devices,
                                   rsdk_visibility_select_hip, all, true);
    numbering opencl =
        select_devices(b, "GPU_DEVICE_ORDINAL", e->gpu_device_ordinal, rsdk_visibility_select_hip, all, false);
    for (size_t i = 0; i < hip.count; i++) {
        b->list->gpus.items[hip.gpus[i]].hip_index = (int)i;
    }
    for (size_t i = 0; i < opencl.count; i++) {
        b->list->gpus.items[opencl.gpus[i]].opencl_index = (int)i;
    }
}

/* ---- the whole ---- */

static rsdk_status add_gpus(builder *b, rsdk_error *error) {
    rsdk_status status = RSDK_OK;
    for (size_t i = 0; status == RSDK_OK && i < b->topology.nodes.count; i++) {
        const rsdk_kfd_node *node = &b->topology.nodes.items[i];
        b->list->hidden_count += node->is_hidden;
        if (node->properties.simd_count != 0) {
            status = add_gpu(b, node, error);
        }
    }
    return status;
}

static void blame_all(builder *b, const char *fault) {
    for (size_t i = 0; fault != NULL && i < b->list->gpus.count; i++) {
        blame(b, &b->list->gpus.items[i], fault);
    }
}

static rsdk_status build(builder *b, rsdk_error *error) {
    rsdk_gpu_list *list = b->list;
    rsdk_status status = rsdk_topology_read(b->access.root, !b->targets_only, &b->scratch, &b->topology, error);
    if (status != RSDK_OK || (status = add_gpus(b, error)) != RSDK_OK) {
        return status;
    }
    if (!b->targets_only) {
        number_partitions(list);
    }
    check_devices(b);
    if (list->hidden_count > 0) {
        report_hidden(b);
    } else if (list->gpus.count == 0) {
        rsdk_access_explain_no_gpu(&b->access, b->topology.exists);
    }
    apply_overrides(b);
    blame_all(b, b->kfd_fault);
    blame_all(b, b->start_fault);
    blame_all(b, b->override_fault);
    if (b->override_fault == NULL && !b->failed) {
        number_devices(b);
    }
    for (size_t i = 0; i < list->gpus.count; i++) {
        list->gpus.items[i].is_usable = list->gpus.items[i].why_not == NULL;
    }
    return b->failed || list->problems.failed ? rsdk_fail_no_memory(error) : RSDK_OK;
}

/* The root without the '/' at its end, so that paths can be put behind it. */
static const char *normal_root(rsdk_arena *arena, const char *root) {
    size_t length = root != NULL ? strlen(root) : 0;
    while (length > 0 && root[length - 1] == '/') {
        length--;
    }
    return rsdk_arena_copy_bytes(arena, root != NULL ? root : "", length);
}

rsdk_status rsdk_gpu_list_new(const rsdk_gpu_options *options, rsdk_gpu_list **list, rsdk_error *error) {
    static const rsdk_gpu_environment nothing_set = {0};
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_gpu_list *made = rsdk_arena_alloc(&arena, 1, sizeof *made);
    const char *root = made != NULL ? normal_root(&arena, options->root) : NULL;
    *list = NULL;
    if (root == NULL) {
        rsdk_arena_clear(&arena);
        return rsdk_fail_no_memory(error);
    }
    made->arena = arena;
    made->problems.arena = &made->arena;
    builder b = {.list = made, .targets_only = options->targets_only};
    b.environment = options->environment != NULL ? options->environment : &nothing_set;
    b.access = (rsdk_access){.root = root, .environment = b.environment, .problems = &made->problems};
    b.names = (rsdk_product_names){.root = root, .scratch = &b.scratch};
    rsdk_status status = build(&b, error);
    rsdk_arena_clear(&b.scratch);
    if (status != RSDK_OK) {
        rsdk_gpu_list_free(made);
        return status;
    }
    *list = made;
    return RSDK_OK;
}

void rsdk_gpu_list_free(rsdk_gpu_list *list) {
    if (list != NULL) {
        rsdk_arena arena = list->arena; /* it holds the list */
        rsdk_arena_clear(&arena);
    }
}

size_t rsdk_gpu_list_count(const rsdk_gpu_list *list) {
    return list->gpus.count;
}

const rsdk_gpu *rsdk_gpu_list_get(const rsdk_gpu_list *list, size_t index) {
    return index < list->gpus.count ? &list->gpus.items[index] : NULL;
}

size_t rsdk_gpu_list_hidden_count(const rsdk_gpu_list *list) {
    return list->hidden_count;
}

size_t rsdk_gpu_list_problem_count(const rsdk_gpu_list *list) {
    return list->problems.problems.count;
}

const rsdk_gpu_problem *rsdk_gpu_list_problem(const rsdk_gpu_list *list, size_t index) {
    return index < list->problems.problems.count ? &list->problems.problems.items[index] : NULL;
}
