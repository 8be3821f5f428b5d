/* Marketing names: from libdrm's amdgpu.ids, else from our own table. */
#ifndef RSDK_GPU_PRODUCT_NAME_H
#define RSDK_GPU_PRODUCT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "rocm_sdk/error.h"

/* The file, read at the first question. */
typedef struct rsdk_product_names {
    const char *root;    /* without '/' at its end */
    rsdk_arena *scratch; /* holds the file's text */
    bool is_read;
    const char *text; /* NULL: there is no such file */
    size_t length;
} rsdk_product_names;

/* Find the name of a device in the file. *name is a copy in `arena`; NULL where the file does not name the device. The
 * PCI address leads to the revision that tells devices of one id apart. Only RSDK_NO_MEMORY is an error. */
rsdk_status rsdk_product_name_find(rsdk_product_names *names, const char *pci_address, unsigned device_id,
                                   rsdk_arena *arena, const char **name, rsdk_error *error);

/* Return the name in the table, which has one name for all devices of an id; NULL: it has none. */
const char *rsdk_product_name_of_device(unsigned device_id);

#endif
