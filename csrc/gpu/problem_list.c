/* The list of problems, and the names of their kinds. */
#include "gpu/problem_list.h"

rsdk_status rsdk_problem_list_add(rsdk_problem_list *list, rsdk_gpu_problem problem, rsdk_error *error) {
    RSDK_NEED(problem.path);
    RSDK_NEED(problem.cause);
    RSDK_NEED(problem.fix);
    RSDK_APPEND(list->arena, &list->problems, problem);
    return RSDK_OK;
}

const char *rsdk_gpu_problem_kind_name(rsdk_gpu_problem_kind kind) {
    static const char *const names[RSDK_GPU_PROBLEM_KIND_COUNT] = {
        [RSDK_GPU_DRIVER_MISSING] = "driver-missing",
        [RSDK_GPU_DRIVER_NOT_LIVE] = "driver-not-live",
        [RSDK_GPU_DRIVER_WITHOUT_COMPUTE] = "driver-without-compute",
        [RSDK_GPU_NONE_FOUND] = "none-found",
        [RSDK_GPU_NODES_HIDDEN] = "nodes-hidden",
        [RSDK_GPU_KFD_MISSING] = "kfd-missing",
        [RSDK_GPU_KFD_REFUSED] = "kfd-refused",
        [RSDK_GPU_RENDER_NODE_MISSING] = "render-node-missing",
        [RSDK_GPU_RENDER_NODE_REFUSED] = "render-node-refused",
        [RSDK_GPU_WSL_DXG_REFUSED] = "wsl-dxg-refused",
        [RSDK_GPU_WSL_DXCORE_MISSING] = "wsl-dxcore-missing",
        [RSDK_GPU_WSL_DETECTION_OFF] = "wsl-detection-off",
        [RSDK_GPU_VISIBILITY_CUT_SHORT] = "visibility-cut-short",
        [RSDK_GPU_OVERRIDE_INVALID] = "override-invalid",
        [RSDK_GPU_OVERRIDE_UNKNOWN_TARGET] = "override-unknown-target",
    };
    return names[kind];
}
