/* Targets in the names of loose files: "Kernels.so-000-gfx90a-xnack+.hsaco", "gfx942130.db.txt". */
#ifndef RSDK_DEVICE_CODE_FILE_TARGET_H
#define RSDK_DEVICE_CODE_FILE_TARGET_H

#include <stdbool.h>

#include "rocm_sdk/gpu.h"

/* Find the target that a name carries, as a target id: "gfx90a:xnack+". Where the name ends with it, apart from the
 * text behind a '.', *start becomes the position of the separator before it ("_gfx942" of "libck_gfx942.so"); else
 * 0. */
bool rsdk_file_target_find(const char *name, char target[RSDK_TARGET_ID_SIZE], size_t *start);

/* Find the same as a normal target id, without "-strict", which is a mode of arithmetic and not of the GPU. A name that
 * begins as a performance database's does carries its target, too. */
bool rsdk_file_target_find_normal(const char *name, char target[RSDK_TARGET_ID_SIZE]);

/* Return the target in the name of a performance database, which the number of compute units follows without a
 * separator. NULL: no known target. */
const rsdk_target *rsdk_file_target_of_database(const char *name);

#endif
