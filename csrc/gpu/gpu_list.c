/* The list of GPUs: their properties from the topology, then the obstacles to their use, in the order in which ROCm
 * looks at them: device files, overrides, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES. */
#include "gpu/gpu_list.h"

#include <inttypes.h>
#include <string.h>

#include "gpu/features.h"
#include "gpu/gpu_runtime.h"
#include "gpu/problem_list.h"
#include "gpu/shown_input.h"
#include "gpu/topology.h"
#include "gpu/visibility.h"

struct rsdk_gpu_list {
    rsdk_arena arena; /* holds the list itself too */
    RSDK_LIST(rsdk_gpu) gpus;
    rsdk_problem_list problems;
    size_t hidden_count;
    rsdk_pci_bus bus;
};

typedef struct builder {
    rsdk_gpu_list *list;
    rsdk_arena scratch;
    const rsdk_gpu_environment *environment;
    rsdk_gpu_runtime runtime;
    bool targets_only;
    rsdk_access access;
    rsdk_topology topology;
    rsdk_product_names names;
    RSDK_LIST(uint64_t) devices; /* the PCI address of each GPU without its last digit */
    const char *kfd_fault;       /* the reason why nothing can be used; NULL */
    const char *start_fault;     /* a render node that makes ROCm find no GPU; NULL */
    const char *override_fault;  /* a variable that does; NULL */
    bool has_device;             /* a render node can be opened */
} builder;

/* Note why a GPU is left out. The first reason counts: ROCm meets it first. */
static void leave_out(rsdk_gpu *gpu, const char *why_not) {
    gpu->why_not = gpu->why_not == NULL ? why_not : gpu->why_not;
}

/* ---- what the topology says ---- */

static rsdk_status fill_places(builder *b, const rsdk_node_properties *properties, rsdk_gpu *gpu, rsdk_error *error) {
    rsdk_arena *arena = &b->list->arena;
    uint64_t location = properties->location_id;
    char uuid[RSDK_UUID_SIZE];
    rsdk_visibility_format_uuid(properties->unique_id, uuid);
    RSDK_APPEND(&b->scratch, &b->devices, properties->domain << 16 | (location & 0xFFF8), error);
    gpu->uuid = rsdk_arena_copy(arena, uuid);
    RSDK_NEED(gpu->uuid, error);
    gpu->pci_address =
        rsdk_arena_format(arena, "%04" PRIx64 ":%02x:%02x.%u", properties->domain, (unsigned)(location >> 8 & 0xFF),
                          (unsigned)(location >> 3 & 0x1F), (unsigned)(location & 7));
    RSDK_NEED(gpu->pci_address, error);
    if (properties->drm_render_minor <= INT32_MAX) { /* -1 is printed without its sign */
        gpu->render_minor = (unsigned)properties->drm_render_minor;
    }
    if (gpu->render_minor != 0) {
        gpu->render_node = rsdk_arena_format(arena, "/dev/dri/renderD%u", gpu->render_minor);
        RSDK_NEED(gpu->render_node, error);
    }
    return RSDK_OK;
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
        .has_old_doorbells = (properties->capability >> 12 & 3) < 2, /* HSA_CAP_DOORBELL_TYPE_2_0 */
        .hip_index = -1,
        .opencl_index = -1,
        .rocr_index = -1,
    };
    if (properties->simd_per_cu != 0) {
        gpu.compute_units = (unsigned)(properties->simd_count / properties->simd_per_cu);
    }
    if (!b->targets_only) {
        RSDK_TRY(fill_places(b, properties, &gpu, error));
    }
    rsdk_isa_version version;
    gpu.target = gpu.processor = gpu.real_processor = "unknown";
    if (rsdk_features_isa_version(properties, &version)) {
        const rsdk_target *target = rsdk_target_find_version(version.major, version.minor, version.stepping);
        RSDK_TRY(rsdk_features_fill(&b->list->arena, version, properties->capability, b->environment, &gpu, error));
        gpu.real_processor = target != NULL ? target->name : gpu.processor;
        gpu.is_known = target != NULL;
        gpu.gpu_class = target != NULL ? target->gpu_class : RSDK_GPU_DISCRETE;
    }
    if (!b->targets_only) {
        const rsdk_target *target = rsdk_target_find(gpu.real_processor);
        RSDK_TRY(rsdk_product_name_find(&b->names, gpu.pci_address, gpu.device_id, &b->list->arena, &gpu.marketing_name,
                                        error));
        gpu.name = gpu.marketing_name != NULL ? gpu.marketing_name : rsdk_product_name_of_device(gpu.device_id);
        if (gpu.name == NULL) {
            gpu.name = target != NULL ? target->product : "AMD GPU";
        }
    }
    RSDK_APPEND(&b->list->arena, &b->list->gpus, gpu, error);
    return RSDK_OK;
}

