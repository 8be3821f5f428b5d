/* Version 1: a header, blobs, and a table of contents in msgpack at the end of the file. */
#include "device_code/listing.h"

#include "base/fail.h"
#include "base/name_table.h"
#include "device_code/message_pack.h"

enum {
    HEADER_SIZE = 16,
    VERSION = 1,
    KEY_SIZE = 32,
    NAME_LIMIT = 4096,
    TARGET_LIMIT = 256,
    CONTENTS_LIMIT = 1 << 25, /* bytes of the table of contents: a sparse file may have any number of zeros */
};

typedef struct kpack {
    rsdk_listing *listing;
    rsdk_message message;
    rsdk_strings targets;   /* the targets as the tools write them */
    rsdk_name_table places; /* their places, by their names in the archive */
} kpack;

/* Take the next target. Thousands of kernels share a few. */
static rsdk_status take_target(kpack *k, const char **target) {
    rsdk_arena *arena = k->listing->arena;
    rsdk_error *error = k->listing->error;
    char text[TARGET_LIMIT];
    size_t place = 0;
    RSDK_TRY(rsdk_message_key(&k->message, text, sizeof text));
    size_t length = strlen(text);
    if (!rsdk_name_table_find(&k->places, text, length, &place)) {
        if (k->message.number >= sizeof text) {
            return rsdk_extent_damaged(k->message.extent, "the name of a target is longer than any is", error);
        }
        const char *name = rsdk_arena_copy(arena, text);
        RSDK_NEED(name, error);
        *target = rsdk_entry_id_normal_target(name, arena);
        RSDK_NEED(*target, error);
        place = k->targets.count;
        RSDK_TRY(rsdk_name_table_set(&k->places, arena, name, length, place, error));
        RSDK_APPEND(arena, &k->targets, *target, error);
    }
    *target = k->targets.items[place];
    return rsdk_listing_count(k->listing, k->message.extent, length);
}

/* Take {"type": text, "ordinal": number, "original_size": number, ...}. */
static rsdk_status take_entry(kpack *k, rsdk_device_image image) {
    rsdk_message *message = &k->message;
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
    return rsdk_listing_add_image(k->listing, image);
}

/* Take {key: {target: entry}}. */
static rsdk_status take_kernels(kpack *k) {
    RSDK_TRY(rsdk_message_expect(&k->message, RSDK_MESSAGE_MAP));
    for (uint64_t left = k->message.number; left > 0; left--) {
        const char *name = NULL;
        RSDK_TRY(rsdk_message_text(&k->message, NAME_LIMIT, k->listing->arena, &name));
        RSDK_TRY(rsdk_listing_count_name(k->listing, k->message.extent, strlen(name)));
        RSDK_TRY(rsdk_message_expect(&k->message, RSDK_MESSAGE_MAP));
        for (uint64_t targets = k->message.number; targets > 0; targets--) {
            rsdk_device_image image = {.id = name};
            RSDK_TRY(take_target(k, &image.target));
            RSDK_TRY(take_entry(k, image));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_kpack_list(rsdk_listing *listing, const rsdk_extent *extent) {
    unsigned char header[HEADER_SIZE];
    kpack k = {.listing = listing};
    RSDK_TRY(rsdk_extent_read(extent, 0, header, sizeof header, listing->error));
    uint64_t contents_at = rsdk_extent_u64(header + 8);
    if (rsdk_extent_u32(header + 4) != VERSION) {
        return rsdk_extent_damaged(extent, "a kpack archive is of a version that is not known", listing->error);
    }
    if (contents_at < HEADER_SIZE || contents_at >= extent->size) {
        return rsdk_extent_damaged(extent, "the table of contents of a kpack archive lies outside the file",
                                   listing->error);
    }
    if (extent->size - contents_at > CONTENTS_LIMIT) {
        return rsdk_extent_damaged(extent, "the table of contents of a kpack archive is larger than any is",
                                   listing->error);
    }
    RSDK_TRY(rsdk_listing_add_bundle(listing, extent,
                                     (rsdk_device_bundle){.container = RSDK_CONTAINER_KPACK,
                                                          .offset = extent->start,
                                                          .size = extent->size,
                                                          .plain_size = extent->size,
                                                          .version = VERSION}));
    rsdk_extent contents = rsdk_extent_from(extent, contents_at);
    rsdk_message_init(&k.message, &contents, listing->error);
    RSDK_TRY(rsdk_message_expect(&k.message, RSDK_MESSAGE_MAP));
    for (uint64_t left = k.message.number; left > 0; left--) {
        char key[KEY_SIZE];
        RSDK_TRY(rsdk_message_key(&k.message, key, sizeof key));
        if (strcmp(key, "toc") == 0) {
            RSDK_TRY(take_kernels(&k));
        } else if (strcmp(key, "compression_scheme") == 0) {
            /* Any scheme other than "none" is zstd. */
            char scheme[KEY_SIZE];
            rsdk_device_bundle *bundle = &k.listing->bundles.items[0];
            RSDK_TRY(rsdk_message_key(&k.message, scheme, sizeof scheme));
            bundle->compression = strcmp(scheme, "none") == 0 ? NULL : "zstd";
        } else {
            RSDK_TRY(rsdk_message_skip(&k.message));
        }
    }
    return RSDK_OK;
}
