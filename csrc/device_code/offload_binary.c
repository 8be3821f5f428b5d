/* OffloadBinary, versions 1 and 2, and 3 where it is not compressed. Source: llvm/Object/OffloadBinary.h. */
#include "device_code/offload_binary.h"

#include "base/fail.h"
#include "device_code/entry_id.h"

enum {
    HEADER_SIZE = 32,
    LONG_HEADER_SIZE = 40, /* of version 3 */
    ENTRY_SIZE = 40,
    ENTRY_LIMIT = 4096,
    STRING_LIMIT = 16, /* of one entry */
    KEY_SIZE = 16,
    VALUE_SIZE = 256,
};

/* A record; `extent` is the whole of it. */
typedef struct record {
    rsdk_extent extent;
    unsigned version;
    uint64_t entries, count;
} record;

static rsdk_status damaged(const record *r, rsdk_error *error) {
    return rsdk_extent_damaged(&r->extent, "a record of an offload binary contradicts itself", error);
}

/* A text that ends with NUL, cut short where it is longer. */
static rsdk_status read_text(const record *r, uint64_t offset, char *text, size_t size, rsdk_error *error) {
    size_t got = 0;
    if (offset >= r->extent.size) {
        return damaged(r, error);
    }
    RSDK_TRY(rsdk_extent_read_some(&r->extent, offset, text, size - 1, &got, error));
    text[got] = '\0';
    return RSDK_OK;
}

/* What the strings of an entry say about it. */
typedef struct strings {
    char triple[VALUE_SIZE], target[VALUE_SIZE];
} strings;

static rsdk_status read_strings(const record *r, const unsigned char *entry, strings *s, rsdk_error *error) {
    uint64_t table = rsdk_extent_u64(entry + 8), count = rsdk_extent_u64(entry + 16);
    size_t row_size = r->version == 1 ? 16 : 24;
    if (count > STRING_LIMIT) {
        return damaged(r, error);
    }
    for (uint64_t i = 0; i < count; i++) {
        unsigned char row[24] = {0};
        char key[KEY_SIZE], value[VALUE_SIZE];
        if (!rsdk_extent_has(&r->extent, table, (i + 1) * row_size)) {
            return damaged(r, error);
        }
        RSDK_TRY(rsdk_extent_read(&r->extent, table + i * row_size, row, row_size, error));
        RSDK_TRY(read_text(r, rsdk_extent_u64(row), key, sizeof key, error));
        RSDK_TRY(read_text(r, rsdk_extent_u64(row + 8), value, sizeof value, error));
        char *known = strcmp(key, "triple") == 0 ? s->triple : strcmp(key, "arch") == 0 ? s->target : NULL;
        if (known != NULL) {
            memcpy(known, value, sizeof value);
        }
    }
    return RSDK_OK;
}

static rsdk_status take_entry(rsdk_listing *listing, const record *r, const unsigned char *entry) {
    rsdk_error *error = listing->error;
    strings s = {"", ""};
    rsdk_device_image image = {.offset = rsdk_extent_u64(entry + 24), .size = rsdk_extent_u64(entry + 32)};
    RSDK_TRY(rsdk_listing_count(listing, &r->extent, 0));
    RSDK_TRY(read_strings(r, entry, &s, error));
    if (!rsdk_entry_id_has_amd_architecture(s.triple)) {
        return RSDK_OK;
    }
    if (!rsdk_extent_has(&r->extent, image.offset, image.size)) {
        return damaged(r, error);
    }
    RSDK_TRY(rsdk_listing_look_at_image(listing, &r->extent, &image));
    if (s.target[0] != '\0') {
        image.target = rsdk_entry_id_normal_target(s.target, listing->arena);
        RSDK_NEED(image.target);
    }
    return rsdk_listing_add_image(listing, image);
}

/* Reads the header at the start of `extent`. */
static rsdk_status read_record(const rsdk_extent *extent, record *r, rsdk_error *error) {
    unsigned char bytes[LONG_HEADER_SIZE] = {0};
    size_t got = 0;
    *r = (record){.extent = *extent};
    RSDK_TRY(rsdk_extent_read_some(extent, 0, bytes, sizeof bytes, &got, error));
    r->version = rsdk_extent_u32(bytes + 4);
    uint64_t size = rsdk_extent_u64(bytes + 8);
    size_t header_size = r->version >= 3 ? LONG_HEADER_SIZE : HEADER_SIZE;
    if (memcmp(bytes, RSDK_OFFLOAD_BINARY_MAGIC, RSDK_OFFLOAD_BINARY_MAGIC_SIZE) != 0 || got < header_size ||
        size < header_size || size > extent->size) {
        return damaged(r, error);
    }
    r->extent.size = size;
    r->entries = rsdk_extent_u64(bytes + 16);
    r->count = r->version == 1 ? 1 : rsdk_extent_u64(bytes + 24);
    if (r->version < 1 || r->version > 3) {
        return rsdk_extent_damaged(extent, "an offload binary is of a version that is not known", error);
    }
    if (r->version == 3 && rsdk_extent_u64(bytes + 32) != 0) {
        return rsdk_extent_damaged(extent, "an offload binary is compressed, which this version does not read", error);
    }
    if (r->count > ENTRY_LIMIT || !rsdk_extent_has(&r->extent, r->entries, r->count * ENTRY_SIZE)) {
        return damaged(r, error);
    }
    return RSDK_OK;
}

static rsdk_status list_record(rsdk_listing *listing, const record *r) {
    rsdk_error *error = listing->error;
    RSDK_TRY(rsdk_listing_add_bundle(listing, &r->extent,
                                     (rsdk_device_bundle){.container = RSDK_CONTAINER_OFFLOAD_BINARY,
                                                          .offset = r->extent.start,
                                                          .size = r->extent.size,
                                                          .plain_size = r->extent.size,
                                                          .version = r->version}));
    for (uint64_t i = 0; i < r->count; i++) {
        unsigned char entry[ENTRY_SIZE];
        RSDK_TRY(rsdk_extent_read(&r->extent, r->entries + i * ENTRY_SIZE, entry, sizeof entry, error));
        RSDK_TRY(take_entry(listing, r, entry));
    }
    return RSDK_OK;
}

rsdk_status rsdk_offload_binary_list_all(rsdk_listing *listing, const rsdk_extent *extent) {
    for (uint64_t offset = 0; offset < extent->size && extent->size - offset >= HEADER_SIZE;) {
        record r;
        rsdk_extent rest = rsdk_extent_from(extent, offset);
        RSDK_TRY(read_record(&rest, &r, listing->error));
        RSDK_TRY(list_record(listing, &r));
        uint64_t padding = (8 - r.extent.size % 8) % 8;
        offset += r.extent.size;
        offset += padding < extent->size - offset ? padding : extent->size - offset;
    }
    return RSDK_OK;
}
