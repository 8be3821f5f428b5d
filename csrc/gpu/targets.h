/* Look-ups in the tables that the public header does not have. */
#ifndef RSDK_GPU_TARGETS_H
#define RSDK_GPU_TARGETS_H

#include "rocm_sdk/gpu.h"

/* Find the target of "gfx942" and of "gfx942:sramecc+:xnack-", whatever the features are. RSDK_BAD_ARGUMENT, with the
 * nearest names, where there is none. */
rsdk_status rsdk_target_find_or_fail(const char *name, const rsdk_target **target, rsdk_error *error);

/* Compare names by their numbers, with a result like strcmp's: gfx90a comes before gfx942 before gfx1030, a target
 * before the same one with features, generic ones behind. */
int rsdk_target_compare(const char *one, const char *other);

#endif
