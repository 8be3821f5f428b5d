/* The ELF reader. It reads what a dynamic linker reads, through the program headers: sections may be stripped or wrong.
 *
 * libelf gets a copy of the file's head (`elf_memory`) and translates headers and the dynamic section to this machine's
 * byte order. The program headers and everything else are read where the file says that they are, with pread beyond the
 * head; each offset is checked against the file before. */
#include "elf/elf_file.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "elf/elf_check.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_note.h"
#include "elf/elf_property.h"

#ifndef GNU_PROPERTY_X86_ISA_1_NEEDED
#define GNU_PROPERTY_X86_ISA_1_NEEDED 0xc0008002 /* glibc 2.33 */
#endif

enum {
    HEAD_SIZE = 4096,                /* the ELF header and the program headers of any ordinary library */
    NOTES_LIMIT = 1 << 16,           /* bytes of one segment of notes: some hundred; libraries with probes have more */
    PROPERTIES_LIMIT = 4096,         /* bytes of the note with the GNU properties: some dozens */
    PROGRAM_HEADERS_LIMIT = 1 << 20, /* no undamaged file has a megabyte of program headers */
    DYNAMIC_LIMIT = 1 << 20,         /* or such a dynamic section */
    STRING_LIMIT = 1 << 16,          /* bytes of one string: an RPATH may list a hundred directories */
    STRING_WINDOW = 2048,            /* bytes of the string table read at a time; the needed names lie together */
    NAMES_LIMIT = 1 << 20,           /* bytes of all strings: entries may share one, and each would be copied */
    VERSION_NEEDS_LIMIT = 1 << 14,   /* files and versions that one library may ask for */
};

/* A PT_LOAD segment: addresses [address, address + size) come from the file at `offset`. */
typedef struct segment {
    uint64_t address, offset, size;
} segment;

/* What is known while a file is being read. */
typedef struct reading {
    rsdk_file file;
    rsdk_read_ahead ahead;
    rsdk_arena *arena;  /* the caller's: what the result consists of */
    rsdk_arena scratch; /* what only the reading needs */
    rsdk_elf_file *result;
    bool wants_versions, checks_tables, takes_programs, wants_references;
    bool is_to_load;          /* the linker will map it soon */
    rsdk_elf_dynsym *symbols; /* NULL: not wanted */
    bool *has_symbols;        /* NULL: damaged ones are a failure */
    size_t relocation_limit;
    rsdk_error *error;
    char *head; /* the first bytes of the file, as they are there */
    size_t head_size;
    const void *headers; /* program headers in this machine's byte order */
    size_t header_count;
    RSDK_LIST(segment) segments;
    uint64_t dynamic_offset, dynamic_size, properties_offset, properties_size;
    uint64_t strings_offset, strings_size;
    uint64_t version_needs_offset, version_needs_count;
    uint64_t names_size; /* bytes of the strings that were copied */
    char *window;        /* the part of the string table that was read last */
    uint64_t window_start, window_size, window_capacity;
} reading;

static rsdk_status damaged(const reading *r, const char *what) {
    (void)rsdk_fail(r->error, RSDK_BAD_ELF, r->file.path, "%s: %s", r->file.path, what);
    return RSDK_BAD_ELF;
}

/* Whether [offset, offset + size) lies in the file. */
static bool in_file(const reading *r, uint64_t offset, uint64_t size) {
    return offset <= r->file.size && size <= r->file.size - offset;
}

static bool file_offset_of(const reading *r, uint64_t address, uint64_t *offset, uint64_t *available) {
    for (size_t i = 0; i < r->segments.count; i++) {
        const segment *s = &r->segments.items[i];
        if (address >= s->address && address - s->address < s->size) {
            *offset = s->offset + (address - s->address);
            *available = s->size - (address - s->address);
            return true;
        }
    }
    return false;
}

static rsdk_status read_at(const reading *r, uint64_t offset, void *buffer, size_t size) {
    if (offset <= r->head_size && size <= r->head_size - offset) {
        memcpy(buffer, r->head + offset, size);
        return RSDK_OK;
    }
    return rsdk_file_read(&r->file, offset, buffer, size, r->error);
}

