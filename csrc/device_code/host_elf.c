/* HIP registers its code through wrappers (`.hipFatBinSegment`). Each has the address of a bundle. The linker relocates
 * that address, so it stands in a relocation, in the word itself or in both. Without wrappers, and in object files,
 * whose addresses are not known yet, the items in the section of code are read one after another. A file with neither
 * may have code objects among its constants. */
#include "device_code/listing.h"

#include <elf.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/path.h"
#include "device_code/message_pack.h"
#include "elf/elf_sections.h"

enum {
    WRAPPER_WORDS = 3, /* magic and version; address; index */
    WRAPPER_SIZE = WRAPPER_WORDS * 8,
    WRAPPER_LIMIT = 1 << 14,
    WRAPPER_VERSION = 1,
    HISTORY_LIMIT = 1 << 16, /* bytes */
    KEY_SIZE = 32,           /* of the marker, as are the next ones */
    NAME_LIMIT = 4096,
    PATH_LIMIT = 64,      /* search paths */
    PIECE_SIZE = 1 << 18, /* bytes of constants that are searched at a time */
};
#define MAGIC_OF_CODE       0x48495046u /* HIPF: the address is a bundle's */
#define MAGIC_OF_REFERENCE  0x4B504948u /* HIPK: the code is in kpack archives */
#define OBJECT_SECTION_NAME "__CLANG_OFFLOAD_BUNDLE__"

/* ---- the marker of a library whose code was moved to kpack archives: `.rocm_kpack_ref` ---- */

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

/* Fill listing->kernels. The extent is the section, which may be longer than the marker, a msgpack map:
 * {"kernel_name": text, "kpack_search_paths": [text, ...]}. */
