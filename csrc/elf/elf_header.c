/* Reading an ELF header field by field, and finding the end of a file whose size is not known. */
#include "elf/elf_header.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"

enum { SEGMENTS_AT_A_TIME = 64 };

/* Return a number of `size` bytes in the file's byte order. */
static uint64_t number_at(const unsigned char *bytes, size_t offset, size_t size, bool is_big_endian) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | bytes[offset + (is_big_endian ? i : size - 1 - i)];
    }
    return value;
}

bool rsdk_elf_header_parse(const void *bytes, size_t size, rsdk_elf_header *header) {
    const unsigned char *raw = bytes;
    if (size < sizeof(Elf32_Ehdr) || memcmp(raw, ELFMAG, SELFMAG) != 0) {
        return false;
    }
    bool is_wide = raw[EI_CLASS] == ELFCLASS64, is_big_endian = raw[EI_DATA] == ELFDATA2MSB;
    if ((!is_wide && raw[EI_CLASS] != ELFCLASS32) || (!is_big_endian && raw[EI_DATA] != ELFDATA2LSB) ||
        (is_wide && size < sizeof(Elf64_Ehdr))) {
        return false;
    }
#define FIELD(name)                                                                                                    \
    (is_wide ? number_at(raw, offsetof(Elf64_Ehdr, name), sizeof(((Elf64_Ehdr *)0)->name), is_big_endian)              \
             : number_at(raw, offsetof(Elf32_Ehdr, name), sizeof(((Elf32_Ehdr *)0)->name), is_big_endian))
    *header = (rsdk_elf_header){.elf_class = raw[EI_CLASS],
                                .data_encoding = raw[EI_DATA],
                                .os_abi = raw[EI_OSABI],
                                .abi_version = raw[EI_ABIVERSION],
                                .type = (unsigned)FIELD(e_type),
                                .machine = (unsigned)FIELD(e_machine),
                                .flags = (uint32_t)FIELD(e_flags),
                                .segments_offset = FIELD(e_phoff),
                                .sections_offset = FIELD(e_shoff),
                                .segment_count = (unsigned)FIELD(e_phnum),
                                .segment_size = (unsigned)FIELD(e_phentsize),
                                .section_count = (unsigned)FIELD(e_shnum),
                                .section_size = (unsigned)FIELD(e_shentsize)};
#undef FIELD
    return true;
}

/* Extend *extent to the end of a range; false where the range does not lie within the limit. */
static bool take_range(uint64_t offset, uint64_t size, uint64_t limit, uint64_t *extent) {
    if (offset > limit || size > limit - offset) {
        return false;
    }
    *extent = offset + size > *extent ? offset + size : *extent;
    return true;
}

static rsdk_status fail_extent(const rsdk_file *file, rsdk_error *error) {
    return rsdk_fail(error, RSDK_BAD_ELF, file->path, "%s: an ELF file in it is not there to its end", file->path);
}

rsdk_status rsdk_elf_header_extent(const rsdk_file *file, uint64_t start, uint64_t limit, uint64_t *extent,
                                   rsdk_error *error) {
    unsigned char bytes[RSDK_ELF_HEADER_SIZE];
    rsdk_elf_header header;
    *extent = sizeof(Elf64_Ehdr);
    if (limit < sizeof bytes) {
        return fail_extent(file, error);
    }
    RSDK_TRY(rsdk_file_read(file, start, bytes, sizeof bytes, error));
    if (!rsdk_elf_header_parse(bytes, sizeof bytes, &header) || header.elf_class != ELFCLASS64 ||
        header.data_encoding != ELFDATA2LSB ||
        (header.segment_count > 0 && header.segment_size != sizeof(Elf64_Phdr)) ||
        !take_range(header.sections_offset, (uint64_t)header.section_count * header.section_size, limit, extent) ||
        !take_range(header.segments_offset, (uint64_t)header.segment_count * header.segment_size, limit, extent)) {
        return fail_extent(file, error);
    }
    for (unsigned done = 0; done < header.segment_count;) {
        Elf64_Phdr segments[SEGMENTS_AT_A_TIME];
        unsigned left = header.segment_count - done, count = left < SEGMENTS_AT_A_TIME ? left : SEGMENTS_AT_A_TIME;
        RSDK_TRY(rsdk_file_read(file, start + header.segments_offset + (uint64_t)done * sizeof *segments, segments,
                                count * sizeof *segments, error));
        for (unsigned i = 0; i < count; i++) {
            if (!take_range(segments[i].p_offset, segments[i].p_filesz, limit, extent)) {
                return fail_extent(file, error);
            }
        }
        done += count;
    }
    return RSDK_OK;
}

bool rsdk_elf_header_read(const char *path, rsdk_elf_header *header) {
    unsigned char bytes[RSDK_ELF_HEADER_SIZE];
    rsdk_file file = {0};
    bool result = false;
    if (rsdk_file_open_silently(path, &file)) {
        result = file.size >= sizeof bytes && rsdk_file_read(&file, 0, bytes, sizeof bytes, NULL) == RSDK_OK &&
                 rsdk_elf_header_parse(bytes, sizeof bytes, header);
        rsdk_file_close(&file);
    }
    return result;
}

bool rsdk_elf_header_is_in(const char *path) {
    unsigned char bytes[SELFMAG];
    rsdk_file file = {0};
    bool result = false;
    if (rsdk_file_open(path, &file, NULL) == RSDK_OK) {
        result = file.size >= sizeof bytes && rsdk_file_read(&file, 0, bytes, sizeof bytes, NULL) == RSDK_OK &&
                 memcmp(bytes, ELFMAG, SELFMAG) == 0;
        rsdk_file_close(&file);
    }
    return result;
}
