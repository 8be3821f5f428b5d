/* Errors of the C library. Every fallible function returns an rsdk_status and, where the caller passes an rsdk_error,
 * fills it with what happened, to which file, and what can be done about it. The library prints nothing and keeps no
 * "last error". */
#ifndef ROCM_SDK_ERROR_H
#define ROCM_SDK_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rsdk_status {
    RSDK_OK = 0,
    RSDK_NO_MEMORY,             /* an allocation failed */
    RSDK_BAD_ARGUMENT,          /* the caller passed something that cannot be meant */
    RSDK_IO_ERROR,              /* a file cannot be opened or read */
    RSDK_BAD_ELF,               /* a file is not a shared library for this process, or a damaged one */
    RSDK_BAD_METADATA,          /* _dist_info.py or dist_info.json is damaged or hostile */
    RSDK_UNKNOWN_LIBRARY,       /* no such shortname in the catalog */
    RSDK_PACKAGE_NOT_INSTALLED, /* the package that holds the library is not installed */
    RSDK_FILE_NOT_FOUND,        /* a file is not there (of a library: though its package is installed) */
    RSDK_LOAD_FAILED,           /* the dynamic linker refused the library */
} rsdk_status;

/* An error's texts are owned by it; any of them may be NULL. Start with RSDK_ERROR_INIT, end with rsdk_error_clear. */
typedef struct rsdk_error {
    rsdk_status status;
    char *message;    /* what happened, one sentence that names the file or name */
    char *fix;        /* what the user can do */
    char *path;       /* the file it is about */
    const char *code; /* static: which kind of error, more precisely than the status ("E-LIB-002", see the
                         documentation's list of codes); NULL: that of the status */
} rsdk_error;

#define RSDK_ERROR_INIT                                                                                                \
    { RSDK_OK, 0, 0, 0, 0 }

/* Frees the texts and makes the error reusable. */
void rsdk_error_clear(rsdk_error *error);

/* The error's message, or a text for its status where there is none (out of memory). Never NULL; borrowed. */
const char *rsdk_error_message(const rsdk_error *error);

#ifdef __cplusplus
}
#endif
#endif
