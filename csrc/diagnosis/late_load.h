/* Libraries that took long to load because HIP was in use already: it then reads all GPU code of a library, for each
 * device, while the library is loaded. Source: rocm-systems 5767 (librccl: 3 s instead of 30 ms). */
#ifndef RSDK_DIAGNOSIS_LATE_LOAD_H
#define RSDK_DIAGNOSIS_LATE_LOAD_H

#include "base/arena.h"
#include "rocm_sdk/loader.h"

/* Set *text to the sentence for the user; NULL where there is nothing to tell: the library was there, was quick, has no
 * GPU code, or the process has no GPU open. `root` is the directory that stands for / (NULL: / itself). */
rsdk_status rsdk_late_load_describe(const rsdk_loaded_entry *entry, const char *root, rsdk_arena *arena,
                                    const char **text, rsdk_error *error);

#endif