/* ---- device files ---- */

/* Check the devices of all GPUs, and number their nodes. ROCm's own numbers leave out hidden nodes and nodes whose
 * render node is not there. */
static rsdk_status check_devices(builder *b, rsdk_error *error) {
    int next = 0;
    size_t index = 0;
    if (b->list->gpus.count > 0 && !b->targets_only) {
        RSDK_TRY(rsdk_access_check_kfd(&b->access, &b->kfd_fault, error));
    }
    for (size_t i = 0; i < b->topology.nodes.count; i++) {
        const rsdk_kfd_node *node = &b->topology.nodes.items[i];
        if (node->properties.simd_count != 0) {
            /* Number a GPU's node, unless its render node makes ROCm go on without it. */
            rsdk_gpu *gpu = &b->list->gpus.items[index++];
            const char *cause = NULL;
            rsdk_device_state state = RSDK_DEVICE_OPENS;
            if (!b->targets_only) {
                RSDK_TRY(rsdk_access_check_render_node(&b->access, gpu->render_minor, (int)gpu->node, &state, &cause,
                                                       error));
            }
            b->has_device |= state == RSDK_DEVICE_OPENS;
            if (state != RSDK_DEVICE_LEFT_OUT) {
                gpu->hsa_node = next++;
            }
            if (state == RSDK_DEVICE_REFUSED && b->start_fault == NULL) {
                b->start_fault = cause;
            }
            leave_out(gpu, cause);
        } else if (!node->is_hidden) {
            next++;
        }
    }
    /* GPUs that are left out where another one is given: that is mostly meant. */
    for (size_t i = 0; b->has_device && i < b->list->problems.problems.count; i++) {
        rsdk_gpu_problem *problem = &b->list->problems.problems.items[i];
        for (size_t j = 0; j < b->list->gpus.count; j++) {
            const rsdk_gpu *gpu = &b->list->gpus.items[j];
            problem->code = (int)gpu->node == problem->node && gpu->hsa_node < 0 ? RSDK_N_GPU_037 : problem->code;
        }
    }
    return RSDK_OK;
}

/* Return whether a GPU that ROCr sees is from before Vega, and another one is not. */
static bool mixes_doorbells(const rsdk_gpu_list *list) {
    bool has_old = false, has_new = false;
    for (size_t i = 0; i < list->gpus.count; i++) {
        const rsdk_gpu *gpu = &list->gpus.items[i];
        has_old |= gpu->has_old_doorbells && gpu->hsa_node >= 0;
        has_new |= !gpu->has_old_doorbells;
    }
    return has_old && has_new;
}

/* Report GPUs before Vega, where the runtime finds no GPU for that, before a variable hides one. */
static rsdk_status check_doorbells(builder *b, rsdk_error *error) {
    bool matters = b->runtime.ends_at_old_doorbells && mixes_doorbells(b->list);
    for (size_t i = 0; matters && i < b->list->gpus.count; i++) {
        const rsdk_gpu *gpu = &b->list->gpus.items[i];
        if (gpu->has_old_doorbells && gpu->hsa_node >= 0) {
            rsdk_gpu_problem problem = {.code = RSDK_W_GPU_038, .node = RSDK_NO_NODE, .path = gpu->pci_address};
            problem.detail = rsdk_arena_format(
                &b->list->arena, "node %u has doorbells of an older type, at which the SDK's runtime ends", gpu->node);
            const rsdk_fact *facts = RSDK_FACTS({"target", gpu->real_processor});
            RSDK_TRY(rsdk_problem_list_add(&b->list->problems, problem, facts, error));
            b->start_fault = b->start_fault == NULL ? problem.detail : b->start_fault;
        }
    }
    return RSDK_OK;
}

