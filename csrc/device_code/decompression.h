/* The head of a stream that zlib or zstd has compressed. The two libraries are opened when one is needed first, and
 * closed with the listing: the extension is linked with neither, because each import would pay for it. */
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

/* "zlib", "zstd", NULL for another number. */
const char *rsdk_decompression_name(unsigned method);

/* The first `size` bytes, or as many as there are, of what the whole extent is compressed from. */
rsdk_status rsdk_decompression_read_head(rsdk_decompression *decompression, unsigned method, const rsdk_extent *packed,
                                         void *buffer, size_t size, size_t *got, rsdk_error *error);

#endif
