/* The reader of kernels, which goes through the notes of each code object. A msgpack text is checked as a whole before
 * any part of it is used. */
#include "device_code/kernels.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"
#include "device_code/listing.h"
#include "device_code/message_pack.h"
#include "elf/elf_header.h"
#include "elf/elf_note.h"

enum {
    SEGMENT_LIMIT = 1024,
    NOTE_LIMIT = 1 << 26,   /* bytes of the notes of a code object, which lie in memory */
    KERNEL_LIMIT = 1 << 18, /* kernels of a code object; the largest have 10,000s */
    DEPTH_LIMIT = 32,       /* values in each other */
    NOTE_OF_YAML = 10,
    NOTE_OF_MESSAGE = 32,
    /* Values take up to 72 bytes in Python, and images may share the bytes of their notes. A file may therefore have so
     * many values, and each 64 bytes of notes count as one more. */
    READ_AT_LEAST = 1 << 22,
    READ_FOR_EACH_BYTE = 4,
    BYTES_OF_ONE = 64,
};

/* A note of a code object, and where it lies. */
typedef struct note {
    rsdk_kernel_reader *reader;
    const char *bytes;
    rsdk_extent extent;
    rsdk_error *error;
} note;

static rsdk_status spend(rsdk_kernel_reader *r, const rsdk_extent *extent, uint64_t count, rsdk_error *error) {
    if (count > r->left) {
        return rsdk_extent_damaged(extent, "its code objects describe more kernels than any file has", error);
    }
    r->left -= count;
    return RSDK_OK;
}

static rsdk_status add_kernel(const note *n, rsdk_kernel kernel) {
    rsdk_kernel_reader *r = n->reader;
    RSDK_APPEND(&r->arena, &r->kernels, kernel, n->error);
    return r->kernels.count <= KERNEL_LIMIT
               ? RSDK_OK
               : rsdk_extent_damaged(&n->extent, "a code object has more kernels than any has", n->error);
}

/* ---- msgpack ---- */

/* Values that are still to come, at each depth of a message. */
typedef struct nesting {
    uint64_t left[DEPTH_LIMIT + 1];
    bool is_map[DEPTH_LIMIT + 1];
    size_t depth;
} nesting;

static bool may_be_key(rsdk_message_kind kind) {
    return kind == RSDK_MESSAGE_TEXT || kind == RSDK_MESSAGE_NUMBER || kind == RSDK_MESSAGE_NEGATIVE ||
           kind == RSDK_MESSAGE_BOOL;
}

static rsdk_status check_value(const note *n, rsdk_message *m, nesting *p) {
    bool is_key = p->is_map[p->depth] && p->left[p->depth] % 2 == 0;
    p->left[p->depth]--;
    RSDK_TRY(spend(n->reader, &n->extent, 1, n->error));
    RSDK_TRY(rsdk_message_next(m));
    bool is_map = m->kind == RSDK_MESSAGE_MAP;
    if (is_key && !may_be_key(m->kind)) {
        return RSDK_BAD_ELF;
    }
    if (!is_map && m->kind != RSDK_MESSAGE_ARRAY) {
        return rsdk_message_skip_content(m);
    }
    if (m->number > 0) {
        if (p->depth == DEPTH_LIMIT) {
            return RSDK_BAD_ELF;
        }
        p->depth++;
        p->left[p->depth] = is_map ? 2 * m->number : m->number;
        p->is_map[p->depth] = is_map;
    }
    return RSDK_OK;
}

/* Check that the first value is whole; bytes behind it do not count. RSDK_BAD_ELF may come without an error. */
static rsdk_status check_message(const note *n) {
    rsdk_message m;
    nesting p = {.left = {1}};
    rsdk_message_init_bytes(&m, n->bytes, &n->extent, NULL);
    for (;;) {
        while (p.left[p.depth] == 0) {
            if (p.depth == 0) {
                return RSDK_OK;
            }
            p.depth--;
        }
        RSDK_TRY(check_value(n, &m, &p));
    }
}

/* Read a key; *is_it says whether it is this text. */
static rsdk_status take_key(rsdk_message *m, const char *text, bool *is_it) {
    const unsigned char *bytes = NULL;
    RSDK_TRY(rsdk_message_next(m));
    *is_it = false;
    if (m->kind == RSDK_MESSAGE_TEXT) {
        RSDK_TRY(rsdk_message_bytes(m, &bytes));
        *is_it = m->number == strlen(text) && memcmp(bytes, text, strlen(text)) == 0;
    }
    return RSDK_OK;
}

