/* Finds what an error means. An error that may have several causes is examined after it has happened. */
#ifndef RSDK_DIAGNOSIS_CAUSE_H
#define RSDK_DIAGNOSIS_CAUSE_H

#include "diagnosis/finding.h"

/* The finding behind an error. A library that the linker refused is explained by what it needs, a missing library by
 * the RECORD that lists it, an unusable file by what it is. RSDK_NO_MEMORY is the only failure. */
rsdk_status rsdk_cause_of_error(const rsdk_error *error, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_finding *finding);

#endif
