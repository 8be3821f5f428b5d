/* The reason why the dynamic linker refused a library, from the dependency graph, the system and the dlerror text. */
#ifndef RSDK_DIAGNOSIS_LOAD_FAILURE_H
#define RSDK_DIAGNOSIS_LOAD_FAILURE_H

#include "diagnosis/finding.h"

/* Fill the finding for the library `path`, of which the linker said `dlerror_text`. An error that comes up on the way,
 * such as a damaged dependency, is the cause, and is returned in *error. The files are read again. */
rsdk_status rsdk_load_failure_explain(rsdk_sdk *sdk, const char *path, const char *dlerror_text, rsdk_arena *arena,
                                      rsdk_finding *finding, rsdk_error *error);

#endif
