/* The variables of this process's environment that matter to the C library, read in one place and passed on as values.
 */
#ifndef RSDK_SDK_ENVIRONMENT_H
#define RSDK_SDK_ENVIRONMENT_H

#include <stdbool.h>

#include "rocm_sdk/error.h"
#include "rocm_sdk/gpu.h"
#include "rocm_sdk/sdk.h"

/* Texts are borrowed from the environment; NULL: not set. */
typedef struct rsdk_environment {
    rsdk_gpu_options gpus; /* points into this struct, which therefore must stay where it is */
    rsdk_gpu_environment gpu_variables;
    rsdk_gpu_node_override *node_overrides;
    rsdk_library_override *overrides; /* ROCM_SDK_LIBRARY_<shortname> */
    size_t override_count;
    const char *fallback;                                       /* ROCM_SDK_FALLBACK */
    const char *root;                                           /* ROCM_SDK_ROOT; never "" */
    const char *conda_prefix;                                   /* CONDA_PREFIX */
    const char *target_family;                                  /* ROCM_SDK_TARGET_FAMILY */
    const char *read_ahead;                                     /* ROCM_SDK_READ_AHEAD; NULL: not set, or empty */
    const char *record_pages;                                   /* ROCM_SDK_RECORD_PAGES, likewise */
    const char *load_watch;                                     /* ROCM_SDK_LOAD_WATCH */
    const char *kpack_path, *kpack_path_prefix, *kpack_disable; /* ROCM_KPACK_PATH, _PATH_PREFIX and _DISABLE */
    const char *ld_preload;                                     /* LD_PRELOAD */
    const char *isolate;                                        /* ROCM_SDK_ISOLATE */
    const char *unversioned_names;                              /* ROCM_SDK_UNVERSIONED_NAMES */
    const char *report;                                         /* ROCM_SDK_REPORT; never "" */
    const char *verbose;                                        /* ROCM_SDK_VERBOSE */
    bool is_verbose;                                            /* the variable is 1 */
} rsdk_environment;

/* Take the environment as it is; the root of the file system is ROCM_SDK_ROOTFS or "/". The structure is to be cleared
 * in any case. No other thread may write to the environment meanwhile. */
rsdk_status rsdk_environment_read(rsdk_environment *environment, rsdk_error *error);
void rsdk_environment_clear(rsdk_environment *environment);

/* Return all variables, "NAME=VALUE" and NULL behind the last, as they are now. The list is to be freed, but not the
 * texts. NULL: out of memory. */
const char **rsdk_environment_list(void);

/* Return ROCM_SDK_ROOT as it is; NULL: the variable is not set or empty, or the program has other privileges than its
 * caller's. */
const char *rsdk_environment_root(void);

#endif
