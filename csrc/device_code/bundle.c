/* The header of a bundle lies at its start, and nothing in it refers backwards: a head of the plain data is enough to
 * list it. The head grows until it holds the header. */
#include "device_code/listing.h"

#include <string.h>

#include "base/fail.h"
#include "base/file.h"

enum {
    FIRST_HEAD = 4096, /* the header of any ordinary bundle */
    FIXED_SIZE = 32,   /* magic and number of entries */
    ENTRY_SIZE = 24,   /* without the ID */
    ENTRY_LIMIT = 4096,
    ID_LIMIT = 4096,
};

/* The plain data of a bundle, of which a head is known. */
typedef struct plain {
    const unsigned char *head;
    size_t known;
    uint64_t size;
} plain;

typedef struct entry {
    uint64_t offset, size;
    const char *id; /* id_size bytes */
    size_t id_size;
} entry;

typedef enum extent_of_header { WHOLE, CUT, BAD_MAGIC, BAD_COUNT, BAD_ID } extent_of_header;

static entry entry_at(const plain *p, size_t position) {
    const unsigned char *bytes = p->head + position;
    return (entry){.offset = rsdk_extent_u64(bytes),
                   .size = rsdk_extent_u64(bytes + 8),
                   .id = (const char *)bytes + ENTRY_SIZE,
                   .id_size = (size_t)rsdk_extent_u64(bytes + 16)};
}

/* Find out whether the head holds the whole header. *size is the length of the header or, until the length is known, a
 * lower bound. */
static extent_of_header measure_header(const plain *p, size_t *size) {
    *size = FIXED_SIZE;
    if (p->known < FIXED_SIZE) {
        return CUT;
    }
    if (memcmp(p->head, RSDK_BUNDLE_MAGIC, RSDK_BUNDLE_MAGIC_SIZE) != 0) {
        return BAD_MAGIC;
    }
    uint64_t count = rsdk_extent_u64(p->head + RSDK_BUNDLE_MAGIC_SIZE);
    if (count > ENTRY_LIMIT) {
        return BAD_COUNT;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (p->known - *size < ENTRY_SIZE) {
            *size += ENTRY_SIZE;
            return CUT;
        }
        uint64_t id_size = rsdk_extent_u64(p->head + *size + 16);
        if (id_size > ID_LIMIT) {
            return BAD_ID;
        }
        *size += ENTRY_SIZE + (size_t)id_size;
        if (*size > p->known) {
            return CUT;
        }
    }
    return WHOLE;
}

static const char *what_is_wrong(extent_of_header header) {
    static const char *const texts[] = {
        [CUT] = "a bundle ends within its header, or the header is longer than any is",
        [BAD_MAGIC] = "the compressed data there is no bundle",
        [BAD_COUNT] = "a bundle has more entries than any does",
        [BAD_ID] = "the ID of an entry of a bundle is longer than any is",
    };
    return texts[header];
}

/* Add the entries for GPUs. Images of compressed bundles are not looked at. *end is where the last one ends. */
static rsdk_status take_entries(rsdk_listing *listing, const rsdk_extent *extent, const plain *p, size_t header_size,
                                bool is_compressed, uint64_t *end) {
    uint64_t count = rsdk_extent_u64(p->head + RSDK_BUNDLE_MAGIC_SIZE);
    size_t position = FIXED_SIZE;
    *end = header_size;
    for (uint64_t i = 0; i < count; i++) {
        const char *target = NULL;
        entry e = entry_at(p, position);
        position += ENTRY_SIZE + e.id_size;
        RSDK_TRY(rsdk_listing_count(listing, extent, e.id_size));
        if (e.size > 0 && (e.offset < header_size || e.offset > p->size || e.size > p->size - e.offset)) {
            return rsdk_extent_damaged(extent, "an entry of a bundle lies outside the bundle", listing->error);
        }
        *end = e.size > 0 && e.offset + e.size > *end ? e.offset + e.size : *end;
        const char *id = rsdk_arena_copy_bytes(listing->arena, e.id, strnlen(e.id, e.id_size));
        RSDK_NEED(id, listing->error);
        if (!rsdk_entry_id_parse(id, &target)) {
            continue;
        }
        rsdk_device_image image = {.id = id, .offset = e.offset, .size = e.size};
        if (!is_compressed) {
            RSDK_TRY(e.size > 0 ? rsdk_listing_look_at_image(listing, extent, &image) : RSDK_OK);
            image.format = e.size > 0 ? image.format : RSDK_IMAGE_EMPTY;
        }
        if (target[0] != '\0') {
            image.target = rsdk_entry_id_normal_target(target, listing->arena);
            RSDK_NEED(image.target, listing->error);
        }
        RSDK_TRY(rsdk_listing_add_image(listing, image));
    }
    return RSDK_OK;
}

