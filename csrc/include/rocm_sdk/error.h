/* Errors of the C library. Every fallible function returns an rsdk_status and, where the caller passes an rsdk_error,
 * fills it with the failure and its file. The library prints nothing and keeps no "last error". */
#ifndef ROCM_SDK_ERROR_H
#define ROCM_SDK_ERROR_H

#include <stddef.h>

#include "rocm_sdk/code.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rsdk_status {
    RSDK_OK = 0,
    RSDK_NO_MEMORY,             /* an allocation failed */
    RSDK_BAD_ARGUMENT,          /* the caller passed an invalid argument */
    RSDK_IO_ERROR,              /* a file cannot be opened or read */
    RSDK_BAD_ELF,               /* a file is not a shared library for this process, or a damaged one */
    RSDK_BAD_METADATA,          /* _dist_info.py or dist_info.json is damaged or hostile */
    RSDK_UNKNOWN_LIBRARY,       /* no such shortname in the catalog */
    RSDK_PACKAGE_NOT_INSTALLED, /* the package that holds the library is not installed */
    RSDK_FILE_NOT_FOUND,        /* a file is not there (of a library: though its package is installed) */
    RSDK_LOAD_FAILED,           /* the dynamic linker refused the library */
} rsdk_status;

/* The texts and facts that an error owns may be NULL. Start with RSDK_ERROR_INIT, end with rsdk_error_clear.
 * rsdk_problem_of_error (rocm_sdk/problem.h) explains an error, with its cause and fix. */
typedef struct rsdk_error {
    rsdk_status status;
    rsdk_code code;   /* more precise than the status; RSDK_NO_CODE: the code of the status */
    char *message;    /* the failure, one sentence that names the file or name */
    char *path;       /* the file or variable it is about */
    rsdk_fact *facts; /* values for the texts of the code, `fact_count` of them, in one allocation */
    size_t fact_count;
} rsdk_error;

#define RSDK_ERROR_INIT                                                                                                \
    { RSDK_OK, RSDK_NO_CODE, 0, 0, 0, 0 }

/* Free the texts and make the error reusable. */
void rsdk_error_clear(rsdk_error *error);

/* Return the error's message, or a text for its status where there is none (out of memory). Never NULL; borrowed. */
const char *rsdk_error_message(const rsdk_error *error);

#ifdef __cplusplus
}
#endif
#endif
