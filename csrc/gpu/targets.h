/* Look-ups in the tables that the public header does not have. */
#ifndef RSDK_GPU_TARGETS_H
#define RSDK_GPU_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "rocm_sdk/gpu.h"

/* Find the target of "gfx942" and of "gfx942:sramecc+:xnack-", whatever the features are. RSDK_BAD_ARGUMENT, with the
 * nearest names, where there is none. */
rsdk_status rsdk_target_find_or_fail(const char *name, const rsdk_target **target, rsdk_error *error);

/* Find the targets with a product of this whole name ("RX 7900 XTX", "mi300x"), without those that ROCm is not built
 * for, and return their number. Case, blanks and AMD's brands (Radeon, RX, Pro, Instinct) do not count. *first is the
 * first of them, `all` gets their names. */
size_t rsdk_target_find_product(const char *name, size_t length, const rsdk_target **first, rsdk_text *all);

/* Return the target of a PCI device of AMD, or NULL. */
const char *rsdk_target_of_device(unsigned device_id);

/* Return the length of a name without the features behind it, in either spelling: 6 of "gfx942:sramecc+:xnack-" and of
 * "gfx942-xnack+". Other texts behind a name belong to it. */
size_t rsdk_target_canonical_length(const char *name);

/* Return the target whose packages have the code for a target, which may carry features, as text of *length bytes: by
 * the table, mostly the target itself, and so a family or a name that is not known. */
const char *rsdk_target_owner_of_name(const char *name, size_t *length);

/* Compare names by their numbers, with a result like strcmp's: gfx90a comes before gfx942 before gfx1030, a target
 * before the same one with features, generic ones behind. */
int rsdk_target_compare(const char *one, const char *other);

/* The parts of a target id. */

typedef struct rsdk_target_id {
    size_t processor_length; /* "gfx942" of "gfx942:sramecc+:xnack-" */
    char sramecc, xnack;     /* '+', '-', '\0': not mentioned */
} rsdk_target_id;

/* Split a target id; return false where something else than the two features, each once and with its sign, is behind
 * the processor. The processor is not looked up. */
bool rsdk_target_id_read(const char *id, rsdk_target_id *parts);

#endif
