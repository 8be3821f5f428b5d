/* An SDK that is chosen by its directory (ROCM_SDK_ROOT): that directory takes the place of the whole search path. */
#ifndef RSDK_SDK_ROOT_H
#define RSDK_SDK_ROOT_H

#include "sdk/open_sdk.h"

/* Make the directory the search path. RSDK_BAD_ARGUMENT if it cannot be one. */
rsdk_status rsdk_root_use(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error);

/* Return RSDK_BAD_ARGUMENT for a directory without an SDK: the error says what the directory is, and which one may be
 * meant. */
rsdk_status rsdk_root_fail_without_sdk(rsdk_sdk *sdk, rsdk_error *error);

#endif
