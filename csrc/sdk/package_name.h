/* The packages of an SDK: their names, with the family and the nonce that are part of the names, and their places. */
#ifndef RSDK_SDK_PACKAGE_NAME_H
#define RSDK_SDK_PACKAGE_NAME_H

#include "sdk/open_sdk.h"

/* Return the distribution's name for a family ("gfx942:xnack+" shares the packages of gfx942), or without one (NULL).
 * NULL when out of memory, here and below. */
char *rsdk_package_name_distribution(const rsdk_sdk *sdk, rsdk_package_id package, const char *family,
                                     rsdk_arena *arena);

/* Return the name of the platform directory as a module: "_rocm_sdk_core" and the nonce. */
char *rsdk_package_name_module(const rsdk_sdk *sdk, rsdk_package_id package, const char *family, rsdk_arena *arena);

/* The place of a module, as an import would find it, without importing. */

/* Find the directory of a module; *directory is NULL where there is none. RSDK_IO_ERROR where none is found and a place
 * could not be asked: an error of the disk is no absence. */
rsdk_status rsdk_module_search_find(rsdk_sdk *sdk, const char *module, const char **directory, rsdk_error *error);

/* The choice among several installed libraries packages, where an SDK has one for each target family. */

/* Choose the libraries package of one family: the requested family; else the only family that is installed; else the
 * family that fits the machine's GPUs; else the default family; else the first. *chosen stays as it is where none is
 * installed. RSDK_PACKAGE_NOT_INSTALLED where the requested one is not. */
rsdk_status rsdk_libraries_family_choose(rsdk_sdk *sdk, rsdk_package_state *chosen, rsdk_error *error);

#endif
