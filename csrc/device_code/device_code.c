/* The reader of the code in a file. The reader recognises the file by its first bytes, and adds up the images. */
#include "rocm_sdk/device_code.h"

#include <stdlib.h>

#include "base/fail.h"
#include "device_code/code_object.h"
#include "device_code/listing.h"
#include "gpu/targets.h"

/* The result, with the memory that it consists of. */
typedef struct owned_code {
    rsdk_device_code code; /* first: the caller's pointer is to it */
    rsdk_arena arena;
} owned_code;

/* ---- what the file is ---- */

static bool begins_with(const unsigned char *bytes, size_t got, const char *magic, size_t size) {
    return got >= size && memcmp(bytes, magic, size) == 0;
}

static rsdk_status list_file(rsdk_listing *listing, const rsdk_extent *extent, const char **kind) {
    unsigned char bytes[RSDK_ELF_HEADER_SIZE];
    rsdk_elf_header header;
    rsdk_fat_kind fat = RSDK_FAT_NOTHING;
    size_t got = 0;
    static const char *const fat_kinds[] = {[RSDK_FAT_BUNDLE] = "offload bundle",
                                            [RSDK_FAT_COMPRESSED_BUNDLE] = "compressed offload bundle",
                                            [RSDK_FAT_CODE_OBJECT] = "code object"};
    RSDK_TRY(rsdk_extent_read_some(extent, 0, bytes, sizeof bytes, &got, listing->error));
    RSDK_TRY(rsdk_fat_binary_kind(extent, &fat, listing->error));
    if (fat != RSDK_FAT_NOTHING) {
        *kind = fat_kinds[fat];
        return rsdk_fat_binary_list_all(listing, extent);
    }
    if (rsdk_elf_header_parse(bytes, got, &header)) {
        *kind = "ELF file";
        return rsdk_host_elf_list(listing, extent, &header);
    }
    if (begins_with(bytes, got, RSDK_OFFLOAD_BINARY_MAGIC, RSDK_OFFLOAD_BINARY_MAGIC_SIZE)) {
        *kind = "offload binary";
        return rsdk_offload_binary_list_all(listing, extent);
    }
    if (begins_with(bytes, got, RSDK_STATIC_ARCHIVE_MAGIC, RSDK_STATIC_ARCHIVE_MAGIC_SIZE)) {
        *kind = "static archive";
        return rsdk_static_archive_list(listing, extent);
    }
    if (begins_with(bytes, got, RSDK_KPACK_MAGIC, RSDK_KPACK_MAGIC_SIZE)) {
        *kind = "kpack archive";
        return rsdk_kpack_list(listing, extent);
    }
    return rsdk_fail(listing->error, RSDK_BAD_ELF, extent->file->path,
                     "%s: neither an ELF file nor a container of device code that is known", extent->file->path);
}

/* ---- sums ---- */

static int compare_targets(const void *a, const void *b) {
    return rsdk_target_compare(((const rsdk_device_target *)a)->target, ((const rsdk_device_target *)b)->target);
}

/* Sum the images of each target, which lie side by side after sorting. */
static rsdk_status sum_targets(const rsdk_listing *listing, rsdk_arena *arena, rsdk_device_code *code) {
    size_t count = 0;
    rsdk_device_target *targets = rsdk_arena_alloc(arena, listing->images.count + 1, sizeof *targets);
    RSDK_NEED(targets, listing->error);
    for (size_t i = 0; i < listing->images.count; i++) {
        const rsdk_device_image *image = &listing->images.items[i];
        targets[i] = (rsdk_device_target){.target = image->target, .size = image->size, .image_count = 1};
    }
    qsort(targets, listing->images.count, sizeof *targets, compare_targets);
    for (size_t i = 0; i < listing->images.count; i++) {
        code->plain_size += targets[i].size;
        if (count > 0 && strcmp(targets[count - 1].target, targets[i].target) == 0) {
            targets[count - 1].size += targets[i].size;
            targets[count - 1].image_count++;
        } else {
            targets[count++] = targets[i];
        }
    }
    code->targets = targets;
    code->target_count = count;
    return RSDK_OK;
}

