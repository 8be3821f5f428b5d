/* The ELF reader. Like a dynamic linker, the reader goes through the program headers: sections may be stripped or
 * wrong.
 *
 * libelf gets a copy of the file's head (`elf_memory`) and translates headers and the dynamic section to this machine's
 * byte order. The program headers and everything else are read where the file says that they are, with pread beyond the
 * head; each offset is checked against the file before. */
#include "elf/elf_file.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "elf/elf_ahead.h"
#include "elf/elf_check.h"
#include "elf/elf_note.h"
#include "elf/elf_reading.h"

#ifndef GNU_PROPERTY_X86_ISA_1_NEEDED
#define GNU_PROPERTY_X86_ISA_1_NEEDED 0xc0008002 /* glibc 2.33 */
#endif

enum {
    SMALLEST_PAGE = 4096,            /* of the machines that ROCm runs on */
    ABI_VERSIONS_OF_GNU = 4,         /* LIBC_ABI_MAX of glibc's libc-abis */
    HEAD_SIZE = 4096,                /* the ELF header and the program headers of any ordinary library */
    NOTES_LIMIT = 1 << 16,           /* bytes of one segment of notes: some hundred; libraries with probes have more */
    PROPERTIES_LIMIT = 4096,         /* bytes of the note with the GNU properties: some dozens */
    PROGRAM_HEADERS_LIMIT = 1 << 20, /* no undamaged file has a megabyte of program headers */
    DYNAMIC_LIMIT = 1 << 20,         /* or such a dynamic section */
};

/* ---- headers ---- */

/* Remove the section header table from the header: it is of no interest, and libelf would look for it beyond the end of
 * our copy. */
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

/* Take the build ID, which is in the first segment that has one. Notes that cannot be read say nothing, nor do notes in
 * another byte order. */
static rsdk_status take_notes(rsdk_elf_reading *r, const GElf_Phdr *header) {
    unsigned own_encoding = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (r->result->build_id != NULL || r->result->data_encoding != own_encoding || header->p_filesz > NOTES_LIMIT ||
        !rsdk_elf_reading_has(r, header->p_offset, header->p_filesz)) {
        return RSDK_OK;
    }
    size_t size = (size_t)header->p_filesz;
    char *notes = rsdk_arena_alloc(&r->scratch, size + 1, 1);
    RSDK_NEED(notes, r->error);
    RSDK_TRY(rsdk_elf_reading_read(r, header->p_offset, notes, size));
    if (!rsdk_elf_note_build_id(notes, size, header->p_align, r->arena, &r->result->build_id)) {
        return rsdk_fail_no_memory(r->error);
    }
    if (r->result->build_id != NULL) {
        const char *place = rsdk_elf_note_find(notes, size, header->p_align, NT_GNU_BUILD_ID, &size);
        r->result->build_id_place = header->p_offset + (uint64_t)(place - notes);
    }
    return RSDK_OK;
}

