/* A fault that was found: a code, and facts for its texts, and who finds it. Problems are made of findings. */
#ifndef RSDK_DIAGNOSIS_FINDING_H
#define RSDK_DIAGNOSIS_FINDING_H

#include "base/arena.h"
#include "rocm_sdk/code.h"
#include "rocm_sdk/error.h"
#include "rocm_sdk/loader.h"
#include "rocm_sdk/sdk.h"

typedef struct rsdk_finding {
    rsdk_code code;
    const char *path; /* NULL: none */
    RSDK_LIST(rsdk_fact) facts;
} rsdk_finding;

/* Add a fact, whose texts must live as long as the finding. A value of NULL is not known, and left out. */
rsdk_status rsdk_finding_add(rsdk_finding *finding, rsdk_arena *arena, const char *name, const char *value,
                             rsdk_error *error);

/* Add copies of facts. A value of NULL is left out. */
rsdk_status rsdk_finding_copy_facts(rsdk_finding *finding, rsdk_arena *arena, const rsdk_fact *facts, size_t count,
                                    rsdk_error *error);

/* Return the value of a fact; NULL where it is not known. */
const char *rsdk_finding_fact(const rsdk_finding *finding, const char *name);

/* Add distribution, version and requirement of the package that the path of the finding belongs to: the package whose
 * RECORD lists the path, else the package whose platform directory it is in; for a ROCm that is not a package, its
 * prefix. Nothing is added if there is none. */
rsdk_status rsdk_finding_add_owner(rsdk_finding *finding, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_error *error);

/* The packages of the distributions that bring a library of the system. */

/* Add a fact for each distribution: its package with the library `name`, by the table. A name that is not in the table
 * becomes part of a command that searches for it; if a shell would interpret the name, there is no such command, and
 * nothing is added. A library of ROCm is no matter of the distribution, unless the SDK is the system's (is_of_system).
 * RSDK_NO_MEMORY is the only failure. */
rsdk_status rsdk_host_package_add(rsdk_finding *finding, rsdk_arena *arena, const char *name, bool is_of_system,
                                  rsdk_error *error);

/* Return whether the table has the library. */
bool rsdk_host_package_is_known(const char *name);

/* The reason why the dynamic linker refused a library, from the dependency graph, the system and the dlerror text. */

/* Fill the finding for the library `path`, of which the linker said `dlerror_text`. An error that comes up on the way,
 * such as a damaged dependency, is the cause, and is returned in *error. The files are read again. Without an SDK the
 * finding may have no code. */
rsdk_status rsdk_load_failure_explain(rsdk_sdk *sdk, const char *path, const char *dlerror_text, rsdk_arena *arena,
                                      rsdk_finding *finding, rsdk_error *error);

/* Fill the finding, without a code where the text is another one: a version or a symbol lacks. No file is hashed. */
rsdk_status rsdk_misfit_find(rsdk_sdk *sdk, const char *path, const char *dlerror_text, rsdk_arena *arena,
                             rsdk_finding *finding, rsdk_error *error);

/* The causes of errors. An error that may have several causes is examined after it has happened. */

/* Find the cause of an error. A library that the linker refused is explained by its needs, a missing library by the
 * RECORD that lists it, an unusable file by its content. RSDK_NO_MEMORY is the only failure. */
rsdk_status rsdk_cause_of_error(const rsdk_error *error, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_finding *finding);

/* Libraries that took long to load because HIP was in use already: it then reads all GPU code of a library, for each
 * device, while the library is loaded. Source: rocm-systems 5767 (librccl: 3 s instead of 30 ms). */

/* Set *text to the sentence for the user; NULL where there is nothing to tell: the library was there, was quick, has no
 * GPU code, or the process has no GPU open. `root` is the directory that stands for / (NULL: / itself). */
rsdk_status rsdk_late_load_describe(const rsdk_loaded_entry *entry, const char *root, rsdk_arena *arena,
                                    const char **text, rsdk_error *error);

#endif
