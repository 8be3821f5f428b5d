/* The steps of a plan that open a library. */
#ifndef RSDK_LOADER_OPENING_STEP_H
#define RSDK_LOADER_OPENING_STEP_H

#include "loader/planned.h"

/* Find out whether the linker, looking for a file that `from` needs (or opens with dlopen), finds `target` (a path)
 * itself. */
rsdk_status rsdk_plan_finds_by_itself(rsdk_plan *plan, size_t from, const char *target, bool *finds, rsdk_error *error);

/* Fill in how the step opens its library, and the files that it brings in. */
rsdk_status rsdk_plan_fill_opening(rsdk_plan *plan, rsdk_planned_step *step, rsdk_error *error);

/* Plug-ins that a library of the SDK opens by their paths. */

typedef RSDK_LIST(rsdk_location) rsdk_locations;

/* Add the libraries of the SDK that plug-ins need and do not find by themselves. pattern: the plug-ins', relative to
 * the directory of `opener`. A plug-in that cannot be read needs nothing. */
rsdk_status rsdk_plug_ins_find_needs(rsdk_plan *plan, size_t opener, const char *pattern, rsdk_locations *needs,
                                     rsdk_error *error);

#endif
