/* The numbers of devices. The variables are followed in ROCm's order: ROCR_VISIBLE_DEVICES, then HIP's and OpenCL's
 * own. */
#include "gpu/topology.h"

#include <string.h>

#include "gpu/features.h"
#include "gpu/shown_input.h"
#include "gpu/visibility.h"

/* GPUs by their indices, in an order of their own. */
typedef struct selected {
    size_t *gpus;
    size_t count;
} selected;

/* Note why a GPU is left out. The first reason counts: ROCm meets it first. NULL: out of memory. */
static rsdk_status leave_out(rsdk_gpu *gpu, const char *why_not, rsdk_error *error) {
    RSDK_NEED(why_not, error);
    gpu->why_not = gpu->why_not == NULL ? why_not : gpu->why_not;
    return RSDK_OK;
}

typedef rsdk_selection (*grammar)(const char *value, const uint64_t *unique_ids, size_t count, size_t *chosen);

static rsdk_status report_cut(const rsdk_device_numbering *n, const char *variable, const char *value,
                              const rsdk_selection *selection, size_t device_count, rsdk_error *error) {
    static const char *const faults[] = {[RSDK_TOKEN_GOOD] = "",
                                         [RSDK_TOKEN_EMPTY] = "is empty",
                                         [RSDK_TOKEN_ABORTS] = "",
                                         [RSDK_TOKEN_NOT_A_NUMBER] =
                                             "is neither a number as it must be written nor a UUID",
                                         [RSDK_TOKEN_OUT_OF_RANGE] = "is not the number of a device",
                                         [RSDK_TOKEN_UNKNOWN_UUID] = "is the UUID of no device",
                                         [RSDK_TOKEN_AMBIGUOUS_UUID] = "is the start of several UUIDs",
                                         [RSDK_TOKEN_REPEATED] = "names a device again"};
    rsdk_shown_input whole = rsdk_shown_input_make(value, strlen(value)),
                     rest = rsdk_shown_input_make(selection->rest, selection->rest_length);
    rsdk_shown_input token = rsdk_shown_input_make(selection->token, selection->token_length);
    bool is_cut = selection->rest_length > 0 ||
                  (selection->fault != RSDK_TOKEN_OUT_OF_RANGE && selection->fault != RSDK_TOKEN_UNKNOWN_UUID);
    rsdk_gpu_problem problem = {.code = RSDK_W_GPU_024, .node = RSDK_NO_NODE, .path = variable};
    problem.detail =
        rsdk_arena_format(n->problems->arena, "%s=%s: \"%s\" %s, so the list %s %zu of %zu devices%s%s%s", variable,
                          whole.text, token.text, faults[selection->fault], is_cut ? "ends there and leaves" : "leaves",
                          selection->count, device_count, selection->rest_length > 0 ? "; \"" : "", rest.text,
                          selection->rest_length > 0 ? "\" behind it is ignored" : "");
    return rsdk_problem_list_add(n->problems, problem,
                                 RSDK_FACTS({"fault", is_cut ? NULL : "names a device that is not there"}), error);
}

/* Return whether the user asks for no device at all: "-1" alone says so. */
static bool is_meant(const rsdk_selection *selection) {
    return selection->count == 0 && selection->rest_length == 0 && selection->token_length == 2 &&
           memcmp(selection->token, "-1", 2) == 0;
}

/* Report that the program is aborted while ROCm starts: no GPU has a number. */
static rsdk_status report_abort(const rsdk_device_numbering *n, const char *variable, const char *detail,
                                const char *repair, rsdk_error *error) {
    const rsdk_gpu_problem problem = {.code = RSDK_W_GPU_033, .node = RSDK_NO_NODE, .path = variable, .detail = detail};
    RSDK_TRY(rsdk_problem_list_add(n->problems, problem, RSDK_FACTS({"repair", repair}), error));
    for (size_t i = 0; i < n->gpu_count; i++) {
        RSDK_TRY(leave_out(&n->gpus[i], detail, error));
    }
    return RSDK_OK;
}

/* Mark the devices of `all` that are not in `left` as hidden by a variable. */
static rsdk_status leave_out_others(const rsdk_device_numbering *n, const char *variable, const char *value,
                                    const selected *all, const selected *left, rsdk_error *error) {
    rsdk_shown_input shown = rsdk_shown_input_make(value, strlen(value));
    for (size_t i = 0; i < all->count; i++) {
        bool is_left = false;
        for (size_t j = 0; j < left->count; j++) {
            is_left |= left->gpus[j] == all->gpus[i];
        }
        if (!is_left) {
            rsdk_gpu *gpu = &n->gpus[all->gpus[i]];
            const char *why_not = rsdk_arena_format(n->problems->arena, "hidden by %s=%s", variable, shown.text);
            gpu->hidden_by = gpu->why_not == NULL ? variable : NULL;
            RSDK_TRY(leave_out(gpu, why_not, error));
        }
    }
    return RSDK_OK;
}

