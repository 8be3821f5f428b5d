/* Names without version by which libraries are opened: the packages have no files of such names. */
#ifndef RSDK_LOADER_SECOND_NAMES_H
#define RSDK_LOADER_SECOND_NAMES_H

#include "loader/planned.h"

/* Find the linker name of a SONAME that has a version; *name is NULL for a SONAME without one. */
rsdk_status rsdk_second_names_of(rsdk_arena *arena, const char *soname, const char **name, rsdk_error *error);

/* Fill in plan->names, and the names of its steps: names that programs are known to use, by the catalog, and
 * plan->wished_names, which members of the plan use. */
rsdk_status rsdk_second_names_fill(rsdk_plan *plan, rsdk_error *error);

/* Return whether the plan has this name. */
bool rsdk_second_names_has(const rsdk_plan *plan, const char *name);

#endif
