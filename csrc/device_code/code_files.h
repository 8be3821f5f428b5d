/* The files below a directory that may hold GPU code or say something about it, by their names. */
#ifndef RSDK_DEVICE_CODE_CODE_FILES_H
#define RSDK_DEVICE_CODE_CODE_FILES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/name_table.h"

typedef enum rsdk_code_file_kind {
    RSDK_CODE_FILE_LIBRARY,  /* a shared library or a program */
    RSDK_CODE_FILE_LOOSE,    /* .co, .hsaco */
    RSDK_CODE_FILE_ARCHIVE,  /* .kpack */
    RSDK_CODE_FILE_INDEX,    /* Tensile's list of kernels */
    RSDK_CODE_FILE_TABLE,    /* a file that an index leads to */
    RSDK_CODE_FILE_TARGETS,  /* hipBLASLt's other tables, which must name a target, too */
    RSDK_CODE_FILE_DATABASE, /* a performance database */
} rsdk_code_file_kind;

typedef struct rsdk_code_file {
    rsdk_code_file_kind kind;
    const char *path;
    const char *library; /* the library that it belongs to: "rocblas" */
    const char *target;  /* the target id in its name; NULL: none */
} rsdk_code_file;

typedef struct rsdk_code_files {
    RSDK_LIST(rsdk_code_file) list;
    rsdk_name_table seen; /* identities of files */
    size_t name_count;    /* the number of all names that were looked at */
} rsdk_code_files;

/* Add the files below `directory`, in the order of their names, each once. Links to directories are not followed. */
rsdk_status rsdk_code_files_collect(const char *directory, rsdk_arena *arena, rsdk_code_files *files,
                                    rsdk_error *error);

/* Find which of Tensile's tables a name stands for: RSDK_CODE_FILE_INDEX, _TABLE or _TARGETS. false: none. */
bool rsdk_code_files_table_kind(const char *name, rsdk_code_file_kind *kind);

#endif
