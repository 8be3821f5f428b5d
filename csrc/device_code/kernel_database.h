/* Tensile's tables of kernels: which rows of kernels a library has, for which processors. Sources: the files of rocBLAS
 * and hipBLASLt themselves, Tensile's documentation.
 *
 * An index is {"solutions": [...], "library": {"type": "Hardware", "rows": [{"predicate": ..., "library": ...}]}}. A
 * library tries the rows whose predicate fits the GPU, in their order. The rows of a lazy index name the files with
 * their kernels ("Placeholder"); an index of old versions has all kernels in it. */
#ifndef RSDK_DEVICE_CODE_KERNEL_DATABASE_H
#define RSDK_DEVICE_CODE_KERNEL_DATABASE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/name_table.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_kernel_row {
    const char *processor; /* "gfx942"; NULL: another condition, or none */
    bool has_condition;    /* the GPU must have something else, too: a number of compute units */
    rsdk_strings tables;   /* names of the files with its kernels, up to the '.' */
} rsdk_kernel_row;

/* The content of a file. An index has rows. A file that lists targets, by its keys or by the names of files, has the
 * targets, and the texts that are its values, which a mapping has for names of tables. */
typedef struct rsdk_kernel_database {
    RSDK_LIST(rsdk_kernel_row) rows;
    rsdk_unique_strings targets, names;
} rsdk_kernel_database;

/* Read an index, plain or compressed by zlib. RSDK_BAD_ELF where the file is damaged or something else. */
rsdk_status rsdk_kernel_database_read_index(const char *path, rsdk_arena *arena, rsdk_kernel_database *database,
                                            rsdk_error *error);

/* Read hipblasltExtOpLibrary.dat, {target: ...}, or TensileLiteLibrary_lazy_Mapping.dat, {number: name of a file}. */
rsdk_status rsdk_kernel_database_read_targets(const char *path, rsdk_arena *arena, rsdk_kernel_database *database,
                                              rsdk_error *error);

#endif
