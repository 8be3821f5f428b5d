/* The reader of the section header table. The file may be hostile: every extent is checked against the file before it
 * is read, and the memory that it can make us allocate is bounded. */
#include "elf/elf_sections.h"

#include <elf.h>
#include <libelf.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"

enum {
    SECTION_LIMIT = 1 << 17,    /* more sections than any linked file has */
    NAME_TABLE_LIMIT = 1 << 22, /* bytes of the table that holds the names */
    NAMES_LIMIT = 1 << 22,      /* bytes of all names: sections may share one long name */
};

/* The state of the reading of a table. The same code reads both classes: headers are kept as ELF64. */
typedef struct reading {
    const rsdk_file *file;
    uint64_t start, size; /* the extent of the ELF file in `file` */
    rsdk_arena *arena;    /* the caller's: names and the result */
    rsdk_arena scratch;   /* memory that only the reading needs */
    rsdk_error *error;
    unsigned elf_class, data_encoding;
    uint64_t table_offset, count, names_index;
    const Elf64_Shdr *headers;
} reading;

static rsdk_status damaged(const reading *r, const char *what) {
    (void)rsdk_fail(r->error, RSDK_BAD_ELF, r->file->path, "%s: %s", r->file->path, what);
    return RSDK_BAD_ELF;
}

static bool in_file(const reading *r, uint64_t offset, uint64_t size) {
    return offset <= r->size && size <= r->size - offset;
}

/* Read bytes that are known to be in the ELF file. */
static rsdk_status read_at(const reading *r, uint64_t offset, void *buffer, size_t size) {
    return rsdk_file_read(r->file, r->start + offset, buffer, size, r->error);
}

