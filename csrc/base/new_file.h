/* Files that get their names when they are complete. */
#ifndef RSDK_BASE_NEW_FILE_H
#define RSDK_BASE_NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "rocm_sdk/error.h"

/* Write `size` bytes to a new file `path`. If the name is taken, the file gets a number before its ending
 * ("node1.1.json"): nothing is written over. With `replaces` it takes the place of a file of this name: whoever opens
 * the file sees the old or the new one whole, also after the power failed; only its owner may write to it. A link at
 * the end of the path is not followed. The function makes four system calls where the file system can rename without
 * replacing (NFS cannot: three more). Nothing is left of a file that could not be written. RSDK_IO_ERROR. */
rsdk_status rsdk_new_file_write(const char *path, const void *data, size_t size, bool replaces, rsdk_error *error);

/* Write all bytes to a descriptor; return false with errno. */
bool rsdk_new_file_write_all(int descriptor, const char *bytes, size_t size);

#endif
