/* The items that lie in a row in a section or file: bundles, compressed bundles and code objects, with padding between
 * them. */
#ifndef RSDK_DEVICE_CODE_FAT_BINARY_H
#define RSDK_DEVICE_CODE_FAT_BINARY_H

#include "device_code/listing.h"

typedef enum rsdk_fat_kind {
    RSDK_FAT_NOTHING, /* none of the kinds below */
    RSDK_FAT_BUNDLE,
    RSDK_FAT_COMPRESSED_BUNDLE,
    RSDK_FAT_CODE_OBJECT,
} rsdk_fat_kind;

/* Find the kind of the item at the start of the extent, by its first bytes. */
rsdk_status rsdk_fat_binary_kind(const rsdk_extent *extent, rsdk_fat_kind *kind, rsdk_error *error);

/* Add the one item at the start of the extent; *size is how many bytes it has. RSDK_BAD_ELF where there is none. */
rsdk_status rsdk_fat_binary_list_one(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size);

/* Add all items, one behind another. The next item is found by the length of the one before, never by a search for its
 * first bytes: compressed data may contain them. */
rsdk_status rsdk_fat_binary_list_all(rsdk_listing *listing, const rsdk_extent *extent);

#endif
