/* The functions of an open SDK that the loader needs beyond the public header. */
#ifndef RSDK_SDK_LAYOUT_H
#define RSDK_SDK_LAYOUT_H

#include "rocm_sdk/sdk.h"

/* Return RSDK_PACKAGE_NOT_INSTALLED with an error that names all the packages marked in `missing`, and the one pip line
 * that installs them. `what` begins the message. */
rsdk_status rsdk_sdk_fail_not_installed(rsdk_sdk *sdk, const char *what, const bool missing[RSDK_PACKAGE_COUNT],
                                        rsdk_error *error);

/* Return RSDK_UNKNOWN_LIBRARY with the names that resemble `shortname`. `source` is where the wish comes from, "" for
 * the caller. */
rsdk_status rsdk_sdk_fail_unknown(const char *source, const char *shortname, rsdk_error *error);

/* Return a directory of libraries of the catalog, as this SDK has it, relative to the platform directory. */
const char *rsdk_sdk_library_place(const rsdk_sdk *sdk, const char *directory);

/* Return the path of the file that takes the place of the SDK's own, and where the wish for it comes from; NULL: there
 * is none. */
const char *rsdk_sdk_override(const rsdk_sdk *sdk, const rsdk_catalog_entry *entry, const char **source);

#endif
