/* A msgpack map: {"kernel_name": text, "kpack_search_paths": [text, ...]}. */
#include "device_code/listing.h"

#include "base/fail.h"
#include "device_code/message_pack.h"

enum {
    KEY_SIZE = 32,
    NAME_LIMIT = 4096,
    PATH_LIMIT = 64, /* search paths */
};

static rsdk_status read_paths(rsdk_listing *listing, rsdk_message *message) {
    rsdk_kernel_reference *kernels = &listing->kernels;
    RSDK_TRY(rsdk_message_expect(message, RSDK_MESSAGE_ARRAY));
    if (message->number > PATH_LIMIT) {
        return rsdk_extent_damaged(message->extent, "a kpack marker has more search paths than any does",
                                   listing->error);
    }
    size_t count = (size_t)message->number;
    const char **paths = rsdk_arena_alloc(listing->arena, count + 1, sizeof *paths);
    RSDK_NEED(paths, listing->error);
    for (size_t i = 0; i < count; i++) {
        RSDK_TRY(rsdk_message_text(message, NAME_LIMIT, listing->arena, &paths[i]));
    }
    kernels->search_paths = paths;
    kernels->search_path_count = count;
    return RSDK_OK;
}

rsdk_status rsdk_kernel_reference_read(rsdk_listing *listing, const rsdk_extent *extent) {
    rsdk_message message;
    rsdk_message_init(&message, extent, listing->error);
    RSDK_TRY(rsdk_message_expect(&message, RSDK_MESSAGE_MAP));
    for (uint64_t left = message.number; left > 0; left--) {
        char key[KEY_SIZE];
        RSDK_TRY(rsdk_message_key(&message, key, sizeof key));
        if (strcmp(key, "kernel_name") == 0) {
            RSDK_TRY(rsdk_message_text(&message, NAME_LIMIT, listing->arena, &listing->kernels.name));
        } else if (strcmp(key, "kpack_search_paths") == 0) {
            RSDK_TRY(read_paths(listing, &message));
        } else {
            RSDK_TRY(rsdk_message_skip(&message));
        }
    }
    return listing->kernels.name != NULL && listing->kernels.search_path_count > 0
               ? RSDK_OK
               : rsdk_extent_damaged(extent, "a kpack marker does not say where the code is", listing->error);
}