/* Return how large the next head should be, 0 where it cannot grow. */
static size_t next_head(const plain *p, size_t wanted) {
    size_t size = p->known * 2 > wanted ? p->known * 2 : wanted;
    size = size < RSDK_LISTING_HEAD_LIMIT ? size : RSDK_LISTING_HEAD_LIMIT;
    size = size < p->size ? size : (size_t)p->size;
    return size > p->known ? size : 0;
}

/* ---- not compressed ---- */

rsdk_status rsdk_bundle_list(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size) {
    plain p = {.size = extent->size};
    extent_of_header header = CUT;
    size_t header_size = 0;
    for (size_t head = FIRST_HEAD; header == CUT && head != 0; head = next_head(&p, header_size)) {
        RSDK_TRY(rsdk_listing_make_room(listing, head));
        RSDK_TRY(rsdk_extent_read_some(extent, 0, listing->head, head, &p.known, listing->error));
        p.head = listing->head;
        header = measure_header(&p, &header_size);
    }
    if (header != WHOLE) {
        return rsdk_extent_damaged(extent, what_is_wrong(header), listing->error);
    }
    RSDK_TRY(rsdk_listing_add_bundle(
        listing, extent, (rsdk_device_bundle){.container = RSDK_CONTAINER_BUNDLE, .offset = extent->start}));
    RSDK_TRY(take_entries(listing, extent, &p, header_size, false, size));
    rsdk_device_bundle *bundle = &listing->bundles.items[listing->bundles.count - 1];
    bundle->size = bundle->plain_size = *size;
    return RSDK_OK;
}

/* ---- compressed ---- */

enum { LARGEST_FRAME = 32 };

/* The header in front of the compressed data, of three versions. A hash ends it, which is not compared here. */
typedef struct frame {
    unsigned version, method;
    uint64_t header_size, total, plain_size;
} frame;

static rsdk_status read_frame(const rsdk_extent *extent, frame *f, rsdk_error *error) {
    static const uint64_t header_sizes[] = {0, 20, 24, 32};
    unsigned char bytes[LARGEST_FRAME] = {0};
    size_t got = 0;
    RSDK_TRY(rsdk_extent_read_some(extent, 0, bytes, sizeof bytes, &got, error));
    *f = (frame){.version = rsdk_extent_u16(bytes + 4), .method = rsdk_extent_u16(bytes + 6)};
    if (f->version < 1 || f->version > 3) {
        return rsdk_extent_damaged(extent, "a compressed bundle is of a version that is not known", error);
    }
    f->header_size = header_sizes[f->version];
    f->total = f->version == 1   ? extent->size
               : f->version == 2 ? rsdk_extent_u32(bytes + 8)
                                 : rsdk_extent_u64(bytes + 8);
    f->plain_size = f->version == 3   ? rsdk_extent_u64(bytes + 16)
                    : f->version == 2 ? rsdk_extent_u32(bytes + 12)
                                      : rsdk_extent_u32(bytes + 8);
    if (got < f->header_size || f->total <= f->header_size || f->total > extent->size) {
        return rsdk_extent_damaged(extent, "a compressed bundle ends too early", error);
    }
    return RSDK_OK;
}

rsdk_status rsdk_bundle_list_compressed(rsdk_listing *listing, const rsdk_extent *extent, uint64_t *size) {
    frame f;
    RSDK_TRY(read_frame(extent, &f, listing->error));
    rsdk_extent packed = {extent->file, extent->start + f.header_size, f.total - f.header_size};
    plain p = {.size = f.plain_size};
    extent_of_header header = CUT;
    size_t header_size = 0;
    uint64_t end = 0;
    for (size_t head = FIRST_HEAD; header == CUT && head != 0; head = next_head(&p, header_size)) {
        size_t before = p.known;
        RSDK_TRY(rsdk_listing_make_room(listing, head));
        RSDK_TRY(rsdk_decompression_read_head(&listing->decompression, f.method, &packed, listing->head, head, &p.known,
                                              listing->error));
        p.head = listing->head;
        header = measure_header(&p, &header_size);
        if (p.known == before) {
            break; /* there is no more, whatever the header says */
        }
    }
    if (header != WHOLE) {
        return rsdk_extent_damaged(extent, what_is_wrong(header), listing->error);
    }
    *size = f.total;
    RSDK_TRY(rsdk_listing_add_bundle(listing, extent,
                                     (rsdk_device_bundle){.container = RSDK_CONTAINER_COMPRESSED_BUNDLE,
                                                          .offset = extent->start,
                                                          .size = f.total,
                                                          .plain_size = f.plain_size,
                                                          .version = f.version,
                                                          .compression = rsdk_decompression_name(f.method)}));
    return take_entries(listing, extent, &p, header_size, true, &end);
}
