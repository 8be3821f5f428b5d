/* Changes an ELF file where it matters: a field of the header, of a program header or of an entry of the dynamic
 * section gets a value that is at a border, the place of another, or is one off; the tables change places. What has no
 * such parts is left to libFuzzer. */
#ifndef TESTS_FUZZ_ELF_MUTATION_H
#define TESTS_FUZZ_ELF_MUTATION_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct elf_parts {
    uint8_t *bytes;
    size_t size, limit;
    Elf64_Ehdr header;
    size_t dynamic, dynamic_count; /* offset; 0: none */
    uint64_t random;
} elf_parts;

static inline uint64_t next_random(elf_parts *parts) {
    parts->random = parts->random * 6364136223846793005U + 1442695040888963407U;
    return parts->random >> 33;
}

static inline size_t program_header_count(const elf_parts *parts) {
    size_t offset = parts->header.e_phoff;
    if (parts->size < sizeof parts->header || offset > parts->size) {
        return 0;
    }
    size_t room = (parts->size - offset) / sizeof(Elf64_Phdr);
    return parts->header.e_phnum < room ? parts->header.e_phnum : room;
}

static inline bool find_parts(elf_parts *parts) {
    if (parts->size < sizeof parts->header) {
        return false;
    }
    memcpy(&parts->header, parts->bytes, sizeof parts->header);
    for (size_t i = 0; i < program_header_count(parts); i++) {
        Elf64_Phdr segment;
        memcpy(&segment, parts->bytes + parts->header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_DYNAMIC && segment.p_offset < parts->size) {
            size_t room = (parts->size - segment.p_offset) / sizeof(Elf64_Dyn);
            parts->dynamic = segment.p_offset;
            parts->dynamic_count = segment.p_filesz / sizeof(Elf64_Dyn);
            parts->dynamic_count = parts->dynamic_count < room ? parts->dynamic_count : room;
        }
    }
    return memcmp(parts->header.e_ident, ELFMAG, SELFMAG) == 0 && parts->header.e_ident[EI_CLASS] == ELFCLASS64;
}

/* A value that may do harm in a field of `width` bytes, which holds `before`. */
static inline uint64_t border_value(elf_parts *parts, uint64_t before) {
    const uint64_t values[] = {0,          1,           before + 1,      before - 1,        before * 2,
                               before ^ 8, parts->size, UINT64_MAX,      parts->size - 1,   UINT64_MAX - 8,
                               UINT32_MAX, UINT16_MAX,  1ULL << 63,      parts->dynamic,    parts->header.e_phoff,
                               1U << 20,   4096,        parts->size / 2, next_random(parts)};
    return values[next_random(parts) % (sizeof values / sizeof *values)];
}

static inline void change_field(elf_parts *parts, size_t offset, size_t width) {
    uint64_t value = 0;
    if (offset <= parts->size && width <= parts->size - offset) {
        memcpy(&value, parts->bytes + offset, width);
        value = border_value(parts, value);
        memcpy(parts->bytes + offset, &value, width);
    }
}

/* Moves the program headers to the file's end. */
static inline void move_program_headers(elf_parts *parts) {
    size_t size = program_header_count(parts) * sizeof(Elf64_Phdr);
    if (size > 0 && parts->limit - parts->size >= size) {
        memcpy(parts->bytes + parts->size, parts->bytes + parts->header.e_phoff, size);
        parts->header.e_phoff = parts->size;
        memcpy(parts->bytes, &parts->header, sizeof parts->header);
        parts->size += size;
    }
}

static inline void change_dynamic_entry(elf_parts *parts) {
    static const int64_t tags[] = {DT_NULL,    DT_NEEDED, DT_STRTAB,     DT_STRSZ,  DT_SONAME,    DT_RPATH,
                                   DT_RUNPATH, DT_FLAGS,  DT_VERNEEDNUM, DT_FILTER, DT_AUXILIARY, DT_VERNEED};
    size_t offset = parts->dynamic + (next_random(parts) % parts->dynamic_count) * sizeof(Elf64_Dyn);
    if (next_random(parts) % 2 == 0) {
        memcpy(parts->bytes + offset, &tags[next_random(parts) % (sizeof tags / sizeof *tags)], sizeof *tags);
    } else {
        change_field(parts, offset + offsetof(Elf64_Dyn, d_un), sizeof(uint64_t));
    }
}

/* Returns the new size; 0: no ELF file. */
static inline size_t mutate_elf(uint8_t *bytes, size_t size, size_t limit, unsigned seed) {
    static const struct {
        size_t offset, width;
    } header_fields[] = {{offsetof(Elf64_Ehdr, e_phoff), 8},
                         {offsetof(Elf64_Ehdr, e_phnum), 2},
                         {offsetof(Elf64_Ehdr, e_phentsize), 2},
                         {offsetof(Elf64_Ehdr, e_shoff), 8},
                         {offsetof(Elf64_Ehdr, e_shnum), 2},
                         {offsetof(Elf64_Ehdr, e_shstrndx), 2},
                         {offsetof(Elf64_Ehdr, e_type), 2},
                         {EI_CLASS, 1},
                         {EI_DATA, 1}};
    elf_parts parts = {.bytes = bytes, .size = size, .limit = limit, .random = seed};
    if (!find_parts(&parts)) {
        return 0;
    }
    size_t headers = program_header_count(&parts), choice = next_random(&parts) % 8;
    if (choice == 0) {
        size_t field = next_random(&parts) % (sizeof header_fields / sizeof *header_fields);
        change_field(&parts, header_fields[field].offset, header_fields[field].width);
    } else if (choice == 1) {
        move_program_headers(&parts);
    } else if (choice < 4 && headers > 0) {
        size_t field = next_random(&parts) % (headers * sizeof(Elf64_Phdr) / sizeof(uint64_t));
        change_field(&parts, parts.header.e_phoff + field * sizeof(uint64_t), sizeof(uint64_t));
    } else if (parts.dynamic_count > 0) {
        change_dynamic_entry(&parts);
    }
    return parts.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t limit, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t limit); /* libFuzzer's own */

/* A change for LLVMFuzzerCustomMutator: one that knows what an ELF file is, if it shall and can, else libFuzzer's. */
static inline size_t mutate(uint8_t *bytes, size_t size, size_t limit, unsigned seed, bool knows_elf) {
    size_t changed = knows_elf ? mutate_elf(bytes, size, limit, seed) : 0;
    return changed != 0 ? changed : LLVMFuzzerMutate(bytes, size, limit);
}

#endif
