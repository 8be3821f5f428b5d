/* Why the linker refused a library: the dlerror text, and the cause that the dependency graph knows. */
#ifndef RSDK_LOADER_LOAD_FAILURE_H
#define RSDK_LOADER_LOAD_FAILURE_H

#include "loader/plan.h"

/* Fills *error with RSDK_LOAD_FAILED for the step's library. `before` lists what was loaded before, "" for nothing.
 * Reads files again: this happens only after a failure. */
rsdk_status rsdk_load_failure_explain(rsdk_plan *plan, const rsdk_planned_step *step, const char *dlerror_text,
                                      const char *before, rsdk_error *error);

#endif
