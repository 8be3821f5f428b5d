/* Problems: an error as a sentence, its cause, and the fix for this machine.
 *
 *     rsdk_problem *problem = NULL;
 *     if (rsdk_loader_preload(sdk, &options, &loaded, &error) != RSDK_OK &&
 *         rsdk_problem_of_error(&error, sdk, NULL, &problem) == RSDK_OK) {
 *         fprintf(stderr, "%s: %s\n  fix: %s\n", problem->code, problem->title, problem->fix);
 *         rsdk_problem_free(problem);
 *     }
 *
 * Functions that fail report a code and facts (rocm_sdk/error.h). The meaning of each code and its fix are in one
 * table, from which C programs, exceptions, `rocm-sdk test` and the documentation take the same words. */
#ifndef ROCM_SDK_PROBLEM_H
#define ROCM_SDK_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "rocm_sdk/code.h"
#include "rocm_sdk/error.h"
#include "rocm_sdk/sdk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rsdk_severity { RSDK_SEVERITY_ERROR, RSDK_SEVERITY_WARNING, RSDK_SEVERITY_NOTE } rsdk_severity;

/* The known facts of how the SDK was installed. Texts are borrowed for the call, and NULL is "not known". Without an
 * installation a fix names the package and its version, and leaves the rest to the reader. */
typedef struct rsdk_installation {
    const char *installer;   /* "pip", "uv", "conda", "pipx", "target", "system"; a name of the installer table */
    const char *python;      /* the interpreter of the environment: a path */
    const char *environment; /* the environment's directory */
    const char *site;        /* the directory that the packages are in */
    const char *source;      /* the packages' source, as options of the installer: "--find-links /wheels"; "": the
                                installer's own configuration says it; NULL: AMD's index that serves the version */
    const char *note;        /* a fact to know before running the command: "/usr/lib/python3 belongs to root" */
} rsdk_installation;

/* All texts are one line; they live as long as the problem. */
typedef struct rsdk_problem {
    const char *code; /* "E-LIB-002" */
    rsdk_severity severity;
    const char *title;      /* the subject and its fault */
    const char *cause;      /* the cause, with the findings */
    const char *fix;        /* the remedy: a command for this system and installation where there is one; NULL: there is
                               nothing to do, as only a note says */
    const char *path;       /* the file or directory concerned, or a variable; NULL: none */
    const rsdk_fact *facts; /* the values that the texts name */
    size_t fact_count;
    bool is_command; /* the fix is a command for a shell; false for a sentence, and without a fix */
} rsdk_problem;

/* Make the problem that an error means. `sdk` (NULL: none is open) tells which file belongs to which package and, if
 * the dynamic linker refused a library, the needs of that library. RSDK_NO_MEMORY is the only failure. */
rsdk_status rsdk_problem_of_error(const rsdk_error *error, rsdk_sdk *sdk, const rsdk_installation *installation,
                                  rsdk_problem **problem);

/* Make a problem from its code and facts. General words replace a fact that a text names and that is missing or NULL.
 * Four facts say what a fix installs in place of the package's requirement, where the package came from no index:
 *   source_packages  words that install from `source` what the selector would bring: "a==1 b==1"
 *   source_tree      words that install the package from its source tree: "'/my tree'"
 *   source_address   the address of its wheel
 *   source_closure   the command that made it as a closure, which is run again
 * RSDK_BAD_ARGUMENT for a number that is not a code. */
rsdk_status rsdk_problem_make(rsdk_code code, const char *path, const rsdk_fact *facts, size_t count,
                              const rsdk_installation *installation, rsdk_problem **problem);

void rsdk_problem_free(rsdk_problem *problem); /* NULL is allowed */

/* Return "E-LIB-002" for RSDK_E_LIB_002; NULL for RSDK_NO_CODE. */
const char *rsdk_code_name(rsdk_code code);

/* Return the code of a name, RSDK_NO_CODE where there is none. */
rsdk_code rsdk_code_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
