/* The grammar of `.hip_fatbin`: items with zero bytes between them, without a header, a count or an end mark. */
#include "device_code/listing.h"

#include "base/fail.h"
#include "device_code/code_object.h"

enum {
    PADDING_AT_A_TIME = 4096,
    PADDING_LIMIT = 1 << 26, /* items are aligned to a page or so; a sparse file may have any number of zero bytes */
};

rsdk_status rsdk_fat_binary_kind(const rsdk_extent *extent, rsdk_fat_kind *kind, rsdk_error *error) {
    unsigned char bytes[RSDK_ELF_HEADER_SIZE];
    rsdk_elf_header header;
    size_t got = 0;
    RSDK_TRY(rsdk_extent_read_some(extent, 0, bytes, sizeof bytes, &got, error));
    *kind = RSDK_FAT_NOTHING;
    if (got >= RSDK_BUNDLE_MAGIC_SIZE && memcmp(bytes, RSDK_BUNDLE_MAGIC, RSDK_BUNDLE_MAGIC_SIZE) == 0) {
        *kind = RSDK_FAT_BUNDLE;
    } else if (got >= RSDK_COMPRESSED_BUNDLE_MAGIC_SIZE &&
               memcmp(bytes, RSDK_COMPRESSED_BUNDLE_MAGIC, RSDK_COMPRESSED_BUNDLE_MAGIC_SIZE) == 0) {
        *kind = RSDK_FAT_COMPRESSED_BUNDLE;
    } else if (rsdk_elf_header_parse(bytes, got, &header) && rsdk_code_object_is(&header)) {
        *kind = RSDK_FAT_CODE_OBJECT;
    }
    return RSDK_OK;
}

static rsdk_status list_code_object(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size) {
    RSDK_TRY(rsdk_elf_header_extent(extent->file, extent->start, extent->size, size, listing->error));
    rsdk_device_image image = {.size = *size};
    RSDK_TRY(rsdk_listing_add_bundle(
        listing, extent, (rsdk_device_bundle){.offset = extent->start, .size = *size, .plain_size = *size}));
    RSDK_TRY(rsdk_listing_look_at_image(listing, extent, &image));
    return rsdk_listing_add_image(listing, image);
}

rsdk_status rsdk_fat_binary_list_one(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size) {
    rsdk_fat_kind kind = RSDK_FAT_NOTHING;
    RSDK_TRY(rsdk_fat_binary_kind(extent, &kind, listing->error));
    switch (kind) {
    case RSDK_FAT_BUNDLE:
        return rsdk_bundle_list(listing, extent, size);
    case RSDK_FAT_COMPRESSED_BUNDLE:
        return rsdk_bundle_list_compressed(listing, extent, size);
    case RSDK_FAT_CODE_OBJECT:
        return list_code_object(listing, extent, size);
    case RSDK_FAT_NOTHING:
        break;
    }
    return rsdk_extent_damaged(extent, "neither a bundle nor a code object where one should be", listing->error);
}

/* Pass zero bytes; *offset becomes the place of another byte, or the end. */
static rsdk_status skip_padding(const rsdk_extent *extent, uint64_t *offset, rsdk_error *error) {
    unsigned char bytes[PADDING_AT_A_TIME];
    for (uint64_t end = *offset + PADDING_LIMIT; *offset < end;) {
        size_t got = 0;
        RSDK_TRY(rsdk_extent_read_some(extent, *offset, bytes, sizeof bytes, &got, error));
        for (size_t i = 0; i < got; i++) {
            if (bytes[i] != 0) {
                *offset += i;
                return RSDK_OK;
            }
        }
        *offset += got;
        if (got == 0) {
            return RSDK_OK;
        }
    }
    return rsdk_extent_damaged(extent, "it is followed by more zero bytes than any is", error);
}

rsdk_status rsdk_fat_binary_list_all(rsdk_listing *listing, const rsdk_extent *extent) {
    for (uint64_t offset = 0;;) {
        uint64_t size = 0;
        RSDK_TRY(skip_padding(extent, &offset, listing->error));
        if (offset >= extent->size) {
            return RSDK_OK;
        }
        rsdk_extent rest = rsdk_extent_from(extent, offset);
        RSDK_TRY(rsdk_fat_binary_list_one(listing, &rest, &size));
        offset += size;
    }
}
