/* The data tables of this directory, each in a file of its own, one row per line. */
#ifndef RSDK_GPU_TABLES_H
#define RSDK_GPU_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "rocm_sdk/compatibility.h"
#include "rocm_sdk/gpu.h"

extern const rsdk_target rsdk_target_table[];
extern const size_t rsdk_target_table_size;

extern const rsdk_generic_target rsdk_generic_table[];
extern const size_t rsdk_generic_table_size;

extern const rsdk_target_family rsdk_family_table[];
extern const size_t rsdk_family_table_size;

extern const rsdk_extended_isa rsdk_extended_isa_table[];
extern const size_t rsdk_extended_isa_table_size;

/* AMD's PCI device ids `first` to `last` are GPUs of one target. */
typedef struct rsdk_pci_devices {
    uint16_t first, last;
    const char *target;
} rsdk_pci_devices;

extern const rsdk_pci_devices rsdk_pci_device_table[];
extern const size_t rsdk_pci_device_table_size;

/* A version of the graphics and compute block, and the target of the GPUs that have it. */
typedef struct rsdk_gc_version {
    uint8_t major, minor, revision;
    const char *target;
} rsdk_gc_version;

extern const rsdk_gc_version rsdk_gc_version_table[];
extern const size_t rsdk_gc_version_table_size;

/* The product name of a PCI device id. */
typedef struct rsdk_product {
    uint16_t device_id;
    const char *name;
} rsdk_product;

extern const rsdk_product rsdk_product_table[];
extern const size_t rsdk_product_table_size;

/* A version of a GPU's firmware that is known to do harm. */
typedef struct rsdk_bad_firmware {
    const char *targets; /* a target or family */
    const char *name;    /* "MES" */
    const char *file;    /* the file below the device's fw_version/ */
    unsigned version;
    const char *harm, *repair;
} rsdk_bad_firmware;

extern const rsdk_bad_firmware rsdk_bad_firmware_table[];
extern const size_t rsdk_bad_firmware_table_size;

/* The first Linux whose driver a target needs. */
typedef struct rsdk_needed_kernel {
    const char *target;
    unsigned version[3];
    const char *harm; /* the harm of an older kernel */
} rsdk_needed_kernel;

extern const rsdk_needed_kernel rsdk_needed_kernel_table[];
extern const size_t rsdk_needed_kernel_table_size;

#endif
