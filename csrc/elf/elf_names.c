/* The names in the dynamic section, and the version needs. */
#include "elf/elf_reading.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"

enum {
    STRING_LIMIT = 1 << 16,        /* bytes of one string: an RPATH may list a hundred directories */
    STRING_WINDOW = 2048,          /* bytes of the string table read at a time; the needed names lie together */
    NAMES_LIMIT = 1 << 20,         /* bytes of all strings: entries may share one, and each would be copied */
    VERSION_NEEDS_LIMIT = 1 << 14, /* files and versions that one library may ask for */
};

typedef struct dynamic_entry {
    int64_t tag;
    uint64_t value;
} dynamic_entry;

static dynamic_entry dynamic_entry_at(unsigned elf_class, const void *entries, size_t index) {
    if (elf_class == ELFCLASS64) {
        const Elf64_Dyn *entry = (const Elf64_Dyn *)entries + index;
        return (dynamic_entry){entry->d_tag, entry->d_un.d_val};
    }
    const Elf32_Dyn *entry = (const Elf32_Dyn *)entries + index;
    return (dynamic_entry){entry->d_tag, entry->d_un.d_val};
}

/* Read the string at `index` of the string table, as a copy. */
static rsdk_status read_string(rsdk_elf_reading *r, uint64_t index, const char **text) {
    if (index >= r->strings_size) {
        return rsdk_elf_reading_damaged(r, "a name lies outside the string table");
    }
    static const uint64_t sizes[] = {0, STRING_WINDOW, STRING_LIMIT}; /* first the window, then more of the file */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] != 0) {
            uint64_t size = sizes[i];
            if (r->window_capacity < size) {
                r->window_capacity = r->window_size = 0;
                r->window = rsdk_arena_alloc_room(&r->scratch, (size_t)size);
                RSDK_NEED(r->window, r->error);
                r->window_capacity = size;
            }
            uint64_t left = r->strings_size - index;
            r->window_start = index;
            r->window_size = size < left ? size : left;
            RSDK_TRY(rsdk_elf_reading_read(r, r->strings_offset + index, r->window, (size_t)r->window_size));
        }
        if (index < r->window_start || index - r->window_start >= r->window_size) {
            continue;
        }
        const char *start = r->window + (index - r->window_start);
        const char *end = memchr(start, '\0', (size_t)(r->window_size - (index - r->window_start)));
        if (end != NULL && (r->names_size += (uint64_t)(end - start)) > NAMES_LIMIT) {
            return rsdk_elf_reading_damaged(r, "its names are longer than in any library");
        }
        if (end != NULL) {
            *text = rsdk_arena_copy_bytes(r->arena, start, (size_t)(end - start));
            RSDK_NEED(*text, r->error);
            return RSDK_OK;
        }
    }
    return rsdk_elf_reading_damaged(r, "a name runs beyond the string table");
}

static bool file_offset_of(const rsdk_elf_reading *r, uint64_t address, uint64_t *offset, uint64_t *available) {
    for (size_t i = 0; i < r->segments.count; i++) {
        const rsdk_elf_segment *s = &r->segments.items[i];
        if (address >= s->address && address - s->address < s->size) {
            *offset = s->offset + (address - s->address);
            *available = s->size - (address - s->address);
            return true;
        }
    }
    return false;
}

rsdk_status rsdk_elf_names_locate(rsdk_elf_reading *r, const void *entries, size_t count) {
    uint64_t strings_address = 0, strings_size = 0, needs_address = 0, needs_count = 0, available = 0;
    bool has_strings = false;
    for (size_t i = 0; i < count; i++) {
        dynamic_entry entry = dynamic_entry_at(r->result->elf_class, entries, i);
        switch (entry.tag) {
        case DT_STRTAB:
            strings_address = entry.value;
            has_strings = true;
            break;
        case DT_STRSZ:
            strings_size = entry.value;
            break;
        case DT_VERNEED:
            needs_address = entry.value;
            break;
        case DT_VERNEEDNUM:
            needs_count = entry.value;
            break;
        case DT_FLAGS:
            r->result->has_static_tls = (entry.value & DF_STATIC_TLS) != 0;
            r->result->has_text_relocations |= (entry.value & DF_TEXTREL) != 0;
            break;
        case DT_FLAGS_1:
            r->result->is_program |= (entry.value & DF_1_PIE) != 0;
            r->result->forbids_dlopen = (entry.value & DF_1_NOOPEN) != 0;
            break;
        case DT_TEXTREL:
            r->result->has_text_relocations = true;
            break;
        default:
            break;
        }
        if (entry.tag == DT_NULL) {
            break;
        }
    }
    if (!has_strings || !file_offset_of(r, strings_address, &r->strings_offset, &available) ||
        strings_size > available) {
        return rsdk_elf_reading_damaged(r, "the string table lies outside the file");
    }
    r->strings_size = strings_size;
    if (needs_count > 0) {
        if (!file_offset_of(r, needs_address, &r->version_needs_offset, &available)) {
            return rsdk_elf_reading_damaged(r, "the version needs lie outside the file");
        }
        r->version_needs_count = needs_count;
    }
    return RSDK_OK;
}

