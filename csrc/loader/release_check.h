/* Whether given files were built for the release of ROCm that the SDK is. */
#ifndef RSDK_LOADER_RELEASE_CHECK_H
#define RSDK_LOADER_RELEASE_CHECK_H

#include "loader/plan.h"

/* RSDK_BAD_ELF if a file from outside the SDK needs a library that is nowhere, and the SDK has another version of it:
 * the linker would refuse the file. One error stands for all such libraries, and names HIP's version first. */
rsdk_status rsdk_release_check(const rsdk_plan *plan, rsdk_sdk *sdk, rsdk_error *error);

#endif
