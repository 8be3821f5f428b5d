/* Asking ahead for what the linker reads. */
#include "elf/elf_ahead.h"

#include <elf.h>

/* The dynamic entries of a table: its address, and its size in bytes (DT_NULL: none says it). */
typedef struct table_row {
    ElfW(Sxword) place, size;
} table_row;

static const table_row tables[] = {
    {DT_HASH, DT_NULL},   {DT_GNU_HASH, DT_NULL},   {DT_SYMTAB, DT_NULL}, {DT_STRTAB, DT_STRSZ},
    {DT_VERSYM, DT_NULL}, {DT_VERNEED, DT_NULL},    {DT_VERDEF, DT_NULL}, {DT_RELA, DT_RELASZ},
    {DT_RELR, DT_RELRSZ}, {DT_JMPREL, DT_PLTRELSZ},
};
enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

/* What is asked for, and how much of it is left to ask. */
typedef struct asking {
    const rsdk_elf_image *image;
    uint64_t left; /* bytes */
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
    rsdk_file_ask_ahead(file->descriptor, file->start + offset, whole, NULL);
    a->left -= whole;
}

/* The value of a dynamic entry; 0: there is none. */
static uint64_t value_of(const rsdk_elf_image *image, ElfW(Sxword) tag) {
    const ElfW(Dyn) *entry = rsdk_elf_image_entry(image, tag);
    return entry != NULL ? entry->d_un.d_val : 0;
}

/* A table without a size goes up to the next one of its segment. */
static void ask_for_table(asking *a, const uint64_t starts[TABLE_COUNT], size_t number) {
    const rsdk_elf_image *image = a->image;
    const uint64_t start = starts[number];
    uint64_t size = value_of(image, tables[number].size);
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        if (segment->p_type != PT_LOAD || start < segment->p_vaddr || start - segment->p_vaddr >= segment->p_filesz) {
            continue;
        }
        uint64_t room = segment->p_filesz - (start - segment->p_vaddr);
        for (size_t other = 0; size == 0 && other < TABLE_COUNT; other++) {
            room = starts[other] > start ? smaller(room, starts[other] - start) : room;
        }
        ask(a, segment->p_offset + (start - segment->p_vaddr), size == 0 ? room : smaller(size, room));
        return;
    }
}

void rsdk_elf_ask_ahead(const rsdk_elf_image *image, uint64_t code_size) {
    asking a = {.image = image, .left = RSDK_ELF_AHEAD_LIMIT};
    uint64_t starts[TABLE_COUNT];
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        starts[i] = value_of(image, tables[i].place);
    }
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (starts[i] != 0) {
            ask_for_table(&a, starts, i);
        }
    }
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0) {
            ask(&a, segment->p_offset, segment->p_filesz);
        } else if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            ask(&a, segment->p_offset, smaller(segment->p_filesz, code_size));
        }
    }
}
