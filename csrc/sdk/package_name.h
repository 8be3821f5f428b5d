/* The names of the packages of an SDK, with the family and the nonce that are part of the names. */
#ifndef RSDK_SDK_PACKAGE_NAME_H
#define RSDK_SDK_PACKAGE_NAME_H

#include "sdk/open_sdk.h"

/* Return the distribution's name for a family ("gfx942:xnack+" shares the packages of gfx942), or without one (NULL).
 * NULL when out of memory, here and below. */
char *rsdk_package_name_distribution(rsdk_sdk *sdk, rsdk_package_id package, const char *family);

/* Return the name of the platform directory as a module: "_rocm_sdk_core" and the nonce. */
char *rsdk_package_name_module(rsdk_sdk *sdk, rsdk_package_id package, const char *family);

#endif
