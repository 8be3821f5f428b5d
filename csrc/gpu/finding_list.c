/* The list of findings, and the words for their codes. */
#include "gpu/finding_list.h"

const char *rsdk_finding_add(rsdk_finding_list *list, rsdk_gpu_finding finding) {
    if (finding.subject == NULL || finding.cause == NULL || finding.cure == NULL) {
        list->failed = true;
        return "";
    }
    RSDK_PUSH(list->arena, &list->findings, finding, list->failed);
    return finding.cause;
}

const char *rsdk_gpu_finding_code_name(rsdk_gpu_finding_code code) {
    static const char *const words[RSDK_GPU_FINDING_CODE_COUNT] = {
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
    return words[code];
}
