/* The target by which ROCm names a GPU: processor and features, by ROCm's rules and the variables that change them. */
#ifndef RSDK_GPU_FEATURES_H
#define RSDK_GPU_FEATURES_H

#include "base/arena.h"
#include "gpu/properties.h"
#include "rocm_sdk/gpu.h"

typedef struct rsdk_isa_version {
    unsigned major, minor, stepping;
} rsdk_isa_version;

/* Find the version that a node's gfx_target_version says, or, where an older kernel does not say one, its PCI device
 * id. False where neither tells. */
bool rsdk_features_isa_version(const rsdk_node_properties *properties, rsdk_isa_version *version);

/* Fill target, processor, xnack, sramecc and is_xnack_guessed of a GPU that ROCm takes for this version. */
rsdk_status rsdk_features_fill(rsdk_arena *arena, rsdk_isa_version version, uint64_t capability,
                               const rsdk_gpu_environment *environment, rsdk_gpu *gpu, rsdk_error *error);

#endif