/* Take a kernel, which is a value with a name. If a key is there twice the last one counts, as for all readers. */
static rsdk_status take_kernel(const note *n, rsdk_message *m) {
    const unsigned char *name = NULL;
    size_t start = (size_t)m->position, name_size = 0;
    RSDK_TRY(rsdk_message_next(m));
    if (m->kind != RSDK_MESSAGE_MAP) {
        return rsdk_message_skip_content(m);
    }
    for (uint64_t left = m->number; left > 0; left--) {
        bool is_name = false;
        RSDK_TRY(take_key(m, ".name", &is_name));
        RSDK_TRY(rsdk_message_next(m));
        if (is_name && m->kind == RSDK_MESSAGE_TEXT) {
            name_size = (size_t)m->number;
            RSDK_TRY(rsdk_message_bytes(m, &name));
        } else {
            name = is_name ? NULL : name;
            RSDK_TRY(rsdk_message_skip_content(m));
        }
    }
    const unsigned char *metadata = (const unsigned char *)n->bytes + start;
    return name != NULL
               ? add_kernel(n, (rsdk_kernel){(const char *)name, name_size, metadata, (size_t)m->position - start})
               : RSDK_OK;
}

/* Take {"amdhsa.kernels": [{".name": ..., ...}, ...], ...}. */
static rsdk_status take_message(const note *n) {
    rsdk_message m;
    uint64_t kernels = 0; /* the place of the kernels; 0: there are none */
    rsdk_message_init_bytes(&m, n->bytes, &n->extent, NULL);
    RSDK_TRY(rsdk_message_next(&m));
    for (uint64_t left = m.kind == RSDK_MESSAGE_MAP ? m.number : 0; left > 0; left--) {
        bool is_it = false;
        RSDK_TRY(take_key(&m, "amdhsa.kernels", &is_it));
        kernels = is_it ? m.position : kernels;
        RSDK_TRY(rsdk_message_skip(&m));
    }
    if (kernels == 0) {
        return RSDK_OK;
    }
    m.position = kernels;
    RSDK_TRY(rsdk_message_next(&m));
    for (uint64_t left = m.kind == RSDK_MESSAGE_ARRAY ? m.number : 0; left > 0; left--) {
        RSDK_TRY(take_kernel(n, &m));
    }
    return RSDK_OK;
}

/* ---- YAML ---- */

static bool is_around_name(char c) {
    return c != '\0' && strchr(" \t\r'\"", c) != NULL;
}

/* Take the names of kernels from lines: "  - Name:            'scale'", quoted where YAML would take the name for
 * something else. */
static rsdk_status take_lines(const note *n) {
    static const char start[] = "  - Name:";
    const char *end = n->bytes + n->extent.size;
    for (const char *line = n->bytes; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line)), *name = line + sizeof start - 1;
        stop = stop != NULL ? stop : end;
        const char *next = stop + 1;
        if ((size_t)(stop - line) >= sizeof start - 1 && memcmp(line, start, sizeof start - 1) == 0) {
            for (; name < stop && is_around_name(*name); name++) {
            }
            for (; name < stop && is_around_name(stop[-1]); stop--) {
            }
            RSDK_TRY(add_kernel(n, (rsdk_kernel){.name = name, .name_size = (size_t)(stop - name)}));
        }
        line = next;
    }
    return RSDK_OK;
}

/* ---- code objects ---- */

static bool is_note(const rsdk_elf_note *found, const char *owner, uint32_t type) {
    return found->type == type && found->owner_size == strlen(owner) + 1 &&
           memcmp(found->owner, owner, found->owner_size) == 0;
}

static rsdk_status take_note(const note *n, const rsdk_elf_note *found) {
    if (is_note(found, "AMD", NOTE_OF_YAML)) {
        return take_lines(n);
    }
    if (!is_note(found, "AMDGPU", NOTE_OF_MESSAGE)) {
        return RSDK_OK;
    }
    rsdk_status status = check_message(n);
    status = status == RSDK_OK ? take_message(n) : status;
    bool is_told = n->error != NULL && n->error->message != NULL;
    return status == RSDK_BAD_ELF && !is_told
               ? rsdk_extent_damaged(&n->extent, "the metadata of a code object is damaged", n->error)
               : status;
}

static rsdk_status read_notes(rsdk_kernel_reader *r, const rsdk_extent *segment, uint64_t align, rsdk_error *error) {
    size_t size = (size_t)segment->size;
    uint64_t at = 0;
    rsdk_elf_note found;
    RSDK_TRY(spend(r, segment, size / BYTES_OF_ONE, error));
    char *bytes = rsdk_arena_alloc(&r->arena, size, 1);
    RSDK_NEED(bytes, error);
    RSDK_TRY(rsdk_extent_read(segment, 0, bytes, size, error));
    while (rsdk_elf_note_next(bytes, size, align, &at, &found)) {
        uint64_t start = segment->start + (uint64_t)(found.description - bytes);
        note n = {r, found.description, {segment->file, start, found.size}, error};
        RSDK_TRY(take_note(&n, &found));
    }
    return at < size && size - at >= sizeof(Elf64_Nhdr)
               ? rsdk_extent_damaged(segment, "a note of a code object lies outside it", error)
               : RSDK_OK;
}