/* ---- the public functions ---- */

static rsdk_status read_into(owned_code *owned, const rsdk_file *file, rsdk_error *error) {
    rsdk_listing listing = {.arena = &owned->arena, .error = error};
    rsdk_extent extent = {file, 0, file->size};
    rsdk_status status = list_file(&listing, &extent, &owned->code.kind);
    rsdk_decompression_clear(&listing.decompression);
    RSDK_TRY(status);
    owned->code.size = file->size;
    owned->code.path = rsdk_arena_copy(&owned->arena, file->path);
    RSDK_NEED(owned->code.path, error);
    rsdk_device_code *code = &owned->code;
    size_t first = 0;
    for (size_t i = 0; i < listing.bundles.count; i++) {
        rsdk_device_bundle *bundle = &listing.bundles.items[i];
        bundle->images = bundle->image_count > 0 ? &listing.images.items[first] : NULL;
        first += bundle->image_count;
        code->stored_size += bundle->size;
        code->compressed_count += bundle->compression != NULL;
    }
    code->bundles = listing.bundles.items;
    code->bundle_count = listing.bundles.count;
    code->kernels = listing.kernels;
    code->history = listing.history;
    code->has_removed_code = listing.has_removed_code;
    return sum_targets(&listing, &owned->arena, code);
}

rsdk_status rsdk_code_of_file(const rsdk_file *file, rsdk_device_code **code, rsdk_error *error) {
    *code = NULL;
    owned_code *owned = calloc(1, sizeof *owned);
    rsdk_status status = owned != NULL ? read_into(owned, file, error) : rsdk_fail_no_memory(error);
    if (status == RSDK_OK) {
        *code = &owned->code;
    } else if (owned != NULL) {
        rsdk_device_code_free(&owned->code);
    }
    return status;
}

rsdk_status rsdk_device_code_read(const char *path, rsdk_device_code **code, rsdk_error *error) {
    rsdk_file file = {0};
    *code = NULL;
    RSDK_TRY(rsdk_file_open(path, &file, error));
    rsdk_status status = rsdk_code_of_file(&file, code, error);
    rsdk_file_close(&file);
    return status;
}

rsdk_status rsdk_device_code_read_part(int descriptor, uint64_t start, uint64_t size, const char *name,
                                       rsdk_device_code **code, rsdk_error *error) {
    rsdk_file file = {0};
    *code = NULL;
    RSDK_TRY(rsdk_file_open_part(descriptor, start, size, name, &file, error));
    return rsdk_code_of_file(&file, code, error);
}

void rsdk_device_code_free(rsdk_device_code *code) {
    owned_code *owned = (owned_code *)(void *)code;
    if (owned != NULL) {
        rsdk_arena_clear(&owned->arena);
        free(owned);
    }
}

const char *rsdk_device_container_name(rsdk_device_container container) {
    static const char *const names[] = {[RSDK_CONTAINER_NONE] = "none",
                                        [RSDK_CONTAINER_BUNDLE] = "bundle",
                                        [RSDK_CONTAINER_COMPRESSED_BUNDLE] = "compressed bundle",
                                        [RSDK_CONTAINER_OFFLOAD_BINARY] = "offload binary",
                                        [RSDK_CONTAINER_KPACK] = "kpack archive"};
    return names[container];
}

const char *rsdk_image_format_name(rsdk_image_format format) {
    static const char *const names[] = {
        [RSDK_IMAGE_UNREAD] = "unread",   [RSDK_IMAGE_EMPTY] = "empty",  [RSDK_IMAGE_CODE_OBJECT] = "code object",
        [RSDK_IMAGE_BITCODE] = "bitcode", [RSDK_IMAGE_SPIRV] = "SPIR-V", [RSDK_IMAGE_UNKNOWN] = "unknown"};
    return names[format];
}
