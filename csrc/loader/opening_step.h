/* The steps of a plan that open a library. */
#ifndef RSDK_LOADER_OPENING_STEP_H
#define RSDK_LOADER_OPENING_STEP_H

#include "loader/planned.h"

/* Find out whether the linker, looking for a file that `from` needs (or opens with dlopen), finds `target` (a path)
 * itself. */
rsdk_status rsdk_plan_finds_by_itself(rsdk_plan *plan, size_t from, const char *target, bool *finds, rsdk_error *error);

/* Fill in how the step opens its library, and the files that it brings in. */
rsdk_status rsdk_plan_fill_opening(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error);

#endif
