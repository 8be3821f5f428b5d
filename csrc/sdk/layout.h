/* What the loader needs of an open SDK beyond the public header. */
#ifndef RSDK_SDK_LAYOUT_H
#define RSDK_SDK_LAYOUT_H

#include "base/arena.h"
#include "rocm_sdk/sdk.h"

/* Memory that lives as long as the SDK is open. */
rsdk_arena *rsdk_sdk_arena(rsdk_sdk *sdk);

/* Remembers a sentence for the user; dropped when out of memory. */
void rsdk_sdk_warn(rsdk_sdk *sdk, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* RSDK_PACKAGE_NOT_INSTALLED that names all the packages marked in `missing`, and the one pip line that installs them.
 * `what` begins the message. */
rsdk_status rsdk_sdk_fail_not_installed(rsdk_sdk *sdk, const char *what, const bool missing[RSDK_PACKAGE_COUNT],
                                        rsdk_error *error);

#endif
