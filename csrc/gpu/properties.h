/* The text of KFD's attribute files: lines "key value", and single numbers. */
#ifndef RSDK_GPU_PROPERTIES_H
#define RSDK_GPU_PROPERTIES_H

#include <stddef.h>
#include <stdint.h>

#include "rocm_sdk/error.h"

/* The wanted keys of nodes/N/properties. Keys that an older kernel does not write stay 0. */
typedef struct rsdk_node_properties {
    uint64_t simd_count; /* 0: a node without GPU */
    uint64_t simd_per_cu;
    uint64_t mem_banks_count;
    uint64_t gfx_target_version;
    uint64_t vendor_id, device_id;
    uint64_t domain, location_id;
    uint64_t drm_render_minor;
    uint64_t hive_id;
    uint64_t capability;
    uint64_t unique_id;
    uint64_t num_xcc;
} rsdk_node_properties;

/* The wanted keys of nodes/N/mem_banks/M/properties. */
typedef struct rsdk_bank_properties {
    uint64_t heap_type;
    uint64_t size_in_bytes;
} rsdk_bank_properties;

/* The wanted keys of nodes/N/io_links/L/properties. */
typedef struct rsdk_link_properties {
    uint64_t type;
    uint64_t flags;
} rsdk_link_properties;

/* The counts in a device's ras/BLOCK_err_count and ras/aca_BLOCK: "ue: 0". */
typedef struct rsdk_error_counts {
    uint64_t uncorrected, corrected, deferred;
} rsdk_error_counts;

enum { RSDK_BANK_LIMIT = 64 }; /* mem_banks_count beyond it is refused */

/* Parse the attribute files. Lines with other keys are skipped, whatever is in them. RSDK_IO_ERROR, naming `path`,
 * where a wanted key has no number in its range, a required one is not there, or the last line has no end. `text` need
 * not end in a NUL. */
rsdk_status rsdk_properties_parse_node(const char *path, const char *text, size_t length,
                                       rsdk_node_properties *properties, rsdk_error *error);
rsdk_status rsdk_properties_parse_bank(const char *path, const char *text, size_t length,
                                       rsdk_bank_properties *properties, rsdk_error *error);

rsdk_status rsdk_properties_parse_link(const char *path, const char *text, size_t length,
                                       rsdk_link_properties *properties, rsdk_error *error);
rsdk_status rsdk_properties_parse_errors(const char *path, const char *text, size_t length, rsdk_error_counts *counts,
                                         rsdk_error *error);

/* Parse a file that holds one number. */
rsdk_status rsdk_properties_parse_number(const char *path, const char *text, size_t length, uint64_t *number,
                                         rsdk_error *error);

#endif
