/* The libraries of a plan that the process has already, from outside the SDK or in another version. */
#ifndef RSDK_LOADER_CONFLICTS_H
#define RSDK_LOADER_CONFLICTS_H

#include "loader/dependency_graph.h"
#include "loader/origin.h"
#include "loader/warnings.h"

/* The input of the search for conflicts, and the list that it adds them to. Everything is borrowed. */
typedef struct rsdk_conflicts {
    const rsdk_graph *graph;
    const rsdk_strings *library_path; /* the directories of LD_LIBRARY_PATH */
    const char *ld_preload;           /* the value of LD_PRELOAD; NULL: not set */
    rsdk_origins *origins;            /* empty; filled in for the first conflict */
    rsdk_warnings *warnings;
} rsdk_conflicts;

/* Note that the object at `loaded_path`, which has the SONAME of the SDK's file, is used instead of it, and who brought
 * the object in. */
rsdk_status rsdk_conflicts_check_namesake(const rsdk_conflicts *conflicts, const char *soname, const char *loaded_path,
                                          const char *sdk_path, rsdk_error *error);

/* Note the conflicts of nodes that a step brings in: other versions of them, and needed libraries that they will get
 * from outside the SDK. */
rsdk_status rsdk_conflicts_check_members(const rsdk_conflicts *conflicts, const size_t *nodes, size_t count,
                                         rsdk_error *error);

#endif
