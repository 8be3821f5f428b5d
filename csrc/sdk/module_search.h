/* The place of a module, as an import would find it, without importing. */
#ifndef RSDK_SDK_MODULE_SEARCH_H
#define RSDK_SDK_MODULE_SEARCH_H

#include "sdk/open_sdk.h"

/* Find the directory of a module; *directory is NULL where there is none. */
rsdk_status rsdk_module_search_find(rsdk_sdk *sdk, const char *module, const char **directory, rsdk_error *error);

#endif
