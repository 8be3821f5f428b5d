/* Whether given files were built for the release of ROCm that the SDK is. */
#ifndef RSDK_LOADER_RELEASE_CHECK_H
#define RSDK_LOADER_RELEASE_CHECK_H

#include "loader/plan.h"

/* RSDK_BAD_ELF where a file that is not the SDK's needs a library that nobody has, and the SDK has it in another
 * version: the linker would refuse the file. One error stands for all such libraries; HIP's version is told first. */
rsdk_status rsdk_release_check(const rsdk_plan *plan, rsdk_sdk *sdk, rsdk_error *error);

#endif