/* ---- headers ---- */

/* The section header table is of no interest, and libelf would look for it beyond the end of our copy. */
static void forget_sections(char *head, size_t size) {
    if (head[EI_CLASS] == ELFCLASS64 && size >= sizeof(Elf64_Ehdr)) {
        Elf64_Ehdr header;
        memcpy(&header, head, sizeof header);
        header.e_shoff = 0;
        header.e_shnum = header.e_shstrndx = 0;
        memcpy(head, &header, sizeof header);
    } else if (head[EI_CLASS] == ELFCLASS32 && size >= sizeof(Elf32_Ehdr)) {
        Elf32_Ehdr header;
        memcpy(&header, head, sizeof header);
        header.e_shoff = 0;
        header.e_shnum = header.e_shstrndx = 0;
        memcpy(head, &header, sizeof header);
    }
}

/* The build ID, which is in the first segment that has one. Notes that cannot be read say nothing, nor do those in
 * another byte order. */
static rsdk_status take_notes(reading *r, const GElf_Phdr *header) {
    unsigned own_encoding = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (r->result->build_id != NULL || r->result->data_encoding != own_encoding || header->p_filesz > NOTES_LIMIT ||
        !in_file(r, header->p_offset, header->p_filesz)) {
        return RSDK_OK;
    }
    size_t size = (size_t)header->p_filesz;
    char *notes = rsdk_arena_alloc(&r->scratch, size + 1, 1);
    RSDK_NEED(notes, r->error);
    RSDK_TRY(read_at(r, header->p_offset, notes, size));
    return rsdk_elf_note_build_id(notes, size, header->p_align, r->arena, &r->result->build_id)
               ? RSDK_OK
               : rsdk_fail_no_memory(r->error);
}

static rsdk_status take_segment(reading *r, const GElf_Phdr *header) {
    switch (header->p_type) {
    case PT_LOAD:
        if (!in_file(r, header->p_offset, header->p_filesz)) {
            return rsdk_fail(r->error, RSDK_BAD_ELF, r->file.path,
                             "%s: truncated: a segment of %" PRIu64 " bytes starts at byte %" PRIu64
                             ", the file has %" PRIu64,
                             r->file.path, header->p_filesz, header->p_offset, r->file.size);
        }
        RSDK_APPEND(&r->scratch, &r->segments,
                    ((segment){.address = header->p_vaddr, .offset = header->p_offset, .size = header->p_filesz}),
                    r->error);
        return RSDK_OK;
    case PT_DYNAMIC:
        r->dynamic_offset = header->p_offset;
        r->dynamic_size = header->p_filesz;
        return RSDK_OK;
    case PT_TLS:
        r->result->tls_size = header->p_memsz;
        return RSDK_OK;
    case PT_GNU_PROPERTY:
        r->properties_offset = header->p_offset;
        r->properties_size = header->p_filesz;
        return RSDK_OK;
    case PT_GNU_STACK:
        r->result->wants_executable_stack = (header->p_flags & PF_X) != 0;
        return RSDK_OK;
    case PT_NOTE:
        return r->wants_versions ? take_notes(r, header) : RSDK_OK;
    default:
        return RSDK_OK;
    }
}

static GElf_Phdr program_header_at(unsigned elf_class, const void *headers, size_t index) {
    if (elf_class == ELFCLASS64) {
        const Elf64_Phdr *header = (const Elf64_Phdr *)headers + index;
        return (GElf_Phdr){.p_type = header->p_type,
                           .p_flags = header->p_flags,
                           .p_offset = header->p_offset,
                           .p_vaddr = header->p_vaddr,
                           .p_filesz = header->p_filesz,
                           .p_memsz = header->p_memsz,
                           .p_align = header->p_align};
    }
    const Elf32_Phdr *header = (const Elf32_Phdr *)headers + index;
    return (GElf_Phdr){.p_type = header->p_type,
                       .p_flags = header->p_flags,
                       .p_offset = header->p_offset,
                       .p_vaddr = header->p_vaddr,
                       .p_filesz = header->p_filesz,
                       .p_memsz = header->p_memsz,
                       .p_align = header->p_align};
}

