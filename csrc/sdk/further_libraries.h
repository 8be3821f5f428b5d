/* Libraries of the SDK outside the places that libraries are looked for in: deeper in a package, or in one without
 * short names, as the device packages. Only the needs of given files lead there. */
#ifndef RSDK_SDK_FURTHER_LIBRARIES_H
#define RSDK_SDK_FURTHER_LIBRARIES_H

#include "sdk/inventory.h"

/* Return whether the loader would find a library of the SDK, by its path: in the places of package_table.c, and for a
 * given file in all of a package but its private places. The answer is true for a ROCm without packages. */
bool rsdk_library_is_searched(const char *path, bool is_for_files);

/* Find the file of this name; *path is NULL where there is none. Copies of libraries that systems have too (LLVM's,
 * rocm_sysdeps) and the development tree are left out. The packages are walked through at the first call. */
rsdk_status rsdk_further_libraries_find(rsdk_inventory *inventory, const char *name, const char **path,
                                        rsdk_package_id *package, rsdk_error *error);

#endif
