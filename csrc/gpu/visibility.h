/* The visibility variables: which devices of a list they leave, and in which order. ROCR_VISIBLE_DEVICES has one
 * grammar; HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES and GPU_DEVICE_ORDINAL share another. */
#ifndef RSDK_GPU_VISIBILITY_H
#define RSDK_GPU_VISIBILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reason why a token ended the list. */
typedef enum rsdk_token_fault {
    RSDK_TOKEN_GOOD,
    RSDK_TOKEN_EMPTY,          /* not of ROCR_VISIBLE_DEVICES */
    RSDK_TOKEN_ABORTS,         /* ROCR_VISIBLE_DEVICES only: an empty one, at which ROCr aborts the process */
    RSDK_TOKEN_NOT_A_NUMBER,   /* and no UUID either */
    RSDK_TOKEN_OUT_OF_RANGE,   /* no such index */
    RSDK_TOKEN_UNKNOWN_UUID,   /* the UUID of no device */
    RSDK_TOKEN_AMBIGUOUS_UUID, /* the start of several */
    RSDK_TOKEN_REPEATED,       /* ROCR_VISIBLE_DEVICES only: the other grammar skips it */
} rsdk_token_fault;

typedef struct rsdk_selection {
    size_t count;           /* the number of devices that are left */
    rsdk_token_fault fault; /* the fault of the token that ended the list before its end */
    const char *token;      /* that token, within the variable's value */
    const char *rest;       /* the list behind it */
    size_t token_length, rest_length;
} rsdk_selection;

enum { RSDK_UUID_SIZE = 21 };

/* Write "GPU-0123456789abcdef", "GPU-XX" for 0. */
void rsdk_visibility_format_uuid(uint64_t unique_id, char uuid[RSDK_UUID_SIZE]);

/* Select devices by ROCr's or HIP's grammar: `unique_ids` has one entry for each of `count` devices; the indices of the
 * devices that are left are written to `chosen`, which must hold as many. NULL as value leaves all, as does "" in
 * quotes in HIP's grammar. The empty text leaves none. */
rsdk_selection rsdk_visibility_select_rocr(const char *value, const uint64_t *unique_ids, size_t count, size_t *chosen);
rsdk_selection rsdk_visibility_select_rocr_c23(const char *value, const uint64_t *unique_ids, size_t count,
                                               size_t *chosen); /* of a runtime that reads "0b1" as 1 */
rsdk_selection rsdk_visibility_select_hip(const char *value, const uint64_t *unique_ids, size_t count, size_t *chosen);

/* Return whether HIP takes the variable for set: neither NULL nor quotes around nothing. */
bool rsdk_visibility_is_set_hip(const char *value);

#endif