rsdk_status rsdk_elf_names_take(rsdk_elf_reading *r, const void *entries, size_t count) {
    rsdk_elf_file *result = r->result;
    for (size_t i = 0; i < count; i++) {
        dynamic_entry entry = dynamic_entry_at(result->elf_class, entries, i);
        const char *needed = NULL;
        rsdk_elf_filtee filtee = {.is_optional = entry.tag == DT_AUXILIARY};
        const char **text = entry.tag == DT_NEEDED                                ? &needed
                            : entry.tag == DT_FILTER || entry.tag == DT_AUXILIARY ? &filtee.name
                            : entry.tag == DT_SONAME                              ? &result->soname
                            : entry.tag == DT_RPATH                               ? &result->rpath
                            : entry.tag == DT_RUNPATH                             ? &result->runpath
                            : entry.tag == DT_AUDIT || entry.tag == DT_DEPAUDIT   ? &result->audit
                                                                                  : NULL;
        if (entry.tag == DT_NULL) {
            break;
        }
        if (text != NULL) {
            RSDK_TRY(read_string(r, entry.value, text));
        }
        if (needed != NULL) {
            RSDK_APPEND(r->arena, &result->needed, needed, r->error);
        }
        if (filtee.name != NULL) {
            RSDK_APPEND(r->arena, &result->filtees, filtee, r->error);
        }
    }
    if (result->runpath != NULL) {
        result->rpath = NULL; /* ld.so(8): DT_RPATH counts only where there is no DT_RUNPATH */
    }
    return RSDK_OK;
}

/* ---- version needs ---- */

static uint16_t to_host_16(const rsdk_elf_reading *r, uint16_t value) {
    bool little = r->result->data_encoding == ELFDATA2LSB;
    return little == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? value : __builtin_bswap16(value);
}

static uint32_t to_host_32(const rsdk_elf_reading *r, uint32_t value) {
    bool little = r->result->data_encoding == ELFDATA2LSB;
    return little == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? value : __builtin_bswap32(value);
}

/* Read one record of the chain; records of ELF32 and ELF64 are the same. */
static rsdk_status read_version_record(const rsdk_elf_reading *r, uint64_t offset, void *record, size_t size) {
    if (!rsdk_elf_reading_has(r, offset, size)) {
        return rsdk_elf_reading_damaged(r, "the version needs run beyond the file");
    }
    return rsdk_file_read(&r->file, offset, record, size, r->error);
}

/* Take the versions that are needed of one file: `count` records from `offset`. */
static rsdk_status take_versions_of(rsdk_elf_reading *r, const char *file_name, uint64_t offset, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        Elf64_Vernaux record = {0};
        rsdk_elf_version_need need = {.file = file_name};
        RSDK_TRY(read_version_record(r, offset, &record, sizeof record));
        RSDK_TRY(read_string(r, to_host_32(r, record.vna_name), &need.version));
        if (r->result->version_needs.count >= VERSION_NEEDS_LIMIT) {
            return rsdk_elf_reading_damaged(r, "needs more symbol versions than any library does");
        }
        RSDK_APPEND(r->arena, &r->result->version_needs, need, r->error);
        offset += to_host_32(r, record.vna_next);
        if (record.vna_next == 0) {
            break;
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_elf_names_take_version_needs(rsdk_elf_reading *r) {
    uint64_t offset = r->version_needs_offset;
    for (uint64_t i = 0; i < r->version_needs_count; i++) {
        Elf64_Verneed record = {0};
        const char *file_name = NULL;
        RSDK_TRY(read_version_record(r, offset, &record, sizeof record));
        RSDK_TRY(read_string(r, to_host_32(r, record.vn_file), &file_name));
        RSDK_TRY(take_versions_of(r, file_name, offset + to_host_32(r, record.vn_aux), to_host_16(r, record.vn_cnt)));
        if (i >= VERSION_NEEDS_LIMIT) {
            return rsdk_elf_reading_damaged(r, "needs symbol versions of more files than any library does");
        }
        offset += to_host_32(r, record.vn_next);
        if (record.vn_next == 0) {
            break;
        }
    }
    return RSDK_OK;
}