static rsdk_status read_kernel_reference(rsdk_listing *listing, const rsdk_extent *extent) {
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

/* ---- sections ---- */

typedef struct host {
    rsdk_listing *listing;
    rsdk_error *error;
    const rsdk_extent *extent;
    const rsdk_elf_header *header;
    rsdk_arena scratch;
    rsdk_elf_sections sections;
} host;

/* Find the bytes of a section in the file. */
static rsdk_status extent_of(const host *h, const rsdk_elf_section *section, rsdk_extent *extent) {
    if (!rsdk_extent_has(h->extent, section->offset, section->size)) {
        return rsdk_extent_damaged(h->extent, "a section that holds it lies outside the file", h->error);
    }
    *extent = (rsdk_extent){h->extent->file, h->extent->start + section->offset, section->size};
    return RSDK_OK;
}

/* Set the name of the section for the bundles that are added next. */
static rsdk_status enter_section(const host *h, const char *name) {
    h->listing->section = rsdk_arena_copy(h->listing->arena, name);
    RSDK_NEED(h->listing->section, h->error);
    return RSDK_OK;
}

/* ---- wrappers ---- */

typedef struct wrappers {
    uint64_t *addresses; /* addresses of bundles, sorted, each once */
    size_t count;
    uint32_t *references; /* numbers of the wrappers whose code is in kpack archives */
    size_t reference_count;
    bool has_unresolved; /* there is a wrapper whose address is not known */
} wrappers;

static int compare_addresses(const void *a, const void *b) {
    const uint64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Read the words of the section as they are in memory. */
static rsdk_status read_words(host *h, const rsdk_elf_section *section, uint64_t **words, size_t *count) {
    rsdk_extent extent;
    RSDK_TRY(extent_of(h, section, &extent));
    if (extent.size % WRAPPER_SIZE != 0 || extent.size / WRAPPER_SIZE > WRAPPER_LIMIT) {
        return rsdk_extent_damaged(&extent, "the wrappers of bundles have a size that they cannot have", h->error);
    }
    *count = (size_t)extent.size / sizeof **words;
    *words = rsdk_arena_alloc(&h->scratch, *count + 1, sizeof **words);
    RSDK_NEED(*words, h->error);
    RSDK_TRY(rsdk_extent_read(&extent, 0, *words, (size_t)extent.size, h->error));
    for (size_t i = 0; i < *count; i++) {
        (*words)[i] = le64toh((*words)[i]);
    }
    return rsdk_elf_relocations_apply(h->extent->file, h->extent->start, h->extent->size, h->header->machine,
                                      &h->sections, section->address, *words, *count, h->error);
}

static rsdk_status read_wrappers(host *h, const rsdk_elf_section *section, wrappers *w) {
    uint64_t *words = NULL;
    size_t count = 0;
    RSDK_TRY(read_words(h, section, &words, &count));
    w->addresses = rsdk_arena_alloc(&h->scratch, count / WRAPPER_WORDS + 1, sizeof *w->addresses);
    w->references = rsdk_arena_alloc(h->listing->arena, count / WRAPPER_WORDS + 1, sizeof *w->references);
    RSDK_NEED(w->addresses, h->error);
    RSDK_NEED(w->references, h->error);
    for (size_t i = 0; i < count; i += WRAPPER_WORDS) {
        uint32_t magic = (uint32_t)words[i], version = (uint32_t)(words[i] >> 32);
        if ((magic != MAGIC_OF_CODE && magic != MAGIC_OF_REFERENCE) || version != WRAPPER_VERSION) {
            return rsdk_extent_damaged(h->extent, "the wrapper of a bundle has neither of the marks that HIP knows",
                                       h->error);
        }
        if (magic == MAGIC_OF_REFERENCE) {
            w->references[w->reference_count++] = (uint32_t)words[i + 2];
        } else if (words[i + 1] == 0) {
            w->has_unresolved = true;
        } else {
            w->addresses[w->count++] = words[i + 1];
        }
    }
    size_t kept = 0;
    qsort(w->addresses, w->count, sizeof *w->addresses, compare_addresses);
    for (size_t i = 0; i < w->count; i++) {
        if (kept == 0 || w->addresses[kept - 1] != w->addresses[i]) {
            w->addresses[kept++] = w->addresses[i];
        }
    }
    w->count = kept;
    return RSDK_OK;
}

/* ---- sections ---- */

static rsdk_status list_hip(host *h) {
    const rsdk_elf_section *code = rsdk_elf_section_find(&h->sections, ".hip_fatbin");
    const rsdk_elf_section *segment = rsdk_elf_section_find(&h->sections, ".hipFatBinSegment");
    bool is_reference = rsdk_elf_section_find(&h->sections, ".rocm_kpack_ref") != NULL;
    wrappers w = {0};
    if (segment != NULL && segment->type == SHT_NOBITS) {
        h->listing->has_removed_code = true;
        return RSDK_OK;
    }
    if (segment != NULL && h->header->type != ET_REL) {
        RSDK_TRY(read_wrappers(h, segment, &w));
        h->listing->kernels.bundles = w.references;
        h->listing->kernels.bundle_count = w.reference_count;
    }
    if (code != NULL && code->type == SHT_NOBITS) {
        h->listing->has_removed_code = w.reference_count == 0 && !is_reference;
        return RSDK_OK;
    }
    if (w.count > 0 && !w.has_unresolved) {
        /* Add the bundle at each address. A bundle ends before the next one at the latest. */
        for (size_t i = 0; i < w.count; i++) {
            rsdk_extent extent;
            uint64_t size = 0;
            const rsdk_elf_section *section = rsdk_elf_section_at(&h->sections, w.addresses[i]);
            if (section == NULL) {
                return rsdk_extent_damaged(h->extent, "the address of a bundle lies outside the file", h->error);
            }
            RSDK_TRY(extent_of(h, section, &extent));
            extent = rsdk_extent_from(&extent, w.addresses[i] - section->address);
            if (i + 1 < w.count && w.addresses[i + 1] - w.addresses[i] < extent.size) {
                extent.size = w.addresses[i + 1] - w.addresses[i];
            }
            if (h->listing->section == NULL || strcmp(h->listing->section, section->name) != 0) {
                RSDK_TRY(enter_section(h, section->name));
            }
            RSDK_TRY(rsdk_fat_binary_list_one(h->listing, &extent, &size));
        }
        return RSDK_OK;
    }
    /* Bytes that a section without wrappers of its own still has are left over from the split into archives. */
    if (code == NULL || w.reference_count > 0 || is_reference) {
        return RSDK_OK;
    }
    rsdk_extent extent;
    RSDK_TRY(extent_of(h, code, &extent));
    RSDK_TRY(enter_section(h, code->name));
    return rsdk_fat_binary_list_all(h->listing, &extent);
}

/* List a section that clang-offload-bundler has put into an object file: one image, and the section's name is its
 * ID. */
static rsdk_status list_object_section(host *h, const rsdk_elf_section *section) {
    const char *id = section->name + strlen(OBJECT_SECTION_NAME), *target = NULL;
    rsdk_extent extent;
    rsdk_listing *listing = h->listing;
    if (!rsdk_entry_id_parse(id, &target)) {
        return RSDK_OK;
    }
    RSDK_TRY(extent_of(h, section, &extent));
    RSDK_TRY(rsdk_listing_count(listing, &extent, strlen(id)));
    RSDK_TRY(enter_section(h, section->name));
    rsdk_device_image image = {.size = extent.size, .id = rsdk_arena_copy(listing->arena, id)};
    RSDK_NEED(image.id, h->error);
    RSDK_TRY(rsdk_listing_look_at_image(listing, &extent, &image));
    if (target[0] != '\0') {
        image.target = rsdk_entry_id_normal_target(target, listing->arena);
        RSDK_NEED(image.target, h->error);
    }
    RSDK_TRY(rsdk_listing_add_bundle(
        listing, &extent,
        (rsdk_device_bundle){.offset = extent.start, .size = extent.size, .plain_size = extent.size}));
    return rsdk_listing_add_image(listing, image);
}

/* Read the note of a file that rocm-sdk-build has written: owner "rocm-sdk", type 1, JSON. */
static rsdk_status read_history(host *h, const rsdk_elf_section *section) {
    static const char owner[12] = "rocm-sdk";
    rsdk_extent extent;
    Elf64_Nhdr header;
    unsigned char start[sizeof header + sizeof owner];
    RSDK_TRY(extent_of(h, section, &extent));
    RSDK_TRY(rsdk_extent_read(&extent, 0, start, sizeof start, h->error));
    memcpy(&header, start, sizeof header);
    uint32_t size = le32toh(header.n_descsz);
    if (le32toh(header.n_namesz) != sizeof "rocm-sdk" || memcmp(start + sizeof header, owner, sizeof owner) != 0 ||
        le32toh(header.n_type) != 1 || size > HISTORY_LIMIT) {
        return rsdk_extent_damaged(&extent, "the note of what was done to the file is damaged", h->error);
    }
    char *text = rsdk_arena_alloc(h->listing->arena, size + 1, 1);
    RSDK_NEED(text, h->error);
    RSDK_TRY(rsdk_extent_read(&extent, sizeof start, text, size, h->error));
    h->listing->history = text;
    return RSDK_OK;
}

static rsdk_status list_section(host *h, const rsdk_elf_section *section) {
    rsdk_extent extent;
    if (section->type == SHT_NOBITS) {
        return RSDK_OK;
    }
    if (strncmp(section->name, OBJECT_SECTION_NAME, strlen(OBJECT_SECTION_NAME)) == 0) {
        return list_object_section(h, section);
    }
    if (strncmp(section->name, ".llvm.offloading", strlen(".llvm.offloading")) == 0) {
        RSDK_TRY(extent_of(h, section, &extent));
        RSDK_TRY(enter_section(h, section->name));
        return rsdk_offload_binary_list_all(h->listing, &extent);
    }
    if (strcmp(section->name, ".note.rocm-sdk") == 0) {
        return read_history(h, section);
    }
    if (strcmp(section->name, ".rocm_kpack_ref") == 0) {
        RSDK_TRY(extent_of(h, section, &extent));
        return read_kernel_reference(h->listing, &extent);
    }
    return RSDK_OK;
}

/* ---- code objects among the constants, as Mojo's compiler puts them there ---- */

#define OBJECT_MAGIC "\177ELF\2\1\1\100" /* 64-bit, little-endian, of version 1, for HSA of AMD */

/* Take the code object at this place of a section, if there is one; *next is where the search goes on. A hostile file
 * may have any number of such places. */
static rsdk_status take_found(host *h, const rsdk_extent *section, uint64_t offset, uint64_t *next) {
    const rsdk_extent extent = rsdk_extent_from(section, offset);
    rsdk_fat_kind kind = RSDK_FAT_NOTHING;
    uint64_t size = 0;
    *next = offset + sizeof OBJECT_MAGIC - 1;
    RSDK_TRY(rsdk_listing_count(h->listing, &extent, 0));
    RSDK_TRY(rsdk_fat_binary_kind(&extent, &kind, h->error));
    if (kind == RSDK_FAT_CODE_OBJECT &&
        rsdk_elf_header_extent(extent.file, extent.start, extent.size, &size, NULL) == RSDK_OK) {
        RSDK_TRY(rsdk_fat_binary_list_one(h->listing, &extent, &size));
        *next = offset + size;
    }
    return RSDK_OK;
}

/* Return whether a file is of the runtime, whose objects are no code of a user's: ROCr has some for images
 * (blit_object_gfx*.hsaco). */
static bool is_of_runtime(const host *h) {
    static const char *const names[] = {"libhsa-runtime64.so", "libamdhip64.so", "libhiprtc.so", "libamd_comgr.so"};
    const char *name = rsdk_path_name(h->extent->file->path);
    bool result = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        result = result || strncmp(name, names[i], strlen(names[i])) == 0;
    }
    return result;
}

static rsdk_status list_sections(host *h) {
    RSDK_TRY(rsdk_elf_sections_read_within(h->extent->file, h->extent->start, h->extent->size, &h->scratch,
                                           &h->sections, h->error));
    RSDK_TRY(list_hip(h));
    for (size_t i = 0; i < h->sections.count; i++) {
        RSDK_TRY(list_section(h, &h->sections.items[i]));
    }
    /* Search the constants and data of a file that has no code in the ways of HIP. */
    const rsdk_listing *listing = h->listing;
    if (listing->bundles.count > 0 || listing->kernels.name != NULL || listing->has_removed_code || is_of_runtime(h)) {
        return RSDK_OK;
    }
    for (size_t i = 0; i < h->sections.count; i++) {
        const rsdk_elf_section *section = &h->sections.items[i];
        if (section->type == SHT_PROGBITS && (section->flags & (SHF_ALLOC | SHF_EXECINSTR)) == SHF_ALLOC &&
            section->size > RSDK_ELF_HEADER_SIZE) {
            const size_t magic_size = sizeof OBJECT_MAGIC - 1;
            rsdk_extent extent;
            RSDK_TRY(extent_of(h, section, &extent));
            RSDK_TRY(enter_section(h, section->name));
            unsigned char *piece = rsdk_arena_alloc(&h->scratch, PIECE_SIZE, 1);
            RSDK_NEED(piece, h->error);
            for (uint64_t offset = 0; offset < extent.size;) {
                size_t got = 0;
                RSDK_TRY(rsdk_extent_read_some(&extent, offset, piece, PIECE_SIZE, &got, h->error));
                const uint64_t end = offset + got, rest = end < extent.size ? end - magic_size + 1 : end;
                uint64_t next = offset;
                while (next < end) {
                    const unsigned char *start = piece + (next - offset);
                    const unsigned char *found = memmem(start, (size_t)(end - next), OBJECT_MAGIC, magic_size);
                    if (found == NULL) {
                        break;
                    }
                    RSDK_TRY(take_found(h, &extent, offset + (uint64_t)(found - piece), &next));
                }
                offset = next > rest ? next : rest; /* a magic may begin at the end of a piece */
            }
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_host_elf_list(rsdk_listing *listing, const rsdk_extent *extent, const rsdk_elf_header *header) {
    host h = {.listing = listing, .error = listing->error, .extent = extent, .header = header};
    if (header->elf_class != ELFCLASS64 || header->data_encoding != ELFDATA2LSB) {
        return RSDK_OK; /* ROCm has no such host */
    }
    rsdk_status status = list_sections(&h);
    rsdk_arena_clear(&h.scratch);
    listing->section = NULL;
    return status;
}
