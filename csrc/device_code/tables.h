/* The data tables of this directory, each in a file of its own, one row per line. */
#ifndef RSDK_DEVICE_CODE_TABLES_H
#define RSDK_DEVICE_CODE_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* A library that compiles its kernels at first use. */
typedef struct rsdk_compiling_library {
    const char *name;      /* "MIOpen" of libMIOpen.so.1 */
    const char *databases; /* directories of its performance databases end with this; NULL: it has none */
} rsdk_compiling_library;

extern const rsdk_compiling_library rsdk_compiling_library_table[];
extern const size_t rsdk_compiling_library_table_size;

#endif
