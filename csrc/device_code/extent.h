/* A part of an open file, outside which nothing is read; and the numbers of the formats, which are little-endian. */
#ifndef RSDK_DEVICE_CODE_EXTENT_H
#define RSDK_DEVICE_CODE_EXTENT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_extent {
    const rsdk_file *file;
    uint64_t start, size; /* lies in the file */
} rsdk_extent;

static inline bool rsdk_extent_has(const rsdk_extent *extent, uint64_t offset, uint64_t size) {
    return offset <= extent->size && size <= extent->size - offset;
}

/* Read exactly `size` bytes from `offset` of the extent; RSDK_BAD_ELF where the file is too short. */
rsdk_status rsdk_extent_read(const rsdk_extent *extent, uint64_t offset, void *buffer, size_t size, rsdk_error *error);

/* Read as many bytes as there are, at most `size`. */
rsdk_status rsdk_extent_read_some(const rsdk_extent *extent, uint64_t offset, void *buffer, size_t size, size_t *got,
                                  rsdk_error *error);

/* Return the rest of the extent from `offset`, which must lie in it. */
static inline rsdk_extent rsdk_extent_from(const rsdk_extent *extent, uint64_t offset) {
    return (rsdk_extent){extent->file, extent->start + offset, extent->size - offset};
}

/* Fill the error with the fault, and its place. */
void rsdk_extent_describe_damage(const rsdk_extent *extent, const char *what, rsdk_error *error);

/* Do the same, and return RSDK_BAD_ELF. The function is inline, so that a static analyser sees that it never returns
 * RSDK_OK. */
static inline rsdk_status rsdk_extent_damaged(const rsdk_extent *extent, const char *what, rsdk_error *error) {
    rsdk_extent_describe_damage(extent, what, error);
    return RSDK_BAD_ELF;
}

static inline uint16_t rsdk_extent_u16(const unsigned char *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return le16toh(value);
}

static inline uint32_t rsdk_extent_u32(const unsigned char *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

static inline uint64_t rsdk_extent_u64(const unsigned char *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return le64toh(value);
}

#endif
