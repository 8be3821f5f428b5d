/* The choice among several installed libraries packages, where an SDK has one for each target family. */
#ifndef RSDK_SDK_LIBRARIES_FAMILY_H
#define RSDK_SDK_LIBRARIES_FAMILY_H

#include "sdk/open_sdk.h"

/* Choose the libraries package of one family: the requested family; else the only family that is installed; else the
 * family that fits the machine's GPUs; else the default family; else the first. *chosen stays as it is where none is
 * installed. RSDK_PACKAGE_NOT_INSTALLED where the requested one is not. */
rsdk_status rsdk_libraries_family_choose(rsdk_sdk *sdk, rsdk_package_state *chosen, rsdk_error *error);

#endif