/* ---- overrides ---- */

static rsdk_status report_override(builder *b, const rsdk_gpu *gpu, const rsdk_override *override, rsdk_error *error) {
    rsdk_arena *arena = &b->list->arena;
    bool is_invalid = override->state == RSDK_OVERRIDE_INVALID;
    rsdk_gpu_problem problem = {.code = is_invalid ? RSDK_W_GPU_025 : RSDK_W_GPU_026,
                                .node = (int)gpu->node,
                                .path = rsdk_override_variable(arena, override, gpu->hsa_node)};
    RSDK_NEED(problem.path, error);
    static const char newer_rocm[] = "; ROCm since May 2026 ignores an empty value";
    rsdk_shown_input value = rsdk_shown_input_make(override->value, strlen(override->value));
    bool may_be_ignored = value.text[0] == '\0' && !b->runtime.takes_any_version;
    problem.detail = is_invalid
                         ? rsdk_arena_format(arena, "%s=%s: is not major.minor.stepping, so ROCm finds no GPU at all%s",
                                             problem.path, value.text, may_be_ignored ? newer_rocm : "")
                         : rsdk_arena_format(arena, "%s=%s: ROCm knows no %s, so it leaves the GPU out", problem.path,
                                             value.text, gpu->processor);
    RSDK_TRY(rsdk_problem_list_add(&b->list->problems, problem, NULL, error));
    if (is_invalid && b->override_fault == NULL) {
        b->override_fault = problem.detail;
    }
    return RSDK_OK;
}

static rsdk_status apply_overrides(builder *b, rsdk_error *error) {
    size_t index = 0;
    for (size_t i = 0; i < b->topology.nodes.count; i++) {
        const rsdk_kfd_node *node = &b->topology.nodes.items[i];
        if (node->properties.simd_count != 0) { /* 0 of hidden nodes too */
            rsdk_gpu *gpu = &b->list->gpus.items[index++];
            if (gpu->hsa_node >= 0 && strcmp(gpu->real_processor, "unknown") != 0) {
                rsdk_override override = rsdk_override_of(b->environment, (unsigned)gpu->hsa_node);
                if (override.state == RSDK_OVERRIDE_VALID) {
                    gpu->is_overridden = true;
                    RSDK_TRY(rsdk_features_fill(&b->list->arena, override.version, node->properties.capability,
                                                b->environment, gpu, error));
                }
                bool is_missing_target = gpu->is_overridden && !rsdk_override_is_known(gpu->processor);
                RSDK_TRY(override.state == RSDK_OVERRIDE_INVALID || is_missing_target
                             ? report_override(b, gpu, &override, error)
                             : RSDK_OK);
            }
        }
    }
    return RSDK_OK;
}

/* ---- the whole ---- */

static void leave_out_all(builder *b, const char *fault) {
    for (size_t i = 0; i < b->list->gpus.count; i++) {
        leave_out(&b->list->gpus.items[i], fault);
    }
}

