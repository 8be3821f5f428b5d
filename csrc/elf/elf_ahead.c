/* The requests ahead for the pages that the linker reads. */
#include "elf/elf_ahead.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/* The dynamic entries of a table: its address, and its size in bytes (DT_NULL: none says it). */
typedef struct table_row {
    ElfW(Sxword) place, size;
} table_row;

static const table_row tables[] = {
    {DT_HASH, DT_NULL},   {DT_GNU_HASH, DT_NULL},   {DT_SYMTAB, DT_NULL}, {DT_STRTAB, DT_STRSZ},
    {DT_VERSYM, DT_NULL}, {DT_VERNEED, DT_NULL},    {DT_VERDEF, DT_NULL}, {DT_RELA, DT_RELASZ},
    {DT_RELR, DT_RELRSZ}, {DT_JMPREL, DT_PLTRELSZ},
};
enum {
    TABLE_COUNT = sizeof tables / sizeof tables[0],
    HEAD_SIZE = 4096,    /* bytes: the header and the program headers of any library */
    DYNAMIC_LIMIT = 512, /* entries: large libraries have some forty */
};

/* The parts of a library to ask for, and the bytes that may still be asked for. */
typedef struct asking {
    const rsdk_elf_image *image;
    uint64_t starts[TABLE_COUNT],
        sizes[TABLE_COUNT]; /* sizes of the tables; 0: there is no table, or none says how large it is */
    uint64_t left;          /* bytes */
    const atomic_bool *ends;
} asking;

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void ask(asking *a, uint64_t offset, uint64_t size) {
    const rsdk_file *file = a->image->file;
    if (offset >= file->size) {
        return;
    }
    const uint64_t whole = smaller(smaller(size, a->left), file->size - offset);
    rsdk_file_ask_ahead(file->descriptor, file->start + offset, whole, a->ends);
    a->left -= whole;
}

/* Return the value of a dynamic entry; 0: there is none. */
static uint64_t value_of(const rsdk_elf_image *image, ElfW(Sxword) tag) {
    const ElfW(Dyn) *entry = rsdk_elf_image_entry(image, tag);
    return entry != NULL ? entry->d_un.d_val : 0;
}

/* Return how many bytes of the segment come from the file from this address on; 0: the address lies elsewhere. */
static uint64_t room_from(const ElfW(Phdr) * segment, uint64_t address) {
    const bool has_it =
        segment->p_type == PT_LOAD && address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_filesz;
    return has_it ? segment->p_filesz - (address - segment->p_vaddr) : 0;
}

/* Ask for at most so many bytes from an address on. */
static void ask_from(asking *a, uint64_t address, uint64_t size) {
    for (size_t i = 0; i < a->image->header_count; i++) {
        const ElfW(Phdr) *segment = &a->image->headers[i];
        const uint64_t room = room_from(segment, address);
        if (room > 0) {
            ask(a, segment->p_offset + (segment->p_filesz - room), smaller(size, room));
            return;
        }
    }
}

/* Return the bytes of a table: a table without a size goes up to the next one, or to the end of its segment. */
static uint64_t size_of(const asking *a, size_t number) {
    uint64_t size = a->sizes[number] != 0 ? a->sizes[number] : UINT64_MAX;
    for (size_t other = 0; a->sizes[number] == 0 && other < TABLE_COUNT; other++) {
        if (a->starts[other] > a->starts[number]) {
            size = smaller(size, a->starts[other] - a->starts[number]);
        }
    }
    return size;
}

/* Ask for code and constants of a segment: linkers put them behind its tables. */
static void ask_behind_tables(asking *a, const ElfW(Phdr) * segment, uint64_t size) {
    uint64_t left = segment->p_filesz;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const uint64_t room = room_from(segment, a->starts[i]);
        left = room > 0 ? smaller(left, room - smaller(room, a->sizes[i])) : left;
    }
    ask(a, segment->p_offset + (segment->p_filesz - left), smaller(size, left));
}

