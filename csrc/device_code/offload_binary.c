/* OffloadBinary, versions 1 to 3. In version 3 everything from the entries on may be compressed. Then only its head is
 * decompressed: it has the entries and their strings. Source: llvm/Object/OffloadBinary.h. */
#include "device_code/listing.h"

#include "base/fail.h"

enum {
    HEADER_SIZE = 32,
    LONG_HEADER_SIZE = 40, /* bytes of the header of version 3 */
    ENTRY_SIZE = 40,
    ENTRY_LIMIT = 4096,
    STRING_LIMIT = 16, /* strings of one entry */
    KEY_SIZE = 16,
    VALUE_SIZE = 256,
    HEAD_LIMIT = 1 << 18, /* bytes of a decompressed head */
};

/* A record; `extent` is the whole of it in the file. */
typedef struct record {
    rsdk_extent extent;
    unsigned version;
    uint64_t entries, count;
    uint64_t plain_size;       /* bytes of the decompressed record; its size where it is not compressed */
    const unsigned char *head; /* the plain data, from the entries on; NULL: the record is not compressed */
    size_t head_size;
    const char *compression;
    bool is_compressed;
} record;

static rsdk_status damaged(const record *r, rsdk_error *error) {
    return rsdk_extent_damaged(&r->extent, "a record of an offload binary contradicts itself", error);
}

static bool has(const record *r, uint64_t offset, uint64_t size) {
    return offset <= r->plain_size && size <= r->plain_size - offset;
}

/* Read as many plain bytes as there are from an offset in the record, at most `size`. */
static rsdk_status read_some(const record *r, uint64_t offset, void *buffer, size_t size, size_t *got,
                             rsdk_error *error) {
    *got = 0;
    if (r->head == NULL) {
        return rsdk_extent_read_some(&r->extent, offset, buffer, size, got, error);
    }
    if (offset < r->entries || offset - r->entries >= r->head_size) {
        return damaged(r, error);
    }
    size_t start = (size_t)(offset - r->entries), left = r->head_size - start;
    *got = left < size ? left : size;
    memcpy(buffer, r->head + start, *got);
    return RSDK_OK;
}

static rsdk_status read_at(const record *r, uint64_t offset, void *buffer, size_t size, rsdk_error *error) {
    size_t got = 0;
    RSDK_TRY(has(r, offset, size) ? read_some(r, offset, buffer, size, &got, error) : damaged(r, error));
    return got == size ? RSDK_OK : damaged(r, error);
}

/* Read a text that ends with NUL, cut short where it is longer. */
static rsdk_status read_text(const record *r, uint64_t offset, char *text, size_t size, rsdk_error *error) {
    size_t got = 0;
    RSDK_TRY(offset < r->plain_size ? read_some(r, offset, text, size - 1, &got, error) : damaged(r, error));
    text[got] = '\0';
    return RSDK_OK;
}

/* The description of an entry by its strings. */
typedef struct strings {
    char triple[VALUE_SIZE], target[VALUE_SIZE];
} strings;

static rsdk_status take_entry(rsdk_listing *listing, const record *r, const unsigned char *entry) {
    strings s = {"", ""};
    rsdk_device_image image = {.offset = rsdk_extent_u64(entry + 24), .size = rsdk_extent_u64(entry + 32)};
    RSDK_TRY(rsdk_listing_count(listing, &r->extent, 0));
    rsdk_error *error = listing->error;
    uint64_t table = rsdk_extent_u64(entry + 8), count = rsdk_extent_u64(entry + 16);
    size_t row_size = r->version == 1 ? 16 : 24;
    if (count > STRING_LIMIT) {
        return damaged(r, error);
    }
    for (uint64_t i = 0; i < count; i++) {
        unsigned char row[24] = {0};
        char key[KEY_SIZE], value[VALUE_SIZE];
        if (!has(r, table, (i + 1) * row_size)) {
            return damaged(r, error);
        }
        RSDK_TRY(read_at(r, table + i * row_size, row, row_size, error));
        RSDK_TRY(read_text(r, rsdk_extent_u64(row), key, sizeof key, error));
        RSDK_TRY(read_text(r, rsdk_extent_u64(row + 8), value, sizeof value, error));
        char *known = strcmp(key, "triple") == 0 ? s.triple : strcmp(key, "arch") == 0 ? s.target : NULL;
        if (known != NULL) {
            memcpy(known, value, sizeof value);
        }
    }
    if (!rsdk_entry_id_has_amd_architecture(s.triple)) {
        return RSDK_OK;
    }
    if (!has(r, image.offset, image.size)) {
        return damaged(r, listing->error);
    }
    if (r->head == NULL) {
        RSDK_TRY(rsdk_listing_look_at_image(listing, &r->extent, &image));
    }
    if (s.target[0] != '\0') {
        image.target = rsdk_entry_id_normal_target(s.target, listing->arena);
        RSDK_NEED(image.target, listing->error);
    }
    return rsdk_listing_add_image(listing, image);
}

