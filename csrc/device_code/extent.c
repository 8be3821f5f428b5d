/* Reading within bounds. */
#include "device_code/extent.h"

#include <inttypes.h>

#include "base/fail.h"

void rsdk_extent_describe_damage(const rsdk_extent *extent, const char *what, rsdk_error *error) {
    const char *path = extent->file->path;
    (void)rsdk_fail(error, RSDK_BAD_ELF, path, "%s: device code at byte %" PRIu64 ": %s", path, extent->start, what);
}

rsdk_status rsdk_extent_read(const rsdk_extent *extent, uint64_t offset, void *buffer, size_t size, rsdk_error *error) {
    if (!rsdk_extent_has(extent, offset, size)) {
        return rsdk_extent_damaged(extent, "ends too early", error);
    }
    return rsdk_file_read(extent->file, extent->start + offset, buffer, size, error);
}

rsdk_status rsdk_extent_read_some(const rsdk_extent *extent, uint64_t offset, void *buffer, size_t size, size_t *got,
                                  rsdk_error *error) {
    uint64_t left = offset < extent->size ? extent->size - offset : 0;
    *got = left < size ? (size_t)left : size;
    return rsdk_file_read(extent->file, extent->start + offset, buffer, *got, error);
}