/* Reads a table of the file, `size` bytes, in this machine's byte order. */
static rsdk_status read_table(reading *r, Elf *elf, uint64_t offset, size_t size, Elf_Type type, const char *what,
                              void **table) {
    void *raw = rsdk_arena_alloc(&r->scratch, size, 1);
    RSDK_NEED(raw, r->error);
    void *translated = rsdk_arena_alloc(&r->scratch, size, 1);
    RSDK_NEED(translated, r->error);
    RSDK_TRY(read_at(r, offset, raw, size));
    Elf_Data from = {.d_buf = raw, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    Elf_Data to = {.d_buf = translated, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    if (size > 0 && gelf_xlatetom(elf, &to, &from, r->result->data_encoding) == NULL) {
        return damaged(r, what);
    }
    *table = translated;
    return RSDK_OK;
}

/* The table may lie anywhere: patchelf and others move it to the file's end. */
static rsdk_status take_segments(reading *r, Elf *elf, const GElf_Ehdr *header) {
    void *headers = NULL;
    size_t entry_size = gelf_fsize(elf, ELF_T_PHDR, 1, EV_CURRENT), size = header->e_phnum * entry_size;
    if (entry_size == 0 || (header->e_phnum > 0 && header->e_phentsize != entry_size) || size > PROGRAM_HEADERS_LIMIT ||
        !in_file(r, header->e_phoff, size)) {
        return damaged(r, "unreadable program headers");
    }
    RSDK_TRY(read_table(r, elf, header->e_phoff, size, ELF_T_PHDR, "unreadable program headers", &headers));
    RSDK_NEED(headers, r->error); /* for the static analyser, which does not follow read_table to its end */
    r->headers = headers;
    r->header_count = header->e_phnum;
    for (size_t i = 0; i < header->e_phnum; i++) {
        const GElf_Phdr entry = program_header_at(r->result->elf_class, headers, i);
        RSDK_TRY(take_segment(r, &entry));
    }
    if (r->segments.count == 0) {
        return damaged(r, "has nothing to load (no PT_LOAD segment): a stripped debug file?");
    }
    return RSDK_OK;
}

/* Which processors the file is for, beyond the machine. A note that cannot be read says nothing. */
static rsdk_status take_properties(reading *r) {
    char note[PROPERTIES_LIMIT];
    size_t size = (size_t)r->properties_size;
    if (r->result->machine != EM_X86_64 || r->result->elf_class != ELFCLASS64 || r->properties_size == 0 ||
        r->properties_size > sizeof note || !in_file(r, r->properties_offset, r->properties_size)) {
        return RSDK_OK;
    }
    RSDK_TRY(read_at(r, r->properties_offset, note, size));
    r->result->processor_needs = rsdk_elf_property_find(note, size, GNU_PROPERTY_X86_ISA_1_NEEDED);
    return RSDK_OK;
}

static rsdk_status take_header(reading *r, const GElf_Ehdr *header) {
    if (header->e_type != ET_DYN && (header->e_type != ET_EXEC || !r->takes_programs)) {
        return rsdk_fail(r->error, RSDK_BAD_ELF, r->file.path, "%s: not a shared library (ELF type %u)", r->file.path,
                         header->e_type);
    }
    r->result->elf_class = header->e_ident[EI_CLASS];
    r->result->data_encoding = header->e_ident[EI_DATA];
    r->result->machine = header->e_machine;
    r->result->flags = header->e_flags;
    return RSDK_OK;
}

/* ---- dynamic section ---- */

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

/* The dynamic section in this machine's byte order, `*count` entries. */
static rsdk_status read_dynamic(reading *r, Elf *elf, void **entries, size_t *count) {
    if (r->dynamic_size == 0) {
        return damaged(r, "not a shared library (no dynamic section)");
    }
    if (r->dynamic_size > DYNAMIC_LIMIT || !in_file(r, r->dynamic_offset, r->dynamic_size)) {
        return damaged(r, "truncated: the dynamic section lies outside the file");
    }
    size_t entry_size = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
    *count = entry_size == 0 ? 0 : (size_t)r->dynamic_size / entry_size;
    return read_table(r, elf, r->dynamic_offset, *count * entry_size, ELF_T_DYN, "unreadable dynamic section", entries);
}

static rsdk_status fill_window(reading *r, uint64_t start, uint64_t size) {
    if (r->window_capacity < size) {
        r->window_capacity = r->window_size = 0;
        r->window = rsdk_arena_alloc(&r->scratch, (size_t)size, 1);
        RSDK_NEED(r->window, r->error);
        r->window_capacity = size;
    }
    uint64_t left = r->strings_size - start;
    r->window_start = start;
    r->window_size = size < left ? size : left;
    return read_at(r, r->strings_offset + start, r->window, (size_t)r->window_size);
}

/* The string at `index` of the string table, copied. */
static rsdk_status read_string(reading *r, uint64_t index, const char **text) {
    if (index >= r->strings_size) {
        return damaged(r, "a name lies outside the string table");
    }
    static const uint64_t sizes[] = {0, STRING_WINDOW, STRING_LIMIT}; /* first what is there, then more of the file */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] != 0) {
            RSDK_TRY(fill_window(r, index, sizes[i]));
        }
        if (index < r->window_start || index - r->window_start >= r->window_size) {
            continue;
        }
        const char *start = r->window + (index - r->window_start);
        const char *end = memchr(start, '\0', (size_t)(r->window_size - (index - r->window_start)));
        if (end != NULL && (r->names_size += (uint64_t)(end - start)) > NAMES_LIMIT) {
            return damaged(r, "its names are longer than those of any library");
        }
        if (end != NULL) {
            *text = rsdk_arena_copy_bytes(r->arena, start, (size_t)(end - start));
            RSDK_NEED(*text, r->error);
            return RSDK_OK;
        }
    }
    return damaged(r, "a name runs beyond the string table");
}

