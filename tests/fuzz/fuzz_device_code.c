/* Any bytes as a file that may hold device code: the readers give an error, or images that lie in the file and kernels
 * whose metadata is whole. */
#include "device_code/kernels.h"
#include "device_code/message_pack.h"
#include "elf_mutation.h"
#include "fuzz_target.h"
#include "gpu/targets.h"
#include "memory_file.h"
#include "rocm_sdk/device_code.h"

/* Half of the changes to an ELF file know what it is. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t limit, unsigned seed) {
    return mutate(bytes, size, limit, seed, seed % 2 != 0);
}

static int lies_in_file(uint64_t offset, uint64_t size, size_t file_size) {
    return offset <= file_size && size <= file_size - offset;
}

static void check_bundle(const rsdk_device_bundle *bundle, size_t file_size) {
    require(lies_in_file(bundle->offset, bundle->size, file_size));
    for (size_t i = 0; i < bundle->image_count; i++) {
        const rsdk_device_image *image = &bundle->images[i];
        require(image->target != NULL && strlen(image->target) <= file_size + 64);
        require(image->format == RSDK_IMAGE_UNREAD || image->format == RSDK_IMAGE_EMPTY ||
                lies_in_file(image->offset, image->size, file_size));
        require((image->object_target != NULL) == (image->format == RSDK_IMAGE_CODE_OBJECT));
    }
}

static void check_kernel(const rsdk_kernel_reader *reader, const rsdk_kernel *kernel) {
    rsdk_message m;
    rsdk_extent extent = {&reader->file, 0, kernel->metadata_size};
    require(kernel->name != NULL && strnlen(kernel->name, kernel->name_size) <= kernel->name_size);
    rsdk_message_init_bytes(&m, kernel->metadata, &extent, NULL);
    if (kernel->metadata != NULL) {
        require(rsdk_message_skip(&m) == RSDK_OK && m.position == kernel->metadata_size);
    }
}

static void check_kernels(const char *path) {
    static int scratch = -1;
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_kernel_reader reader;
    bool found = true;
    scratch = scratch < 0 ? memfd_create("scratch", MFD_CLOEXEC) : scratch;
    rsdk_status status = rsdk_kernels_open(&reader, path, scratch, &error);
    while (status == RSDK_OK && found) {
        status = rsdk_kernels_next(&reader, &found, &error);
        for (size_t i = 0; status == RSDK_OK && i < reader.kernels.count; i++) {
            check_kernel(&reader, &reader.kernels.items[i]);
        }
    }
    require(status == RSDK_OK || (status == RSDK_BAD_ELF && error.message != NULL));
    rsdk_kernels_close(&reader);
    rsdk_error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    rsdk_error error = RSDK_ERROR_INIT;
    rsdk_device_code *code = NULL;
    const char *path = memory_file(bytes, size);
    rsdk_status status = rsdk_device_code_read(path, &code, &error);
    require((status == RSDK_OK) == (code != NULL));
    require(status == RSDK_OK || (status == RSDK_BAD_ELF && error.message != NULL));
    size_t images = 0, summed = 0;
    for (size_t i = 0; code != NULL && i < code->bundle_count; i++) {
        check_bundle(&code->bundles[i], size);
        images += code->bundles[i].image_count;
    }
    for (size_t i = 0; code != NULL && i < code->target_count; i++) {
        require(i == 0 || rsdk_target_compare(code->targets[i - 1].target, code->targets[i].target) < 0);
        summed += code->targets[i].image_count;
    }
    require(images == summed);
    check_kernels(path);
    rsdk_device_code_free(code);
    rsdk_error_clear(&error);
    return 0;
}