static rsdk_status take_segment(rsdk_elf_reading *r, const GElf_Phdr *header) {
    switch (header->p_type) {
    case PT_LOAD:
        if (!rsdk_elf_reading_has(r, header->p_offset, header->p_filesz)) {
            return rsdk_fail(r->error, RSDK_BAD_ELF, r->file.path,
                             "%s: truncated: a segment of %" PRIu64 " bytes starts at byte %" PRIu64
                             ", the file has %" PRIu64,
                             r->file.path, header->p_filesz, header->p_offset, r->file.size);
        }
        if ((header->p_vaddr - header->p_offset) % SMALLEST_PAGE != 0) {
            r->result->refused = "ELF load command address/offset not page-aligned";
        }
        RSDK_APPEND(
            &r->scratch, &r->segments,
            ((rsdk_elf_segment){.address = header->p_vaddr, .offset = header->p_offset, .size = header->p_filesz}),
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

/* Read a table of the file, `size` bytes, in this machine's byte order. */
static rsdk_status read_table(rsdk_elf_reading *r, Elf *elf, uint64_t offset, size_t size, Elf_Type type,
                              const char *what, void **table) {
    void *raw = rsdk_arena_alloc(&r->scratch, size, 1);
    RSDK_NEED(raw, r->error);
    void *translated = rsdk_arena_alloc(&r->scratch, size, 1);
    RSDK_NEED(translated, r->error);
    RSDK_TRY(rsdk_elf_reading_read(r, offset, raw, size));
    Elf_Data from = {.d_buf = raw, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    Elf_Data to = {.d_buf = translated, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    if (size > 0 && gelf_xlatetom(elf, &to, &from, r->result->data_encoding) == NULL) {
        return rsdk_elf_reading_damaged(r, what);
    }
    *table = translated;
    return RSDK_OK;
}

/* Take the program headers. The table may lie anywhere: patchelf and others move it to the file's end. */
static rsdk_status take_segments(rsdk_elf_reading *r, Elf *elf, const GElf_Ehdr *header) {
    void *headers = NULL;
    size_t entry_size = gelf_fsize(elf, ELF_T_PHDR, 1, EV_CURRENT), size = header->e_phnum * entry_size;
    if (entry_size == 0 || (header->e_phnum > 0 && header->e_phentsize != entry_size) || size > PROGRAM_HEADERS_LIMIT ||
        !rsdk_elf_reading_has(r, header->e_phoff, size)) {
        return rsdk_elf_reading_damaged(r, "unreadable program headers");
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
        return rsdk_elf_reading_damaged(r, "has nothing to load (no PT_LOAD segment): a stripped debug file?");
    }
    return RSDK_OK;
}

/* Return the words of glibc for a header that it refuses (open_verify of elf/dl-load.c); NULL: it takes the header. */
static const char *refusal_of(const GElf_Ehdr *header) {
    static const unsigned char padding[EI_NIDENT - EI_PAD] = {0};
    const unsigned char *ident = header->e_ident;
    bool is_gnu = ident[EI_OSABI] == ELFOSABI_GNU;
    if (ident[EI_OSABI] != ELFOSABI_SYSV && !is_gnu) {
        return "ELF file OS ABI invalid";
    }
    if (ident[EI_ABIVERSION] != 0 && !(is_gnu && ident[EI_ABIVERSION] < ABI_VERSIONS_OF_GNU)) {
        return "ELF file ABI version invalid";
    }
    if (header->e_version != EV_CURRENT) {
        return "ELF file version does not match current one";
    }
    return memcmp(ident + EI_PAD, padding, sizeof padding) != 0 ? "nonzero padding in e_ident" : NULL;
}

/* ---- dynamic section ---- */

/* Read the dynamic section in this machine's byte order, `*count` entries. */
static rsdk_status read_dynamic(rsdk_elf_reading *r, Elf *elf, void **entries, size_t *count) {
    if (r->dynamic_size == 0) {
        return rsdk_elf_reading_damaged(r, "not a shared library (no dynamic section)");
    }
    if (r->dynamic_size > DYNAMIC_LIMIT || !rsdk_elf_reading_has(r, r->dynamic_offset, r->dynamic_size)) {
        return rsdk_elf_reading_damaged(r, "truncated: the dynamic section lies outside the file");
    }
    size_t entry_size = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
    *count = entry_size == 0 ? 0 : (size_t)r->dynamic_size / entry_size;
    return read_table(r, elf, r->dynamic_offset, *count * entry_size, ELF_T_DYN, "unreadable dynamic section", entries);
}

/* ---- the whole ---- */

static rsdk_status read_symbols(const rsdk_elf_reading *r, const rsdk_elf_image *image, const rsdk_elf_tables *tables) {
    if (r->has_symbols == NULL) {
        return rsdk_elf_dynsym_read(image, tables, r->wants_references, r->arena, r->symbols, r->error);
    }
    rsdk_status status = rsdk_elf_dynsym_read(image, tables, r->wants_references, r->arena, r->symbols, NULL);
    *r->has_symbols = status == RSDK_OK;
    return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(r->error) : RSDK_OK;
}

/* Check and read the tables. A library of another class or byte order is for another machine, which the caller will
 * find. */
static rsdk_status read_tables(const rsdk_elf_reading *r, const void *entries, size_t count) {
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
    if (r->watch != NULL && r->watch->asks_ahead) {
        rsdk_elf_ask_ahead(&image, NULL);
    }
    rsdk_status status = rsdk_elf_check(&image, r->relocation_limit, &tables, r->error);
    if (status == RSDK_OK && r->symbols != NULL) {
        status = read_symbols(r, &image, &tables);
    }
    rsdk_arena_clear(&scratch);
    return status;
}

static rsdk_status read_with(rsdk_elf_reading *r, Elf *elf) {
    GElf_Ehdr header;
    void *entries = NULL;
    size_t count = 0;
    if (elf == NULL || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL) {
        return rsdk_elf_reading_damaged(r, "not an ELF file");
    }
    if (header.e_type != ET_DYN && (header.e_type != ET_EXEC || !r->takes_programs)) {
        return rsdk_fail(r->error, RSDK_BAD_ELF, r->file.path, "%s: not a shared library (ELF type %u)", r->file.path,
                         header.e_type);
    }
    r->result->elf_class = header.e_ident[EI_CLASS];
    r->result->data_encoding = header.e_ident[EI_DATA];
    r->result->machine = header.e_machine;
    r->result->flags = header.e_flags;
    r->result->is_program = header.e_type == ET_EXEC;
    r->result->refused = refusal_of(&header);
    r->result->wants_executable_stack = true; /* without PT_GNU_STACK */
    RSDK_TRY(take_segments(r, elf, &header));
    /* The processors that the file is for, beyond the machine. A note that cannot be read says nothing. */
    char note[PROPERTIES_LIMIT];
    size_t size = (size_t)r->properties_size;
    if (r->result->machine == EM_X86_64 && r->result->elf_class == ELFCLASS64 && r->properties_size != 0 &&
        r->properties_size <= sizeof note && rsdk_elf_reading_has(r, r->properties_offset, r->properties_size)) {
        RSDK_TRY(rsdk_elf_reading_read(r, r->properties_offset, note, size));
        r->result->processor_needs = rsdk_elf_property_find(note, size, GNU_PROPERTY_X86_ISA_1_NEEDED);
    }
    if (header.e_type == ET_EXEC && r->dynamic_size == 0) {
        return RSDK_OK; /* a static program, which needs nothing */
    }
    RSDK_TRY(read_dynamic(r, elf, &entries, &count));
    RSDK_NEED(entries, r->error); /* as above */
    RSDK_TRY(rsdk_elf_names_locate(r, entries, count));
    RSDK_TRY(rsdk_elf_names_take(r, entries, count));
    if (r->watch != NULL) {
        r->watch->tell_needed(r->watch->context, r->result);
    }
    if (r->wants_versions) {
        RSDK_TRY(rsdk_elf_names_take_version_needs(r));
    }
    return r->checks_tables ? read_tables(r, entries, count) : RSDK_OK;
}

/* Read the first bytes, and tell how long that took. */
static rsdk_status read_timed(const rsdk_elf_reading *r, char *head, size_t size) {
    if (r->watch == NULL) {
        return rsdk_file_read(&r->file, 0, head, size, r->error);
    }
    const uint64_t start = rsdk_clock_now();
    RSDK_TRY(rsdk_file_read(&r->file, 0, head, size, r->error));
    r->watch->tell_time(r->watch->context, r->file.path, rsdk_clock_now() - start);
    return RSDK_OK;
}

static rsdk_status read_head(rsdk_elf_reading *r) {
    size_t size = r->file.size < HEAD_SIZE ? (size_t)r->file.size : HEAD_SIZE;
    if (size == 0) {
        return rsdk_elf_reading_damaged(r, "not a shared library: the file is empty");
    }
    char *head = rsdk_arena_alloc_room(&r->scratch, size);
    RSDK_NEED(head, r->error);
    RSDK_TRY(read_timed(r, head, size));
    if (size < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0) {
        return rsdk_elf_reading_damaged(r, "not an ELF file");
    }
    r->head = head;
    r->head_size = size;
    return RSDK_OK;
}

/* Let libelf read the header, and follow it. The file is open, and closed by the caller. */
static rsdk_status read_opened(rsdk_elf_reading *r) {
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

/* Read all of a file. The file is open, and closed by the caller. */
static rsdk_status read_whole(rsdk_elf_reading *r) {
    r->result->size = r->file.size;
    r->result->identity = r->file.identity;
    if (r->is_to_load) {
        rsdk_file_read_blocks(&r->file, &r->ahead);
    }
    rsdk_status status = read_opened(r);
    rsdk_arena_clear(&r->scratch);
    return status;
}

static rsdk_status read_file(const char *path, rsdk_elf_reading *r) {
    *r->result = (rsdk_elf_file){.path = path};
    if (r->watch == NULL || !r->watch->take_file(r->watch->context, path, &r->file)) {
        RSDK_TRY(rsdk_file_open(path, &r->file, r->error));
    }
    rsdk_status status = read_whole(r);
    rsdk_file_close(&r->file);
    return status;
}

rsdk_status rsdk_elf_file_read(const char *path, rsdk_arena *arena, rsdk_elf_file *file, rsdk_error *error) {
    rsdk_elf_reading r = {.arena = arena, .result = file, .error = error};
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_read_checked(const char *path, size_t relocation_limit, const rsdk_read_watch *watch,
                                       rsdk_arena *arena, rsdk_elf_file *file, rsdk_error *error) {
    rsdk_elf_reading r = {.arena = arena,
                          .result = file,
                          .checks_tables = true,
                          .is_to_load = true,
                          .watch = watch,
                          .relocation_limit = relocation_limit,
                          .error = error};
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_read_checked_with_symbols(const char *path, size_t relocation_limit, rsdk_arena *arena,
                                                    rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols,
                                                    bool *has_symbols, rsdk_error *error) {
    rsdk_elf_reading r = {.arena = arena,
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
    rsdk_elf_reading r = {.arena = arena, .result = file, .wants_versions = true, .error = error};
    return read_file(path, &r);
}

rsdk_status rsdk_elf_file_read_opened(const rsdk_file *opened, rsdk_arena *arena, rsdk_elf_file *file,
                                      rsdk_error *error) {
    rsdk_elf_reading r = {.file = *opened, .arena = arena, .result = file, .wants_versions = true, .error = error};
    *file = (rsdk_elf_file){.path = opened->path};
    return read_whole(&r);
}

rsdk_status rsdk_elf_file_check_opened(const rsdk_file *opened, rsdk_error *error) {
    rsdk_arena arena = RSDK_ARENA_INIT;
    rsdk_elf_file file = {.path = opened->path};
    rsdk_elf_reading r = {.file = *opened,
                          .arena = &arena,
                          .result = &file,
                          .checks_tables = true,
                          .relocation_limit = SIZE_MAX,
                          .error = error};
    rsdk_status status = read_whole(&r);
    rsdk_arena_clear(&arena);
    return status;
}

rsdk_status rsdk_elf_file_read_with_symbols(const char *path, bool wants_references, rsdk_arena *arena,
                                            rsdk_elf_file *file, struct rsdk_elf_dynsym *symbols, rsdk_error *error) {
    rsdk_elf_reading r = {.arena = arena,
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
