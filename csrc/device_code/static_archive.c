/* The common format of `ar`, with GNU's table of long names. Each member is an ELF file, a bundle or something else. */
#include "device_code/listing.h"

#include "base/fail.h"

enum {
    MEMBER_HEADER_SIZE = 60,
    NAME_SIZE = 16,
    SIZE_AT = 48,
    SIZE_SIZE = 10,
    NAME_LIMIT = 256,
};

/* Read a decimal number of at most `size` digits, with blanks behind it. */
static bool read_decimal(const unsigned char *text, size_t size, uint64_t *value) {
    size_t digits = 0;
    *value = 0;
    while (digits < size && text[digits] >= '0' && text[digits] <= '9') {
        *value = *value * 10 + (uint64_t)(text[digits++] - '0');
    }
    return digits > 0;
}

/* Read "name/", or "/offset" into the table of long names, in which a name ends with "/\n". */
static rsdk_status read_name(rsdk_listing *listing, const rsdk_extent *long_names, const unsigned char *header) {
    char text[NAME_LIMIT] = "";
    uint64_t offset = 0;
    if (header[0] == '/' && read_decimal(header + 1, NAME_SIZE - 1, &offset) && offset < long_names->size) {
        size_t got = 0;
        RSDK_TRY(rsdk_extent_read_some(long_names, offset, text, sizeof text - 1, &got, listing->error));
        text[strcspn(text, "\n")] = '\0';
    } else {
        memcpy(text, header, NAME_SIZE);
    }
    char *slash = strrchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : strcspn(text, " ");
    listing->member = rsdk_arena_copy_bytes(listing->arena, text, length);
    RSDK_NEED(listing->member, listing->error);
    return RSDK_OK;
}

static rsdk_status list_member(rsdk_listing *listing, const rsdk_extent *member) {
    unsigned char bytes[RSDK_ELF_HEADER_SIZE];
    rsdk_elf_header header;
    rsdk_fat_kind kind = RSDK_FAT_NOTHING;
    size_t got = 0;
    RSDK_TRY(rsdk_fat_binary_kind(member, &kind, listing->error));
    if (kind != RSDK_FAT_NOTHING) {
        return rsdk_fat_binary_list_all(listing, member);
    }
    RSDK_TRY(rsdk_extent_read_some(member, 0, bytes, sizeof bytes, &got, listing->error));
    return rsdk_elf_header_parse(bytes, got, &header) ? rsdk_host_elf_list(listing, member, &header) : RSDK_OK;
}

rsdk_status rsdk_static_archive_list(rsdk_listing *listing, const rsdk_extent *extent) {
    rsdk_extent long_names = {extent->file, extent->start, 0};
    for (uint64_t offset = RSDK_STATIC_ARCHIVE_MAGIC_SIZE; offset < extent->size;) {
        unsigned char header[MEMBER_HEADER_SIZE];
        uint64_t size = 0;
        RSDK_TRY(rsdk_extent_read(extent, offset, header, sizeof header, listing->error));
        offset += sizeof header;
        if (memcmp(header + MEMBER_HEADER_SIZE - 2, "`\n", 2) != 0 ||
            !read_decimal(header + SIZE_AT, SIZE_SIZE, &size) || !rsdk_extent_has(extent, offset, size)) {
            return rsdk_extent_damaged(extent, "a member of the archive is not there to its end", listing->error);
        }
        rsdk_extent member = {extent->file, extent->start + offset, size};
        if (memcmp(header, "// ", 3) == 0) {
            long_names = member;
        } else if (memcmp(header, "/ ", 2) != 0 && memcmp(header, "/SYM64/ ", 8) != 0) {
            RSDK_TRY(rsdk_listing_count(listing, &member, NAME_LIMIT));
            RSDK_TRY(read_name(listing, &long_names, header));
            RSDK_TRY(list_member(listing, &member));
        }
        offset += size + size % 2;
    }
    return RSDK_OK;
}