/* Where tables lie; needed before any name can be read. */
static rsdk_status locate_tables(reading *r, const void *entries, size_t count) {
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
        return damaged(r, "the string table lies outside the file");
    }
    r->strings_size = strings_size;
    if (needs_count > 0) {
        if (!file_offset_of(r, needs_address, &r->version_needs_offset, &available)) {
            return damaged(r, "the version needs lie outside the file");
        }
        r->version_needs_count = needs_count;
    }
    return RSDK_OK;
}

static rsdk_status take_names(reading *r, const void *entries, size_t count) {
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

static uint16_t to_host_16(const reading *r, uint16_t value) {
    bool little = r->result->data_encoding == ELFDATA2LSB;
    return little == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? value : __builtin_bswap16(value);
}

static uint32_t to_host_32(const reading *r, uint32_t value) {
    bool little = r->result->data_encoding == ELFDATA2LSB;
    return little == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? value : __builtin_bswap32(value);
}

/* Reads one record of the chain; those of ELF32 and ELF64 are the same. */
static rsdk_status read_version_record(const reading *r, uint64_t offset, void *record, size_t size) {
    if (!in_file(r, offset, size)) {
        return damaged(r, "the version needs run beyond the file");
    }
    return rsdk_file_read(&r->file, offset, record, size, r->error);
}

/* The versions that are needed of one file: `count` records from `offset`. */
static rsdk_status take_versions_of(reading *r, const char *file_name, uint64_t offset, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        Elf64_Vernaux record = {0};
        rsdk_elf_version_need need = {.file = file_name};
        RSDK_TRY(read_version_record(r, offset, &record, sizeof record));
        RSDK_TRY(read_string(r, to_host_32(r, record.vna_name), &need.version));
        if (r->result->version_needs.count >= VERSION_NEEDS_LIMIT) {
            return damaged(r, "needs more symbol versions than any library does");
        }
        RSDK_APPEND(r->arena, &r->result->version_needs, need, r->error);
        offset += to_host_32(r, record.vna_next);
        if (record.vna_next == 0) {
            break;
        }
    }
    return RSDK_OK;
}

