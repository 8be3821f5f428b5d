/* Plug-ins that a library of the SDK opens by their paths. */
#ifndef RSDK_LOADER_PLUG_INS_H
#define RSDK_LOADER_PLUG_INS_H

#include "loader/planned.h"

typedef RSDK_LIST(rsdk_location) rsdk_locations;

/* Add the libraries of the SDK that plug-ins need and do not find by themselves. pattern: the plug-ins', relative to
 * the directory of `opener`. A plug-in that cannot be read needs nothing. */
rsdk_status rsdk_plug_ins_find_needs(rsdk_plan *plan, size_t opener, const char *pattern, rsdk_locations *needs,
                                     rsdk_error *error);

#endif
