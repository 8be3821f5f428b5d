/* Version 1: a header, blobs, and a table of contents in msgpack at the end of the file. */
#include "device_code/kpack.h"

#include "base/fail.h"
#include "device_code/entry_id.h"
#include "device_code/message_pack.h"

enum {
    HEADER_SIZE = 16,
    VERSION = 1,
    KEY_SIZE = 32,
    NAME_LIMIT = 4096,
};

/* {"type": text, "ordinal": number, "original_size": number, ...} */
static rsdk_status take_entry(rsdk_listing *listing, rsdk_message *message, rsdk_device_image image) {
    RSDK_TRY(rsdk_message_expect(message, RSDK_MESSAGE_MAP));
    for (uint64_t left = message->number; left > 0; left--) {
        char key[KEY_SIZE];
        RSDK_TRY(rsdk_message_key(message, key, sizeof key));
        if (strcmp(key, "original_size") == 0) {
            RSDK_TRY(rsdk_message_expect(message, RSDK_MESSAGE_NUMBER));
            image.size = message->number;
        } else {
            RSDK_TRY(rsdk_message_skip(message));
        }
    }
    return rsdk_listing_add_image(listing, image);
}

/* {key: {target: entry}} */
static rsdk_status take_kernels(rsdk_listing *listing, rsdk_message *message) {
    RSDK_TRY(rsdk_message_expect(message, RSDK_MESSAGE_MAP));
    for (uint64_t left = message->number; left > 0; left--) {
        const char *name = NULL;
        RSDK_TRY(rsdk_message_text(message, NAME_LIMIT, listing->arena, &name));
        RSDK_TRY(rsdk_listing_count(listing, message->extent, strlen(name)));
        RSDK_TRY(rsdk_message_expect(message, RSDK_MESSAGE_MAP));
        for (uint64_t targets = message->number; targets > 0; targets--) {
            const char *target = NULL;
            RSDK_TRY(rsdk_message_text(message, NAME_LIMIT, listing->arena, &target));
            RSDK_TRY(rsdk_listing_count(listing, message->extent, strlen(target)));
            target = rsdk_entry_id_normal_target(target, listing->arena);
            RSDK_NEED(target, listing->error);
            RSDK_TRY(take_entry(listing, message, (rsdk_device_image){.target = target, .id = name}));
        }
    }
    return RSDK_OK;
}

/* The scheme is a text; any that is not "none" is zstd. */
static rsdk_status take_scheme(rsdk_listing *listing, rsdk_message *message) {
    char scheme[KEY_SIZE];
    rsdk_device_bundle *bundle = &listing->bundles.items[0];
    RSDK_TRY(rsdk_message_key(message, scheme, sizeof scheme));
    bundle->compression = strcmp(scheme, "none") == 0 ? NULL : "zstd";
    return RSDK_OK;
}

rsdk_status rsdk_kpack_list(rsdk_listing *listing, const rsdk_extent *extent) {
    unsigned char header[HEADER_SIZE];
    rsdk_message message;
    RSDK_TRY(rsdk_extent_read(extent, 0, header, sizeof header, listing->error));
    uint64_t contents_at = rsdk_extent_u64(header + 8);
    if (rsdk_extent_u32(header + 4) != VERSION) {
        return rsdk_extent_damaged(extent, "a kpack archive is of a version that is not known", listing->error);
    }
    if (contents_at < HEADER_SIZE || contents_at >= extent->size) {
        return rsdk_extent_damaged(extent, "the table of contents of a kpack archive lies outside the file",
                                   listing->error);
    }
    RSDK_TRY(rsdk_listing_add_bundle(listing, extent,
                                     (rsdk_device_bundle){.container = RSDK_CONTAINER_KPACK,
                                                          .offset = extent->start,
                                                          .size = extent->size,
                                                          .plain_size = extent->size,
                                                          .version = VERSION}));
    rsdk_extent contents = rsdk_extent_from(extent, contents_at);
    rsdk_message_init(&message, &contents, listing->error);
    RSDK_TRY(rsdk_message_expect(&message, RSDK_MESSAGE_MAP));
    for (uint64_t left = message.number; left > 0; left--) {
        char key[KEY_SIZE];
        RSDK_TRY(rsdk_message_key(&message, key, sizeof key));
        if (strcmp(key, "toc") == 0) {
            RSDK_TRY(take_kernels(listing, &message));
        } else if (strcmp(key, "compression_scheme") == 0) {
            RSDK_TRY(take_scheme(listing, &message));
        } else {
            RSDK_TRY(rsdk_message_skip(&message));
        }
    }
    return RSDK_OK;
}