static rsdk_status take_version_needs(reading *r) {
    uint64_t offset = r->version_needs_offset;
    for (uint64_t i = 0; i < r->version_needs_count; i++) {
        Elf64_Verneed record = {0};
        const char *file_name = NULL;
        RSDK_TRY(read_version_record(r, offset, &record, sizeof record));
        RSDK_TRY(read_string(r, to_host_32(r, record.vn_file), &file_name));
        RSDK_TRY(take_versions_of(r, file_name, offset + to_host_32(r, record.vn_aux), to_host_16(r, record.vn_cnt)));
        if (i >= VERSION_NEEDS_LIMIT) {
            return damaged(r, "needs symbol versions of more files than any library does");
        }
        offset += to_host_32(r, record.vn_next);
        if (record.vn_next == 0) {
            break;
        }
    }
    return RSDK_OK;
}

/* ---- the whole ---- */

static rsdk_status read_symbols(const reading *r, const rsdk_elf_image *image, const rsdk_elf_tables *tables) {
    if (r->has_symbols == NULL) {
        return rsdk_elf_dynsym_read(image, tables, r->wants_references, r->arena, r->symbols, r->error);
    }
    rsdk_status status = rsdk_elf_dynsym_read(image, tables, r->wants_references, r->arena, r->symbols, NULL);
    *r->has_symbols = status == RSDK_OK;
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(r->error) : RSDK_OK;
}

/* A library of another class or byte order is for another machine, which the caller will find. */
static rsdk_status read_tables(const reading *r, const void *entries, size_t count) {
    unsigned own_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    unsigned own_encoding = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (r->result->elf_class != own_class || r->result->data_encoding != own_encoding) {
        return RSDK_OK;
    }
    rsdk_arena scratch = RSDK_ARENA_INIT;
    const rsdk_elf_image image = {.file = &r->file,
                                  .machine = r->result->machine,
                                  .headers = r->headers,
                                  .header_count = r->header_count,
                                  .dynamic = entries,
                                  .dynamic_count = count,
                                  .scratch = &scratch};
    rsdk_elf_tables tables = {.are_known = false};
    rsdk_status status = rsdk_elf_check(&image, r->relocation_limit, &tables, r->error);
    if (status == RSDK_OK && r->symbols != NULL) {
        status = read_symbols(r, &image, &tables);
    }
    rsdk_arena_clear(&scratch);
    return status;
}

static rsdk_status read_with(reading *r, Elf *elf) {
    GElf_Ehdr header;
    void *entries = NULL;
    size_t count = 0;
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL) {
        return damaged(r, "not an ELF file");
    }
    RSDK_TRY(take_header(r, &header));
    RSDK_TRY(take_segments(r, elf, &header));
    RSDK_TRY(take_properties(r));
    if (header.e_type == ET_EXEC && r->dynamic_size == 0) {
        return RSDK_OK; /* a static program, which needs nothing */
    }
    RSDK_TRY(read_dynamic(r, elf, &entries, &count));
    RSDK_NEED(entries, r->error); /* as above */
    RSDK_TRY(locate_tables(r, entries, count));
    RSDK_TRY(take_names(r, entries, count));
    if (r->wants_versions) {
        RSDK_TRY(take_version_needs(r));
    }
    return r->checks_tables ? read_tables(r, entries, count) : RSDK_OK;
}

static rsdk_status read_head(reading *r) {
    size_t size = r->file.size < HEAD_SIZE ? (size_t)r->file.size : HEAD_SIZE;
    if (size == 0) {
        return damaged(r, "not a shared library: the file is empty");
    }
    char *head = rsdk_arena_alloc(&r->scratch, size, 1);
    RSDK_NEED(head, r->error);
    RSDK_TRY(rsdk_file_read(&r->file, 0, head, size, r->error));
    if (size < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0) {
        return damaged(r, "not an ELF file");
    }
    r->head = head;
    r->head_size = size;
    return RSDK_OK;
}

