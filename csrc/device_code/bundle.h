/* clang's offload bundles, not compressed and compressed. Source: clang's "Clang Offload Bundler". */
#ifndef RSDK_DEVICE_CODE_BUNDLE_H
#define RSDK_DEVICE_CODE_BUNDLE_H

#include "device_code/decompression.h"
#include "device_code/listing.h"

#define RSDK_BUNDLE_MAGIC            "__CLANG_OFFLOAD_BUNDLE__"
#define RSDK_COMPRESSED_BUNDLE_MAGIC "CCOB"
enum { RSDK_BUNDLE_MAGIC_SIZE = 24, RSDK_COMPRESSED_BUNDLE_MAGIC_SIZE = 4 };

/* Add the bundle at the start of `extent`, whose magic was seen there; *size is how many bytes it has. */
rsdk_status rsdk_bundle_list(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size);

/* Add a compressed bundle in the same way: its head is decompressed. */
rsdk_status rsdk_bundle_list_compressed(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size);

/* Write the plain data of a compressed bundle, which takes the whole extent and was listed, to the start of the file of
 * a descriptor. RSDK_BAD_ELF where the data does not match the header, or the header claims more than any does. */
rsdk_status rsdk_bundle_decompress(rsdk_decompression *libraries, const rsdk_extent *extent, int descriptor,
                                   rsdk_error *error);

#endif
