/* From shortnames to files, for the planner; the public face is rsdk_loader_locate. */
#ifndef RSDK_LOADER_RESOLVER_H
#define RSDK_LOADER_RESOLVER_H

#include "rocm_sdk/loader.h"
#include "sdk/inventory.h"

/* Find libraries. `locations` has room for `count` locations; texts are borrowed from the SDK. */
rsdk_status rsdk_resolver_find_all(rsdk_inventory *inventory, const char *const *shortnames, size_t count,
                                   rsdk_location *locations, rsdk_error *error);

/* Look for each library of the catalog: a location and a failure for each row, RSDK_OK where it has a location. Each
 * file is read once. RSDK_NO_MEMORY, or RSDK_PACKAGE_NOT_INSTALLED where a row has this failure: the others have been
 * looked for all the same. */
rsdk_status rsdk_resolver_find_catalog(rsdk_inventory *inventory, rsdk_location *locations, rsdk_error *failures,
                                       rsdk_error *error);

/* Find all libraries of the catalog; `locations` has room for rsdk_catalog_size() locations. A library that is not
 * there is absent, and no failure. *lacks_packages: some libraries are absent because their package is not installed,
 * though the SDK does not say that it was built without them. */
rsdk_status rsdk_resolver_find_installed(rsdk_inventory *inventory, rsdk_location *locations, bool *lacks_packages,
                                         rsdk_error *error);

#endif