/* Translate `size` bytes of headers of one type to this machine's byte order. */
static bool translate(const reading *r, Elf_Type type, void *raw, void *translated, size_t size) {
    Elf_Data from = {.d_buf = raw, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    Elf_Data to = {.d_buf = translated, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    return (r->elf_class == ELFCLASS64 ? elf64_xlatetom : elf32_xlatetom)(&to, &from, r->data_encoding) != NULL;
}

static Elf64_Shdr widen(const Elf32_Shdr *header) {
    return (Elf64_Shdr){.sh_name = header->sh_name,
                        .sh_type = header->sh_type,
                        .sh_flags = header->sh_flags,
                        .sh_addr = header->sh_addr,
                        .sh_offset = header->sh_offset,
                        .sh_size = header->sh_size,
                        .sh_link = header->sh_link};
}

/* Read `count` section headers from the start of the table. */
static rsdk_status read_headers(reading *r, uint64_t count) {
    size_t entry_size = r->elf_class == ELFCLASS64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    size_t size = (size_t)count * entry_size;
    if (!in_file(r, r->table_offset, size)) {
        return damaged(r, "the section headers lie outside the file");
    }
    void *raw = rsdk_arena_alloc(&r->scratch, size, 1);
    RSDK_NEED(raw, r->error);
    void *translated = rsdk_arena_alloc(&r->scratch, size, 1);
    RSDK_NEED(translated, r->error);
    Elf64_Shdr *headers = rsdk_arena_alloc(&r->scratch, (size_t)count, sizeof *headers);
    RSDK_NEED(headers, r->error);
    RSDK_TRY(read_at(r, r->table_offset, raw, size));
    if (!translate(r, ELF_T_SHDR, raw, translated, size)) {
        return damaged(r, "unreadable section headers");
    }
    for (size_t i = 0; i < count; i++) {
        headers[i] = r->elf_class == ELFCLASS64 ? ((const Elf64_Shdr *)translated)[i]
                                                : widen(&((const Elf32_Shdr *)translated)[i]);
    }
    r->headers = headers;
    return RSDK_OK;
}

static rsdk_status take_sections(const reading *r, rsdk_elf_sections *sections) {
    const char *names = NULL;
    uint64_t table_size = 0, names_size = 0;
    /* The table of names ends where the last name that ends in it does. Without a table: no name. */
    if (r->names_index != SHN_UNDEF) {
        if (r->names_index >= r->count) {
            return damaged(r, "the names of its sections lie in a section that does not exist");
        }
        const Elf64_Shdr *table = &r->headers[r->names_index];
        if (table->sh_type != SHT_STRTAB || table->sh_size > NAME_TABLE_LIMIT ||
            !in_file(r, table->sh_offset, table->sh_size)) {
            return damaged(r, "the names of its sections lie outside the file");
        }
        table_size = table->sh_size;
        char *bytes = rsdk_arena_alloc(r->arena, (size_t)table_size + 1, 1);
        RSDK_NEED(bytes, r->error);
        RSDK_TRY(read_at(r, table->sh_offset, bytes, (size_t)table_size));
        while (table_size > 0 && bytes[table_size - 1] != '\0') {
            table_size--;
        }
        names = bytes;
    }
    for (size_t i = 0; i < r->count; i++) {
        const Elf64_Shdr *header = &r->headers[i];
        rsdk_elf_section section = {.name = "",
                                    .offset = header->sh_offset,
                                    .size = header->sh_size,
                                    .address = header->sh_addr,
                                    .flags = header->sh_flags,
                                    .type = header->sh_type};
        if (names != NULL && header->sh_name >= table_size) {
            return damaged(r, "the name of a section lies outside the table of names");
        }
        if (names != NULL) {
            section.name = names + header->sh_name;
        }
        names_size += strlen(section.name);
        if (names_size > NAMES_LIMIT) {
            return damaged(r, "the names of its sections are longer than in any library");
        }
        RSDK_APPEND(r->arena, sections, section, r->error);
    }
    return RSDK_OK;
}

static rsdk_status read_table(reading *r, rsdk_elf_sections *sections) {
    /* Read where the table is from the ELF header. */
    union {
        unsigned char ident[EI_NIDENT];
        Elf32_Ehdr narrow;
        Elf64_Ehdr wide;
    } raw = {0}, header = {0};
    size_t available = r->size < sizeof raw ? (size_t)r->size : sizeof raw;
    RSDK_TRY(read_at(r, 0, &raw, available));
    r->elf_class = raw.ident[EI_CLASS];
    r->data_encoding = raw.ident[EI_DATA];
    bool is_wide = r->elf_class == ELFCLASS64;
    size_t size = is_wide ? sizeof raw.wide : sizeof raw.narrow;
    if (memcmp(raw.ident, ELFMAG, SELFMAG) != 0 || (!is_wide && r->elf_class != ELFCLASS32) || available < size ||
        !translate(r, ELF_T_EHDR, &raw, &header, size)) {
        return damaged(r, "not an ELF file");
    }
    r->table_offset = is_wide ? header.wide.e_shoff : header.narrow.e_shoff;
    r->count = is_wide ? header.wide.e_shnum : header.narrow.e_shnum;
    r->names_index = is_wide ? header.wide.e_shstrndx : header.narrow.e_shstrndx;
    unsigned entry_size = is_wide ? header.wide.e_shentsize : header.narrow.e_shentsize;
    if (r->table_offset != 0 && entry_size != (is_wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr))) {
        return damaged(r, "its section headers are not of the size that they must have");
    }
    if (r->table_offset == 0) {
        return RSDK_OK;
    }
    /* Take figures that do not fit into the ELF header from the first section header. */
    if (r->count == 0 || r->names_index == SHN_XINDEX) {
        RSDK_TRY(read_headers(r, 1));
    }
    if (r->count == 0) {
        r->count = r->headers[0].sh_size;
    }
    if (r->names_index == SHN_XINDEX) {
        r->names_index = r->headers[0].sh_link;
    }
    if (r->count > SECTION_LIMIT) {
        return damaged(r, "has more sections than any library does");
    }
    if (r->count == 0) {
        return RSDK_OK;
    }
    RSDK_TRY(read_headers(r, r->count));
    return take_sections(r, sections);
}

rsdk_status rsdk_elf_sections_read_within(const rsdk_file *file, uint64_t start, uint64_t size, rsdk_arena *arena,
                                          rsdk_elf_sections *sections, rsdk_error *error) {
    *sections = (rsdk_elf_sections){0};
    reading r = {.file = file, .start = start, .size = size, .arena = arena, .error = error};
    (void)elf_version(EV_CURRENT);
    rsdk_status status = read_table(&r, sections);
    if (status != RSDK_OK) {
        *sections = (rsdk_elf_sections){0};
    }
    rsdk_arena_clear(&r.scratch);
    return status;
}

const rsdk_elf_section *rsdk_elf_section_find(const rsdk_elf_sections *sections, const char *name) {
    for (size_t i = 0; i < sections->count; i++) {
        if (strcmp(sections->items[i].name, name) == 0) {
            return &sections->items[i];
        }
    }
    return NULL;
}

const rsdk_elf_section *rsdk_elf_section_at(const rsdk_elf_sections *sections, uint64_t address) {
    for (size_t i = 0; i < sections->count; i++) {
        const rsdk_elf_section *section = &sections->items[i];
        if ((section->flags & SHF_ALLOC) != 0 && section->type != SHT_NOBITS && address >= section->address &&
            address - section->address < section->size) {
            return section;
        }
    }
    return NULL;
}