/* Read the header at the start of `extent`. */
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
    uint64_t inflated = r->version == 3 ? rsdk_extent_u64(bytes + 32) : 0;
    r->is_compressed = inflated != 0;
    r->plain_size = r->is_compressed ? inflated : size;
    if (r->entries < header_size || r->entries > size || r->count > ENTRY_LIMIT ||
        !has(r, r->entries, r->count * ENTRY_SIZE)) {
        return damaged(r, error);
    }
    return RSDK_OK;
}

rsdk_status rsdk_offload_binary_list_all(rsdk_listing *listing, const rsdk_extent *extent) {
    uint64_t offset = 0;
    while (offset < extent->size && extent->size - offset >= HEADER_SIZE) {
        record r;
        rsdk_extent rest = rsdk_extent_from(extent, offset);
        RSDK_TRY(read_record(&rest, &r, listing->error));
        if (r.is_compressed) {
            static const unsigned char zstd_magic[] = {0x28, 0xB5, 0x2F, 0xFD};
            unsigned char start[sizeof zstd_magic];
            rsdk_extent packed = rsdk_extent_from(&r.extent, r.entries);
            uint64_t left = r.plain_size - r.entries;
            RSDK_TRY(rsdk_extent_read(&packed, 0, start, sizeof start, listing->error));
            unsigned method =
                memcmp(start, zstd_magic, sizeof start) == 0 ? RSDK_COMPRESSION_ZSTD : RSDK_COMPRESSION_ZLIB;
            RSDK_TRY(rsdk_listing_make_room(listing, HEAD_LIMIT));
            RSDK_TRY(rsdk_decompression_read_head(&listing->decompression, method, &packed, listing->head,
                                                  left < HEAD_LIMIT ? (size_t)left : HEAD_LIMIT, &r.head_size,
                                                  listing->error));
            r.head = listing->head;
            r.compression = rsdk_decompression_name(method);
        }
        RSDK_TRY(rsdk_listing_add_bundle(listing, &r.extent,
                                         (rsdk_device_bundle){.container = RSDK_CONTAINER_OFFLOAD_BINARY,
                                                              .offset = r.extent.start,
                                                              .size = r.extent.size,
                                                              .plain_size = r.plain_size,
                                                              .version = r.version,
                                                              .compression = r.compression}));
        for (uint64_t i = 0; i < r.count; i++) {
            unsigned char entry[ENTRY_SIZE];
            RSDK_TRY(read_at(&r, r.entries + i * ENTRY_SIZE, entry, sizeof entry, listing->error));
            RSDK_TRY(take_entry(listing, &r, entry));
        }
        uint64_t padding = (8 - r.extent.size % 8) % 8;
        offset += r.extent.size;
        offset += padding < extent->size - offset ? padding : extent->size - offset;
    }
    rsdk_extent rest = rsdk_extent_from(extent, offset);
    /* The rest is too short for a record, and must be padding. */
    unsigned char bytes[HEADER_SIZE];
    size_t got = 0;
    RSDK_TRY(rsdk_extent_read_some(&rest, 0, bytes, sizeof bytes, &got, listing->error));
    for (size_t i = 0; i < got; i++) {
        if (bytes[i] != 0) {
            return rsdk_extent_damaged(&rest, "a record of an offload binary ends too early", listing->error);
        }
    }
    return RSDK_OK;
}
