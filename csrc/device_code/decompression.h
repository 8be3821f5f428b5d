/* A stream that zlib or zstd has compressed, or its head. Each library is opened at first use and closed with the
 * listing. The extension is not linked with them, because each import would pay for that. */
#ifndef RSDK_DEVICE_CODE_DECOMPRESSION_H
#define RSDK_DEVICE_CODE_DECOMPRESSION_H

#include "device_code/extent.h"
#include "rocm_sdk/error.h"

/* dlopen's handles. Starts zeroed. */
typedef struct rsdk_decompression {
    void *zlib, *zstd;
} rsdk_decompression;

void rsdk_decompression_clear(rsdk_decompression *decompression);

/* Methods, by the numbers of compressed bundles. */
enum { RSDK_COMPRESSION_ZLIB, RSDK_COMPRESSION_ZSTD };

/* Return "zlib", "zstd", NULL for another number. */
const char *rsdk_decompression_name(unsigned method);

/* Decompress the first `size` bytes of the extent's plain data, or all if there are fewer. */
rsdk_status rsdk_decompression_read_head(rsdk_decompression *decompression, unsigned method, const rsdk_extent *packed,
                                         void *buffer, size_t size, size_t *got, rsdk_error *error);

/* Write all plain data of the extent into the file of a descriptor, from its start. RSDK_BAD_ELF if there are more than
 * `limit` bytes. */
rsdk_status rsdk_decompression_write(rsdk_decompression *decompression, unsigned method, const rsdk_extent *packed,
                                     int descriptor, uint64_t limit, uint64_t *size, rsdk_error *error);

#endif
