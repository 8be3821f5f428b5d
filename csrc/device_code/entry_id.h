/* IDs of the entries of offload bundles: "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-". Source: clang's "Clang Offload
 * Bundler". */
#ifndef RSDK_DEVICE_CODE_ENTRY_ID_H
#define RSDK_DEVICE_CODE_ENTRY_ID_H

#include <stdbool.h>

#include "base/arena.h"

/* Return whether an ID names code for AMD's GPUs; then *target is where its target id begins, which may be empty. */
bool rsdk_entry_id_parse(const char *id, const char **target);

/* Return whether code with this triple is for AMD's GPUs. */
bool rsdk_entry_id_has_amd_architecture(const char *triple);

/* Return a target id as the tools write it, with its features in order; unchanged if the target is not known. NULL when
 * out of memory. */
const char *rsdk_entry_id_normal_target(const char *target, rsdk_arena *arena);

#endif
