/* The report of a rank: the libraries that one process of many has loaded, as a JSON document in a file of its own.
 *
 *     rsdk_report_options to = {.file = secure_getenv("ROCM_SDK_REPORT"), .environment = environ};
 *     rsdk_status status = rsdk_loader_preload(sdk, &options, &loaded, &error);
 *     if (to.file != NULL && rsdk_report_write(&to, sdk, loaded, status != RSDK_OK ? &error : NULL, NULL) != RSDK_OK) {
 *         // the program goes on
 *     }
 *
 * `rocm-sdk test --merge DIRECTORY` compares such files; docs/cluster.md has the keys. */
#ifndef ROCM_SDK_REPORT_H
#define ROCM_SDK_REPORT_H

#include <stdbool.h>

#include "rocm_sdk/error.h"
#include "rocm_sdk/loader.h"
#include "rocm_sdk/sdk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rsdk_report_options {
    const char *file; /* the path, in which %h is the host, %n the node (SLURMD_NODENAME, else the host), %t the task
                         (SLURM_PROCID, FLUX_TASK_RANK, PMI_RANK, PMIX_RANK or OMPI_COMM_WORLD_RANK, else 0), %p the
                         process, %% a % */
    const char *const *environment; /* "NAME=VALUE", NULL behind the last: `environ` */
} rsdk_report_options;

/* Write the report of a load. `loaded` and `failure` (NULL: there was none) are the results of rsdk_loader_preload. A
 * name that is taken gets a number before its ending. The function makes four system calls to write the file, and reads
 * no file unless there is a failure to explain. The report holds names of the host and of files, and variables for
 * which rsdk_report_has_variable is true. RSDK_BAD_ARGUMENT for a file with another letter behind a %, RSDK_IO_ERROR.
 */
rsdk_status rsdk_report_write(const rsdk_report_options *options, rsdk_sdk *sdk, const rsdk_loaded *loaded,
                              const rsdk_error *failure, rsdk_error *error);

/* Return whether a report names the variable: variables of ROCm, of the dynamic linker and of Python, and PATH. */
bool rsdk_report_has_variable(const char *name);

/* Return whether a report shows the variable's value, too. Known variables show theirs; others may be secrets
 * (ROCM_TOKEN), and have null in its place. */
bool rsdk_report_shows_variable(const char *name);

#ifdef __cplusplus
}
#endif
#endif
