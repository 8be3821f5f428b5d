/* Why a device file cannot be used: its numbers, and what refuses it. */
#ifndef RSDK_GPU_REFUSAL_H
#define RSDK_GPU_REFUSAL_H

#include "base/arena.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_refusal {
    const char *root, *path; /* of the file system, without '/' at its end; of the device */
    const char *driver;      /* its name in /proc/devices: "kfd", "drm"; NULL: it has no number of its own */
    unsigned minor;          /* the minor number that the driver gives the device */
    int reason;              /* errno of its open */
    const char *detail;      /* what is found */
    rsdk_fact facts[4];      /* by which the fix is chosen; the last one has no name */
} rsdk_refusal;

/* Return errno of an open that is bound to fail although the mode allows it: the device's numbers are not the driver's,
 * or its file system has no devices. 0: nothing is against it. In another root than "" numbers are compared only where
 * it has a proc/devices, and a plain file stands for a device. */
int rsdk_refusal_foresee(const rsdk_refusal *x);

/* Fill `detail` and `facts`, with texts in `arena`. RSDK_NO_MEMORY is the only failure. */
rsdk_status rsdk_refusal_explain(rsdk_refusal *x, rsdk_arena *arena, rsdk_error *error);

#endif
