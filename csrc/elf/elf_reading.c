/* Reading parts of an ELF file, its head from memory. */
#include "elf/elf_reading.h"

#include <string.h>

#include "base/fail.h"

rsdk_status rsdk_elf_reading_damaged(const rsdk_elf_reading *r, const char *what) {
    (void)rsdk_fail(r->error, RSDK_BAD_ELF, r->file.path, "%s: %s", r->file.path, what);
    return RSDK_BAD_ELF;
}

bool rsdk_elf_reading_has(const rsdk_elf_reading *r, uint64_t offset, uint64_t size) {
    return offset <= r->file.size && size <= r->file.size - offset;
}

rsdk_status rsdk_elf_reading_read(const rsdk_elf_reading *r, uint64_t offset, void *buffer, size_t size) {
    if (offset <= r->head_size && size <= r->head_size - offset) {
        memcpy(buffer, r->head + offset, size);
        return RSDK_OK;
    }
    return rsdk_file_read(&r->file, offset, buffer, size, r->error);
}
