/* The releases of ROCm that files were built for: the SONAMEs that they need tell the releases, and the versions of
 * HIP's symbols. */
#ifndef RSDK_SDK_BUILT_FOR_H
#define RSDK_SDK_BUILT_FOR_H

#include <stdbool.h>

#include "base/text.h"
#include "gpu/gpu_runtime.h"
#include "sdk/tables.h"

/* first {0, 0}: not known; last {0, 0}: no end. Both: nothing is known. */
typedef struct rsdk_release_range {
    rsdk_release first, last;
} rsdk_release_range;

/* The releases that the added names have told so far. */
typedef struct rsdk_built_for {
    rsdk_release_range all, hip; /* by all names; by HIP's names alone. No release: the first is after the last */
    bool is_newer;               /* a known SONAME has a later number than the table knows: nothing is told */
} rsdk_built_for;

/* Return whether a SONAME tells releases. */
bool rsdk_built_for_knows(const char *soname);

/* Add a SONAME. Most SONAMEs tell nothing. */
void rsdk_built_for_add(rsdk_built_for *files, const char *soname);

/* Add a version that a file needs of the library of that SONAME: "hip_6.4" of HIP. */
void rsdk_built_for_add_version(rsdk_built_for *files, const char *soname, const char *version);

/* Return the releases that all names fit. Where there is none, HIP's count: distributions mix the other libraries. */
rsdk_release_range rsdk_built_for_releases(const rsdk_built_for *files);

bool rsdk_release_range_is_known(rsdk_release_range range);

/* Return whether some release may be in both ranges. */
bool rsdk_release_ranges_meet(rsdk_release_range a, rsdk_release_range b);

/* Add "ROCm 6.0 to 6.4", "ROCm 6.4", "ROCm 7.0 or newer", "ROCm 5.7 or older"; nothing for a range that is not
 * known. */
void rsdk_release_range_add_text(rsdk_release_range range, rsdk_text *text);

/* Add "rocm[libraries]>=6.0,<6.5", "rocm[libraries]>=7.0"; nothing if the first release is not known. */
void rsdk_release_range_add_requirement(rsdk_release_range range, rsdk_text *text);

/* The rules by which a libhsa-runtime64 reads the variables that choose and present GPUs, as its file shows. */

/* Read the rules of the libhsa-runtime64 at a path. Errors as of rsdk_elf_file_read. */
rsdk_status rsdk_runtime_rules_read(const char *path, rsdk_gpu_runtime *runtime, rsdk_error *error);

#endif
