/* An SDK that the search path does not have. One that is not installed as packages: below a prefix, in a conda
 * environment, in the system. */
#ifndef RSDK_SDK_FALLBACK_H
#define RSDK_SDK_FALLBACK_H

#include "sdk/open_sdk.h"

/* Make the first of the places that holds a ROCm the directory of all packages. RSDK_BAD_ARGUMENT for a word that does
 * not name a place. */
rsdk_status rsdk_fallback_use(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error);

/* Return whether a prefix could be such a place. For an SDK that is not opened after all: the call may set its
 * version. */
bool rsdk_fallback_is_rocm(rsdk_sdk *sdk, const char *prefix);

/* An SDK that is chosen by its directory (ROCM_SDK_ROOT): that directory takes the place of the whole search path. */

/* Make the directory the search path. RSDK_BAD_ARGUMENT if it cannot be one. */
rsdk_status rsdk_root_use(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error);

/* Return RSDK_BAD_ARGUMENT for a directory without an SDK: the error says what the directory is, and which one may be
 * meant. */
rsdk_status rsdk_root_fail_without_sdk(rsdk_sdk *sdk, rsdk_error *error);

#endif