/* Lets libelf read the header, and follows it. The file is open, and closed by the caller. */
static rsdk_status read_opened(reading *r) {
    RSDK_TRY(read_head(r));
    size_t size = r->head_size < sizeof(Elf64_Ehdr) ? r->head_size : sizeof(Elf64_Ehdr);
    char *header = rsdk_arena_copy_bytes(&r->scratch, r->head, size);
    RSDK_NEED(header, r->error);
    forget_sections(header, size);
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_memory(header, size);
    rsdk_status status = read_with(r, elf);
    (void)elf_end(elf);
    return status;
}

static rsdk_status read_file(const char *path, reading *r) {
    *r->result = (rsdk_elf_file){.path = path};
    RSDK_TRY(rsdk_file_open(path, &r->file, r->error));
    r->result->size = r->file.size;
    r->result->identity = r->file.identity;
    if (r->is_to_load) {
        rsdk_file_read_blocks(&r->file, &r->ahead);
    }
    rsdk_status status = read_opened(r);
    rsdk_file_close(&r->file);
    rsdk_arena_clear(&r->scratch);
    return status;
}

rsdk_status rsdk_elf_file_read(const char *path, rsdk_arena *arena, rsdk_elf_file *file, rsdk_error *error) {
    reading r = {.arena = arena, .result = file, .error = error};
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_read_checked(const char *path, size_t relocation_limit, rsdk_arena *arena,
                                       rsdk_elf_file *file, rsdk_error *error) {
    reading r = {.arena = arena,
                 .result = file,
                 .checks_tables = true,
                 .is_to_load = true,
                 .relocation_limit = relocation_limit,
                 .error = error};
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_read_checked_with_symbols(const char *path, size_t relocation_limit, rsdk_arena *arena,
                                                    rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols,
                                                    bool *has_symbols, rsdk_error *error) {
    reading r = {.arena = arena,
                 .result = file,
                 .checks_tables = true,
                 .is_to_load = true,
                 .symbols = symbols,
                 .has_symbols = has_symbols,
                 .wants_references = true,
                 .relocation_limit = relocation_limit,
                 .error = error};
    *symbols = (rsdk_elf_dynsym){.is_known = false};
    *has_symbols = true;
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_read_with_versions(const char *path, rsdk_arena *arena, rsdk_elf_file *file,
                                             rsdk_error *error) {
    reading r = {.arena = arena, .result = file, .wants_versions = true, .error = error};
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_read_with_symbols(const char *path, bool wants_references, rsdk_arena *arena,
                                            rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols, rsdk_error *error) {
    reading r = {.arena = arena,
                 .result = file,
                 .checks_tables = true,
                 .takes_programs = true,
                 .symbols = symbols,
                 .wants_references = wants_references,
                 .error = error};
    *symbols = (rsdk_elf_dynsym){.is_known = false};
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_is_interposable(const char *path, const char *const prefixes[], bool *is_interposable,
                                          rsdk_error *error) {
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_status status = rsdk_elf_file_read_with_symbols(path, true, &arena, &file, &symbols, error);
    *is_interposable = status == RSDK_OK && rsdk_elf_dynsym_calls_own_by_name(&symbols, prefixes);
    rsdk_arena_clear(&arena);
    return status;
}

const char *rsdk_elf_file_newest_glibc(const rsdk_elf_file *file) {
    static const char prefix[] = "GLIBC_";
    const char *newest = NULL;
    for (size_t i = 0; i < file->version_needs.count; i++) {
        const char *version = file->version_needs.items[i].version;
        const char *number = version + sizeof prefix - 1;
        /* "GLIBC_PRIVATE" is not a number */
        if (strncmp(version, prefix, sizeof prefix - 1) == 0 && number[strspn(number, "0123456789.")] == '\0' &&
            (newest == NULL || strverscmp(number, newest) > 0)) {
            newest = number;
        }
    }
    return newest;
}
