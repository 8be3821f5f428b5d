/* Any bytes as a file that may hold device code: the readers give an error, or images that lie in the file. */
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
    rsdk_device_code_free(code);
    rsdk_error_clear(&error);
    return 0;
}
