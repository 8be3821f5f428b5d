/* What the loader needs of an open SDK beyond the public header. */
#ifndef RSDK_SDK_LAYOUT_H
#define RSDK_SDK_LAYOUT_H

#include "rocm_sdk/sdk.h"

/* RSDK_PACKAGE_NOT_INSTALLED that names all the packages marked in `missing`, and the one pip line that installs them.
 * `what` begins the message. */
rsdk_status rsdk_sdk_fail_not_installed(rsdk_sdk *sdk, const char *what, const bool missing[RSDK_PACKAGE_COUNT],
                                        rsdk_error *error);

#endif