static rsdk_status read_segments(rsdk_kernel_reader *r, const rsdk_extent *extent, const rsdk_elf_header *header,
                                 rsdk_error *error) {
    uint64_t note_bytes = 0;
    for (unsigned i = 0; i < header->segment_count; i++) {
        Elf64_Phdr row;
        RSDK_TRY(rsdk_extent_read(extent, header->segments_offset + i * sizeof row, &row, sizeof row, error));
        uint64_t offset = le64toh(row.p_offset), size = le64toh(row.p_filesz);
        if (le32toh(row.p_type) != PT_NOTE) {
            continue;
        }
        if (!rsdk_extent_has(extent, offset, size) || size > NOTE_LIMIT - note_bytes) {
            return rsdk_extent_damaged(extent, "a note of a code object lies outside it", error);
        }
        note_bytes += size;
        rsdk_extent segment = {extent->file, extent->start + offset, size};
        RSDK_TRY(read_notes(r, &segment, le64toh(row.p_align), error));
    }
    return RSDK_OK;
}

/* Read the kernels of an image. An image that is not a code object has none. */
static rsdk_status read_image(rsdk_kernel_reader *r, const rsdk_device_image *image, rsdk_error *error) {
    rsdk_extent extent = {&r->plain, image->offset, image->size};
    unsigned char bytes[RSDK_ELF_HEADER_SIZE];
    rsdk_elf_header header;
    size_t got = 0;
    r->target = image->target;
    RSDK_TRY(rsdk_extent_read_some(&extent, 0, bytes, sizeof bytes, &got, error));
    if (!rsdk_elf_header_parse(bytes, got, &header) || header.elf_class != ELFCLASS64 ||
        header.data_encoding != ELFDATA2LSB) {
        return RSDK_OK;
    }
    if (header.segment_count > SEGMENT_LIMIT ||
        !rsdk_extent_has(&extent, header.segments_offset, header.segment_count * sizeof(Elf64_Phdr))) {
        return rsdk_extent_damaged(&extent, "the headers of a code object lie outside it", error);
    }
    return read_segments(r, &extent, &header, error);
}

/* ---- the file ---- */

static rsdk_status enter_bundle(rsdk_kernel_reader *r, const rsdk_device_bundle *bundle, rsdk_error *error) {
    rsdk_extent extent = {&r->file, bundle->offset, bundle->size};
    r->plain = r->file;
    if (bundle->container == RSDK_CONTAINER_OFFLOAD_BINARY || bundle->container == RSDK_CONTAINER_KPACK) {
        return rsdk_extent_damaged(&extent, "kernels of offload binaries and kpack archives are not listed", error);
    }
    if (bundle->container != RSDK_CONTAINER_COMPRESSED_BUNDLE) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_bundle_decompress(&r->libraries, &extent, r->scratch, error));
    return rsdk_file_open_part(r->scratch, 0, bundle->plain_size, r->file.path, &r->plain, error);
}

rsdk_status rsdk_kernels_open(rsdk_kernel_reader *reader, const char *path, int scratch, rsdk_error *error) {
    *reader = (rsdk_kernel_reader){.scratch = scratch, .file.descriptor = -1};
    RSDK_TRY(rsdk_file_open(path, &reader->file, error));
    reader->left = READ_AT_LEAST + reader->file.size * READ_FOR_EACH_BYTE;
    return rsdk_code_of_file(&reader->file, &reader->code, error);
}

rsdk_status rsdk_kernels_next(rsdk_kernel_reader *reader, bool *found, rsdk_error *error) {
    rsdk_arena_clear(&reader->arena);
    reader->kernels.items = NULL;
    reader->kernels.count = reader->kernels.capacity = 0;
    *found = false;
    for (; reader->bundle < reader->code->bundle_count; reader->bundle++) {
        const rsdk_device_bundle *bundle = &reader->code->bundles[reader->bundle];
        if (reader->image < bundle->image_count) {
            RSDK_TRY(reader->image == 0 ? enter_bundle(reader, bundle, error) : RSDK_OK);
            *found = true;
            return read_image(reader, &bundle->images[reader->image++], error);
        }
        reader->image = 0;
    }
    return RSDK_OK;
}

void rsdk_kernels_close(rsdk_kernel_reader *reader) {
    if (reader->file.descriptor >= 0) {
        rsdk_file_close(&reader->file);
    }
    rsdk_device_code_free(reader->code);
    rsdk_decompression_clear(&reader->libraries);
    rsdk_arena_clear(&reader->arena);
}
