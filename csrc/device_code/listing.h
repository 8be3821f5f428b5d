/* The code that is found in a file, while the file is being read. */
#ifndef RSDK_DEVICE_CODE_LISTING_H
#define RSDK_DEVICE_CODE_LISTING_H

#include "base/arena.h"
#include "device_code/decompression.h"
#include "device_code/extent.h"
#include "rocm_sdk/device_code.h"

typedef struct rsdk_listing {
    rsdk_arena *arena;
    rsdk_error *error;
    const char *section, *member; /* the names of the section and the member in hand; NULL: none */
    RSDK_LIST(rsdk_device_bundle) bundles;
    RSDK_LIST(rsdk_device_image) images;
    rsdk_kernel_reference kernels;
    bool has_removed_code;
    const char *history; /* the note of a file that was rewritten; NULL: none */
    rsdk_decompression decompression;
    unsigned char *head; /* room for the head of a container, RSDK_LISTING_HEAD_LIMIT bytes at most */
    size_t head_capacity;
    /* Passed so far: a small file may claim any number, and name the same bytes many times. */
    size_t entries, names, name_bytes;
} rsdk_listing;

enum { RSDK_LISTING_HEAD_LIMIT = 1 << 20 };

/* Begin a bundle, to which the images that are added next belong. `member` and `section` are filled in. */
rsdk_status rsdk_listing_add_bundle(rsdk_listing *listing, const rsdk_extent *extent, rsdk_device_bundle bundle);

/* Add an image. If nothing else names its target, the object does. */
rsdk_status rsdk_listing_add_image(rsdk_listing *listing, rsdk_device_image image);

/* Recognise the image at `image->offset` of the extent: fill in format, object_target, version and generic_version, and
 * turn the offset into an offset in the file. */
rsdk_status rsdk_listing_look_at_image(rsdk_listing *listing, const rsdk_extent *extent, rsdk_device_image *image);

/* Count an entry of a container, wanted or not; its name has `name_size` bytes. RSDK_BAD_ELF where there are more than
 * any file has. */
rsdk_status rsdk_listing_count(rsdk_listing *listing, const rsdk_extent *extent, size_t name_size);

/* Count a name that several entries may share. */
rsdk_status rsdk_listing_count_name(rsdk_listing *listing, const rsdk_extent *extent, size_t size);

/* Make listing->head at least this large; its content is lost. */
rsdk_status rsdk_listing_make_room(rsdk_listing *listing, size_t size);

#endif
