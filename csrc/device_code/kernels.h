/* The kernels of a file, as the notes of its code objects describe them. Source: LLVM's AMDGPUUsage, "Code Object
 * Metadata". Version 2 has YAML, of which only the names of kernels are read. Versions 3 and newer have msgpack. */
#ifndef RSDK_DEVICE_CODE_KERNELS_H
#define RSDK_DEVICE_CODE_KERNELS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/name_table.h"
#include "device_code/decompression.h"
#include "device_code/extent.h"
#include "rocm_sdk/device_code.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_kernel {
    const char *name; /* the name as the compiler writes it: mangled, if it is C++; `name_size` bytes */
    size_t name_size;
    const unsigned char *metadata; /* the description: a map in msgpack, which was checked: no more than 32 values lie
                                      in each other, and its keys are texts, numbers and bools; NULL: version 2 */
    size_t metadata_size;
} rsdk_kernel;

/* A file whose code objects are read one after another. */
typedef struct rsdk_kernel_reader {
    /* the code object that was read last; the memory is valid until the next one is read */
    const char *target;
    size_t bundle; /* number of its bundle in the file */
    RSDK_LIST(rsdk_kernel) kernels;

    rsdk_file file, plain;  /* plain: where the images of the bundle lie: that file, or `scratch` */
    rsdk_device_code *code; /* the bundles of `file` */
    size_t image;           /* the number of the next image in the bundle */
    int scratch;
    rsdk_decompression libraries;
    rsdk_arena arena;
    uint64_t left; /* values that may still be read */
} rsdk_kernel_reader;

/* Open a file; the errors are rsdk_device_code_read's. scratch: the descriptor of a file of the caller, for code that
 * has to be decompressed. */
rsdk_status rsdk_kernels_open(rsdk_kernel_reader *reader, const char *path, int scratch, rsdk_error *error);

/* Read the next code object; *found is false where there is none. RSDK_BAD_ELF where the object is damaged, or in a
 * container whose kernels are not listed. */
rsdk_status rsdk_kernels_next(rsdk_kernel_reader *reader, bool *found, rsdk_error *error);

void rsdk_kernels_close(rsdk_kernel_reader *reader);

/* Tensile's tables of kernels: which rows of kernels a library has, for which processors. Sources: the files of rocBLAS
 * and hipBLASLt themselves, Tensile's documentation.
 *
 * An index is {"solutions": [...], "library": {"type": "Hardware", "rows": [{"predicate": ..., "library": ...}]}}. A
 * library tries the rows whose predicate fits the GPU, in their order. The rows of a lazy index name the files with
 * their kernels ("Placeholder"); an index of old versions has all kernels in it. */

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