/* Select the devices of `all` that a variable leaves. */
static rsdk_status select_devices(const rsdk_device_numbering *n, const char *variable, const char *value,
                                  grammar select, const selected *all, selected *left, rsdk_error *error) {
    *left = (selected){.gpus = rsdk_arena_alloc(n->scratch, all->count + 1, sizeof *left->gpus)};
    RSDK_NEED(left->gpus, error);
    uint64_t *ids = rsdk_arena_alloc(n->scratch, all->count + 1, sizeof *ids);
    RSDK_NEED(ids, error);
    for (size_t i = 0; i < all->count; i++) {
        ids[i] = n->gpus[all->gpus[i]].unique_id;
    }
    rsdk_selection selection = select(value, ids, all->count, left->gpus);
    if (selection.fault == RSDK_TOKEN_ABORTS) {
        rsdk_shown_input shown = rsdk_shown_input_make(value, strlen(value));
        const char *detail = rsdk_arena_format(
            n->problems->arena, "%s=%s: ROCm's runtime aborts the program at the empty entry", variable, shown.text);
        RSDK_TRY(report_abort(n, variable, detail, "leave no entry between commas empty", error));
    } else if (selection.fault != RSDK_TOKEN_GOOD && all->count > 0 && !is_meant(&selection)) {
        RSDK_TRY(report_cut(n, variable, value, &selection, all->count, error));
    }
    left->count = selection.count;
    for (size_t i = 0; i < left->count; i++) {
        left->gpus[i] = all->gpus[left->gpus[i]];
    }
    return RSDK_OK;
}

/* Do the same, and mark the others as hidden by the variable. */
static rsdk_status filter_devices(const rsdk_device_numbering *n, const char *variable, const char *value,
                                  grammar select, const selected *all, selected *left, rsdk_error *error) {
    RSDK_TRY(select_devices(n, variable, value, select, all, left, error));
    return left->count < all->count ? leave_out_others(n, variable, value, all, left, error) : RSDK_OK;
}

/* Report an override at which HIP 6.4.3 aborts the program: a newer GPU is presented as one of gfx8. No GPU is left
 * then. */
static rsdk_status refuse_gfx8(const rsdk_device_numbering *n, selected *all, rsdk_error *error) {
    for (size_t i = 0; i < all->count; i++) {
        const rsdk_gpu *gpu = &n->gpus[all->gpus[i]];
        if (!gpu->is_overridden) {
            continue;
        }
        const rsdk_target *presented = rsdk_target_find(gpu->processor), *real = rsdk_target_find(gpu->real_processor);
        if (presented != NULL && presented->major == 8 && (real == NULL || real->major > 8)) {
            rsdk_override override = rsdk_override_of(n->environment, (unsigned)gpu->hsa_node);
            const char *variable = rsdk_override_variable(n->problems->arena, &override, gpu->hsa_node);
            RSDK_NEED(variable, error);
            rsdk_shown_input value = rsdk_shown_input_make(override.value, strlen(override.value));
            const char *detail =
                rsdk_arena_format(n->problems->arena, "%s=%s: HIP 6.4.3 aborts the program where %s is presented as %s",
                                  variable, value.text, gpu->real_processor, gpu->processor);
            all->count = 0;
            return report_abort(n, variable, detail, "give a version of the GPU's own generation", error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_device_numbering_fill(const rsdk_device_numbering *numbering, rsdk_error *error) {
    const rsdk_device_numbering *n = numbering;
    const rsdk_gpu_environment *e = n->environment;
    selected all = {.gpus = rsdk_arena_alloc(n->scratch, n->gpu_count + 1, sizeof *all.gpus)}, rocr, hip, opencl;
    RSDK_NEED(all.gpus, error);
    for (size_t i = 0; i < n->gpu_count; i++) {
        if (n->gpus[i].hsa_node >= 0) {
            all.gpus[all.count++] = i;
        }
    }
    grammar rocr_grammar = n->runtime.reads_binary ? rsdk_visibility_select_rocr_c23 : rsdk_visibility_select_rocr;
    RSDK_TRY(filter_devices(n, "ROCR_VISIBLE_DEVICES", e->rocr_visible_devices, rocr_grammar, &all, &rocr, error));
    /* Leave out unknown GPUs: ROCm has no agent for a GPU whose version it does not know. A newer ROCm may know a
     * version that our table lacks, but not one that an override invents. */
    size_t kept = 0;
    for (size_t i = 0; i < rocr.count; i++) {
        rsdk_gpu *gpu = &n->gpus[rocr.gpus[i]];
        if (strcmp(gpu->processor, "unknown") == 0) {
            RSDK_TRY(leave_out(gpu, "neither the kernel nor the PCI device id says which target it is", error));
        } else if (gpu->is_overridden && !rsdk_override_is_known(gpu->processor)) {
            const char *why_not =
                rsdk_arena_format(n->problems->arena, "presented as %s, which ROCm does not know", gpu->processor);
            RSDK_TRY(leave_out(gpu, why_not, error));
        } else {
            rocr.gpus[kept++] = rocr.gpus[i];
        }
    }
    rocr.count = kept;
    RSDK_TRY(refuse_gfx8(n, &rocr, error));
    bool has_hip = rsdk_visibility_is_set_hip(e->hip_visible_devices);
    RSDK_TRY(filter_devices(n, has_hip ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
                            has_hip ? e->hip_visible_devices : e->cuda_visible_devices, rsdk_visibility_select_hip,
                            &rocr, &hip, error));
    RSDK_TRY(select_devices(n, "GPU_DEVICE_ORDINAL", e->gpu_device_ordinal, rsdk_visibility_select_hip, &rocr, &opencl,
                            error));
    for (size_t i = 0; i < rocr.count; i++) {
        n->gpus[rocr.gpus[i]].rocr_index = (int)i;
    }
    for (size_t i = 0; i < hip.count; i++) {
        n->gpus[hip.gpus[i]].hip_index = (int)i;
    }
    for (size_t i = 0; i < opencl.count; i++) {
        n->gpus[opencl.gpus[i]].opencl_index = (int)i;
    }
    return RSDK_OK;
}
