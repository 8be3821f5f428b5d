/* An SDK that is not installed as packages: below a prefix, in a conda environment, in the system. */
#ifndef RSDK_SDK_FALLBACK_H
#define RSDK_SDK_FALLBACK_H

#include "sdk/open_sdk.h"

/* Make the first of the places that holds a ROCm the directory of all packages. RSDK_BAD_ARGUMENT for a word that does
 * not name a place. */
rsdk_status rsdk_fallback_use(rsdk_sdk *sdk, const rsdk_sdk_options *options, rsdk_error *error);

/* Return whether a prefix could be such a place. For an SDK that is not opened after all: the call may set its
 * version. */
bool rsdk_fallback_is_rocm(rsdk_sdk *sdk, const char *prefix);

#endif
