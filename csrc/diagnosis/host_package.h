/* The packages of the distributions that bring a library of the system. */
#ifndef RSDK_DIAGNOSIS_HOST_PACKAGE_H
#define RSDK_DIAGNOSIS_HOST_PACKAGE_H

#include "diagnosis/finding.h"

/* Add a fact for each distribution: its package with the library `name`, by the table. A name that is not in the table
 * becomes part of a command that searches for it; if a shell would interpret the name, there is no such command, and
 * nothing is added. RSDK_NO_MEMORY is the only failure. */
rsdk_status rsdk_host_package_add(rsdk_finding *finding, rsdk_arena *arena, const char *name, rsdk_error *error);

/* Return whether the table has the library. */
bool rsdk_host_package_is_known(const char *name);

#endif