static rsdk_status build(builder *b, rsdk_error *error) {
    rsdk_gpu_list *list = b->list;
    RSDK_TRY(rsdk_topology_read(b->access.root, !b->targets_only, &b->scratch, &b->topology, error));
    for (size_t i = 0; i < b->topology.nodes.count; i++) {
        const rsdk_kfd_node *node = &b->topology.nodes.items[i];
        b->list->hidden_count += node->is_hidden;
        if (node->properties.simd_count != 0) {
            RSDK_TRY(add_gpu(b, node, error));
        }
    }
    /* Partitions of one GPU are nodes that differ in the last digit of the PCI address at most. */
    for (size_t i = 0; i < b->devices.count; i++) {
        rsdk_gpu *gpu = &b->list->gpus.items[i];
        for (size_t j = 0; j < b->devices.count; j++) {
            bool is_same = b->devices.items[i] == b->devices.items[j];
            gpu->partition_count += is_same;
            gpu->partition += is_same && j < i;
        }
    }
    RSDK_TRY(check_devices(b, error));
    RSDK_TRY(check_doorbells(b, error));
    if (list->hidden_count > 0) {
        rsdk_gpu_problem problem = {
            .code = b->has_device ? RSDK_N_GPU_037 : RSDK_W_GPU_015, .node = RSDK_NO_NODE, .path = "/dev/dri"};
        problem.detail = rsdk_arena_format(&b->list->arena, "the device cgroup hides %zu GPU node%s",
                                           b->list->hidden_count, b->list->hidden_count == 1 ? "" : "s");
        RSDK_TRY(rsdk_problem_list_add(&b->list->problems, problem, NULL, error));
    } else if (list->gpus.count == 0) {
        RSDK_TRY(rsdk_access_explain_no_gpu(&b->access, b->topology.exists, error));
    }
    RSDK_TRY(apply_overrides(b, error));
    leave_out_all(b, b->kfd_fault);
    leave_out_all(b, b->start_fault);
    leave_out_all(b, b->override_fault);
    if (b->override_fault == NULL) {
        const rsdk_device_numbering numbering = {.gpus = list->gpus.items,
                                                 .gpu_count = list->gpus.count,
                                                 .environment = b->environment,
                                                 .runtime = b->runtime,
                                                 .problems = &list->problems,
                                                 .scratch = &b->scratch};
        RSDK_TRY(rsdk_device_numbering_fill(&numbering, error));
    }
    for (size_t i = 0; i < list->gpus.count; i++) {
        list->gpus.items[i].is_usable = list->gpus.items[i].why_not == NULL;
    }
    return RSDK_OK;
}

bool rsdk_gpu_runtime_matters(const rsdk_gpu_environment *environment, const rsdk_gpu_list *list) {
    const rsdk_gpu_environment *e = environment;
    if (list != NULL) {
        return mixes_doorbells(list);
    }
    bool is_empty = e->hsa_override_gfx_version != NULL && e->hsa_override_gfx_version[0] == '\0';
    for (size_t i = 0; i < e->node_override_count; i++) {
        is_empty |= e->node_overrides[i].value[0] == '\0';
    }
    return is_empty || (e->rocr_visible_devices != NULL && strcasestr(e->rocr_visible_devices, "0b") != NULL);
}

/* Return the root without the '/' at its end, so that paths can be put behind it. */
static const char *normal_root(rsdk_arena *arena, const char *root) {
    size_t length = root != NULL ? strlen(root) : 0;
    while (length > 0 && root[length - 1] == '/') {
        length--;
    }
    return rsdk_arena_copy_bytes(arena, root != NULL ? root : "", length);
}

rsdk_status rsdk_gpu_list_new(const rsdk_gpu_options *options, rsdk_gpu_list **list, rsdk_error *error) {
    return rsdk_gpu_list_new_for(options, (rsdk_gpu_runtime){0}, list, error);
}

rsdk_status rsdk_gpu_list_new_for(const rsdk_gpu_options *options, rsdk_gpu_runtime runtime, rsdk_gpu_list **list,
                                  rsdk_error *error) {
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
    builder b = {.list = made, .runtime = runtime, .targets_only = options->targets_only};
    b.environment = options->environment != NULL ? options->environment : &nothing_set;
    made->bus.root = root;
    b.access = (rsdk_access){
        .root = root, .environment = b.environment, .problems = &made->problems, .bus = &made->bus, .options = options};
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
        rsdk_arena arena = list->arena; /* the arena holds the list */
        rsdk_arena_clear(&arena);
    }
}

rsdk_arena *rsdk_gpu_list_arena(rsdk_gpu_list *list) {
    return &list->arena;
}

rsdk_status rsdk_gpu_list_bus(rsdk_gpu_list *list, const rsdk_pci_bus **bus, rsdk_error *error) {
    *bus = &list->bus;
    return rsdk_pci_bus_read(&list->bus, &list->arena, error);
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
