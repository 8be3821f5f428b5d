/* Collecting bundles and images; a hostile file may claim any number of them. */
#include "device_code/listing.h"

#include <string.h>

#include "device_code/code_object.h"

enum {
    BUNDLE_LIMIT = 1 << 16,
    ENTRY_LIMIT = 1 << 18, /* 20 MB of images; 111 bundles of librocsparse have 777 */
    NAME_LIMIT = 1 << 25,  /* bytes */
};

rsdk_status rsdk_listing_add_bundle(rsdk_listing *listing, const rsdk_extent *extent, rsdk_device_bundle bundle) {
    if (listing->bundles.count >= BUNDLE_LIMIT) {
        return rsdk_extent_damaged(extent, "the file has more bundles than any library does", listing->error);
    }
    bundle.section = listing->section;
    bundle.member = listing->member;
    RSDK_APPEND(listing->arena, &listing->bundles, bundle, listing->error);
    return RSDK_OK;
}

static rsdk_status count(rsdk_listing *listing, const rsdk_extent *extent, size_t *number, size_t name_size) {
    ++*number;
    listing->name_bytes += name_size;
    return *number <= ENTRY_LIMIT && listing->name_bytes <= NAME_LIMIT
               ? RSDK_OK
               : rsdk_extent_damaged(extent, "the file has more entries than any library does", listing->error);
}

rsdk_status rsdk_listing_count(rsdk_listing *listing, const rsdk_extent *extent, size_t name_size) {
    return count(listing, extent, &listing->entries, name_size);
}

rsdk_status rsdk_listing_count_name(rsdk_listing *listing, const rsdk_extent *extent, size_t size) {
    return count(listing, extent, &listing->names, size);
}

rsdk_status rsdk_listing_add_image(rsdk_listing *listing, rsdk_device_image image) {
    if (image.target == NULL) {
        image.target = image.object_target != NULL ? image.object_target : "";
    }
    RSDK_APPEND(listing->arena, &listing->images, image, listing->error);
    listing->bundles.items[listing->bundles.count - 1].image_count++;
    return RSDK_OK;
}

rsdk_status rsdk_listing_look_at_image(rsdk_listing *listing, const rsdk_extent *extent, rsdk_device_image *image) {
    unsigned char bytes[RSDK_ELF_HEADER_SIZE];
    rsdk_elf_header header;
    rsdk_code_object object;
    size_t size = image->size < sizeof bytes ? (size_t)image->size : sizeof bytes;
    image->format = size == 0 ? RSDK_IMAGE_EMPTY : RSDK_IMAGE_UNKNOWN;
    RSDK_TRY(rsdk_extent_read(extent, image->offset, bytes, size, listing->error));
    image->offset += extent->start;
    if (rsdk_elf_header_parse(bytes, size, &header) && rsdk_code_object_is(&header)) {
        rsdk_code_object_describe(&header, &object);
        image->format = RSDK_IMAGE_CODE_OBJECT;
        image->version = object.version;
        image->generic_version = object.generic_version;
        image->object_target = rsdk_arena_copy(listing->arena, object.target);
        RSDK_NEED(image->object_target, listing->error);
    } else if (size >= 4 && memcmp(bytes, "BC\xc0\xde", 4) == 0) {
        image->format = RSDK_IMAGE_BITCODE;
    } else if (size >= 4 && rsdk_extent_u32(bytes) == 0x07230203) {
        image->format = RSDK_IMAGE_SPIRV;
    }
    return RSDK_OK;
}

rsdk_status rsdk_listing_make_room(rsdk_listing *listing, size_t size) {
    if (size > listing->head_capacity) {
        listing->head = rsdk_arena_alloc(listing->arena, size, 1);
        RSDK_NEED(listing->head, listing->error);
        listing->head_capacity = size;
    }
    return RSDK_OK;
}