/* Ask for the part of the segment that the linker makes read-only in the end, and for the beginning of the rest. A
 * library without such a part may have relocations anywhere. */
static void ask_for_data(asking *a, const ElfW(Phdr) * segment) {
    const rsdk_elf_image *image = a->image;
    uint64_t size = segment->p_filesz;
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *relro = &image->headers[i];
        if (relro->p_type == PT_GNU_RELRO) {
            const uint64_t room = room_from(segment, relro->p_vaddr);
            const uint64_t protected = room > 0 ? segment->p_filesz - room + smaller(room, relro->p_memsz) : 0;
            size = smaller(size, protected + RSDK_ELF_AHEAD_DATA);
        }
    }
    ask(a, segment->p_offset, size);
}

void rsdk_elf_ask_ahead(const rsdk_elf_image *image, const atomic_bool *ends) {
    asking a = {.image = image, .left = RSDK_ELF_AHEAD_LIMIT, .ends = ends};
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        a.starts[i] = value_of(image, tables[i].place);
        a.sizes[i] = value_of(image, tables[i].size);
    }
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (a.starts[i] != 0) {
            ask_from(&a, a.starts[i], size_of(&a, i));
        }
    }
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0) {
            ask_for_data(&a, segment);
        }
    }
    /* GNU ld ends code by DT_FINI's function, behind which constants follow where they lie in one segment with code. */
    const uint64_t fini = value_of(image, DT_FINI);
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) == 0) {
            ask_behind_tables(&a, segment,
                              (segment->p_flags & PF_X) != 0 ? RSDK_ELF_AHEAD_CODE : RSDK_ELF_AHEAD_CONSTANTS);
        }
    }
    if (fini != 0) {
        ask_from(&a, fini, RSDK_ELF_AHEAD_CONSTANTS);
    }
}

/* ---- of a file that nobody has read ---- */

/* The first bytes of a file. */
typedef union file_head {
    ElfW(Ehdr) header;
    unsigned char bytes[HEAD_SIZE];
} file_head;

/* Return the program headers; NULL: they do not lie in the first bytes, or are none of this machine's. */
static const ElfW(Phdr) * headers_in(const file_head *head, size_t size) {
    static const unsigned char own[] = {ELFMAG0,
                                        ELFMAG1,
                                        ELFMAG2,
                                        ELFMAG3,
                                        sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
                                        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB};
    const ElfW(Ehdr) *header = &head->header;
    if (size < sizeof *header || memcmp(header->e_ident, own, sizeof own) != 0 ||
        header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff % _Alignof(ElfW(Phdr)) != 0 ||
        header->e_phoff > size || header->e_phnum > (size - header->e_phoff) / sizeof(ElfW(Phdr))) {
        return NULL;
    }
    return (const ElfW(Phdr) *)(const void *)(head->bytes + header->e_phoff);
}

void rsdk_elf_ask_ahead_of(const rsdk_file *file, const atomic_bool *ends) {
    file_head head;
    ElfW(Dyn) dynamic[DYNAMIC_LIMIT];
    const ssize_t size = pread(file->descriptor, &head, sizeof head, 0);
    const ElfW(Phdr) *headers = headers_in(&head, size > 0 ? (size_t)size : 0);
    for (size_t i = 0; headers != NULL && i < head.header.e_phnum; i++) {
        if (headers[i].p_type == PT_DYNAMIC) {
            const size_t wanted = (size_t)smaller(headers[i].p_filesz, sizeof dynamic);
            const ssize_t got = pread(file->descriptor, dynamic, wanted, (off_t)headers[i].p_offset);
            const rsdk_elf_image image = {.file = file,
                                          .headers = headers,
                                          .header_count = head.header.e_phnum,
                                          .dynamic = dynamic,
                                          .dynamic_count = got > 0 ? (size_t)got / sizeof *dynamic : 0};
            rsdk_elf_ask_ahead(&image, ends);
            return;
        }
    }
}
