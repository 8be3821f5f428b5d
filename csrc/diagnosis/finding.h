/* A fault that was found: a code, and facts for its texts. Problems are made of findings. */
#ifndef RSDK_DIAGNOSIS_FINDING_H
#define RSDK_DIAGNOSIS_FINDING_H

#include "base/arena.h"
#include "rocm_sdk/code.h"
#include "rocm_sdk/error.h"
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

#endif
