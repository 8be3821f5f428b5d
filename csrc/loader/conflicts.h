/* What the process has already of what a plan brings in. */
#ifndef RSDK_LOADER_CONFLICTS_H
#define RSDK_LOADER_CONFLICTS_H

#include "loader/plan.h"

/* Whether a file of the SDK is its own copy of a host library, of which a process may well have another: no conflict.
 */
bool rsdk_is_private_copy(const char *path);

/* Notes that `mapped_path` is used instead of `sdk_path`, and who brought it in. */
rsdk_status rsdk_warn_conflict(rsdk_plan *plan, const char *soname, const char *mapped_path, const char *sdk_path,
                               rsdk_error *error);

/* Notes the conflicts of all members of a step: other versions of them, and what they need and will get from elsewhere.
 */
rsdk_status rsdk_check_conflicts(rsdk_plan *plan, const rsdk_planned_step *step, rsdk_error *error);

#endif
