/* The directories where a Python looks for packages, for a program that is not a Python: the search path to open an SDK
 * with.
 *
 *     rsdk_python_path *python = NULL;
 *     if (rsdk_python_path_ask(NULL, (const char *const *)environ, &python, &error) == RSDK_OK) {
 *         rsdk_sdk_options options = {.search_path = rsdk_python_path_directories(python),
 *                                     .search_path_count = rsdk_python_path_count(python)};
 *         status = rsdk_sdk_open(&options, &sdk, &error);
 *     }
 *     rsdk_python_path_free(python);
 *
 * The interpreter alone knows its directories: the virtual environment, PYTHONPATH, .pth files and the rules of a
 * distribution decide. The interpreter therefore runs, with the rights of the program, and so does the code that
 * site-packages run at each start. */
#ifndef ROCM_SDK_PYTHON_PATH_H
#define ROCM_SDK_PYTHON_PATH_H

#include <stddef.h>

#include "rocm_sdk/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rsdk_python_path rsdk_python_path;

/* Run an interpreter and wait for its sys.path, for 30 s at most.
 * program: the path of an interpreter, or a name to look for in PATH; NULL: "python3", which is the interpreter of an
 * active environment.
 * environment: the interpreter's environment, "NAME=VALUE" with NULL behind the last (`environ`); NULL: an empty one,
 * for a program that has more rights than the user who started it. Without a PATH in it, /usr/bin and /bin are
 * searched; entries of PATH that are not absolute do not count.
 * RSDK_BAD_ARGUMENT: there is no such program; RSDK_IO_ERROR: the program cannot run, or gives no answer. */
rsdk_status rsdk_python_path_ask(const char *program, const char *const *environment, rsdk_python_path **python,
                                 rsdk_error *error);

/* Return the number of directories of the sys.path that are absolute and exist, or the directories in their order;
 * borrowed. */
size_t rsdk_python_path_count(const rsdk_python_path *python);
const char *const *rsdk_python_path_directories(const rsdk_python_path *python);

void rsdk_python_path_free(rsdk_python_path *python); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
