/* The parts of a target id. */
#ifndef RSDK_GPU_TARGET_ID_H
#define RSDK_GPU_TARGET_ID_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rsdk_target_id {
    size_t processor_length; /* "gfx942" of "gfx942:sramecc+:xnack-" */
    char sramecc, xnack;     /* '+', '-', '\0': not mentioned */
} rsdk_target_id;

/* Split a target id; return false where something else than the two features, each once and with its sign, is behind
 * the processor. The processor is not looked up. */
bool rsdk_target_id_read(const char *id, rsdk_target_id *parts);

#endif
