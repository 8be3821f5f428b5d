/* The causes of errors. An error that may have several causes is examined after it has happened. */
#ifndef RSDK_DIAGNOSIS_CAUSE_H
#define RSDK_DIAGNOSIS_CAUSE_H

#include "diagnosis/finding.h"

/* Find the cause of an error. A library that the linker refused is explained by its needs, a missing library by the
 * RECORD that lists it, an unusable file by its content. RSDK_NO_MEMORY is the only failure. */
rsdk_status rsdk_cause_of_error(const rsdk_error *error, rsdk_sdk *sdk, rsdk_arena *arena, rsdk_finding *finding);

#endif
