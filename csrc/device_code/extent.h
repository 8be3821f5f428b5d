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

/* Exactly `size` bytes from `offset` of it; RSDK_BAD_ELF where the file is too short. */
rsdk_status rsdk_extent_read(const rsdk_extent *extent, uint64_t offset, void *buffer, size_t size, rsdk_error *error);

/* As many as there are, at most `size`. */
rsdk_status rsdk_extent_read_some(const rsdk_extent *extent, uint64_t offset, void *buffer, size_t size, size_t *got,
                                  rsdk_error *error);

/* The rest of the extent from `offset`, which must lie in it. */
static inline rsdk_extent rsdk_extent_from(const rsdk_extent *extent, uint64_t offset) {
    return (rsdk_extent){extent->file, extent->start + offset, extent->size - offset};
}

/* Fills the error with what is wrong, and where. */
void rsdk_extent_describe_damage(const rsdk_extent *extent, const char *what, rsdk_error *error);

/* The same, and returns RSDK_BAD_ELF. Inline, so that a static analyser sees that it never returns RSDK_OK. */
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
