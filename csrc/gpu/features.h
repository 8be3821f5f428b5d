/* The target by which ROCm names a GPU: processor and features, by ROCm's rules and the variables that change them. */
#ifndef RSDK_GPU_FEATURES_H
#define RSDK_GPU_FEATURES_H

#include <stdbool.h>

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

/* HSA_OVERRIDE_GFX_VERSION and HSA_OVERRIDE_GFX_VERSION_n, as ROCm reads them. */

typedef enum rsdk_override_state {
    RSDK_OVERRIDE_NONE,
    RSDK_OVERRIDE_VALID,
    RSDK_OVERRIDE_INVALID, /* ROCm finds no GPU at all */
} rsdk_override_state;

typedef struct rsdk_override {
    rsdk_override_state state;
    rsdk_isa_version version;
    bool is_of_node; /* the variable with the node's number */
    const char *value;
} rsdk_override;

/* Return the override that the variables set for the node that ROCm numbers `hsa_node`. */
rsdk_override rsdk_override_of(const rsdk_gpu_environment *environment, unsigned hsa_node);

/* Return whether ROCm has an agent for a GPU that is presented as this processor: LLVM has some more, and ROCm 6.4 no
 * longer knows the MI300 before production (gfx940, gfx941). A processor that is newer than our table is not known. */
bool rsdk_override_is_known(const char *processor);

/* Return the name of the variable that sets the override; NULL: out of memory. */
const char *rsdk_override_variable(rsdk_arena *arena, const rsdk_override *override, int hsa_node);

/* Parse "major.minor.stepping", at most 63.255.255, in numbers that sscanf takes for decimal: " +10. 3.0" too, and
 * nothing behind it. */
bool rsdk_override_parse(const char *text, rsdk_isa_version *version);

#endif
