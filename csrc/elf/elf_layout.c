/* The checks of the layout. The checks read the ELF header and the program headers as they are: the file is for this
 * machine, so no byte needs to be swapped. */
#include "elf/elf_layout.h"

#include <inttypes.h>
#include <link.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "elf/elf_view.h"

/* No undamaged library has more program headers; further damages are not reported. */
enum { HEADER_LIMIT = 1024, DAMAGE_LIMIT = 16 };

typedef struct layout {
    rsdk_file file;
    rsdk_arena *arena;
    rsdk_elf_damages *damages;
    ElfW(Ehdr) header;
    ElfW(Phdr) * segments;
    size_t count;
    ElfW(Shdr) * sections; /* none where they lie outside the file */
    size_t section_count;
} layout;

/* Add a damage; `sentence` NULL: memory is short. */
static rsdk_status add_damage(layout *l, const char *sentence, rsdk_error *error) {
    RSDK_NEED(sentence, error);
    if (l->damages->count < DAMAGE_LIMIT) {
        RSDK_APPEND(l->arena, l->damages, ((rsdk_elf_damage){RSDK_E_LIB_006, sentence, sentence}), error);
    }
    return RSDK_OK;
}

/* Return the PT_LOAD segment that maps a range of addresses, or NULL. */
static const ElfW(Phdr) * load_of(const layout *l, uint64_t address, uint64_t size) {
    for (size_t i = 0; i < l->count; i++) {
        const ElfW(Phdr) *segment = &l->segments[i];
        if (segment->p_type == PT_LOAD && rsdk_elf_is_within(address, size, segment->p_vaddr, segment->p_memsz)) {
            return segment;
        }
    }
    return NULL;
}

/* ---- the checks ---- */

/* Check that the program headers are mapped where the loader of the program looks for them; patchelf has moved them and
 * forgotten it. */
static rsdk_status check_headers(layout *l, rsdk_error *error) {
    for (size_t i = 0; i < l->count; i++) {
        const ElfW(Phdr) *segment = &l->segments[i];
        if (segment->p_type == PT_PHDR && load_of(l, segment->p_vaddr, segment->p_memsz) == NULL) {
            RSDK_TRY(add_damage(l, "its program headers lie outside every segment that is loaded", error));
        }
    }
    return RSDK_OK;
}

static rsdk_status check_loads(layout *l, rsdk_error *error) {
    const ElfW(Phdr) *before = NULL;
    for (size_t i = 0; i < l->count; i++) {
        const ElfW(Phdr) *segment = &l->segments[i];
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        uint64_t align = segment->p_align;
        if (align > 1 && ((align & (align - 1)) != 0 || (segment->p_vaddr - segment->p_offset) % align != 0)) {
            RSDK_TRY(add_damage(l, rsdk_arena_format(l->arena, "segment %zu is not aligned as it says", i), error));
        }
        if (segment->p_filesz > segment->p_memsz) {
            RSDK_TRY(add_damage(l, rsdk_arena_format(l->arena, "segment %zu is longer in the file than in memory", i),
                                error));
        }
        if (before != NULL && segment->p_vaddr < before->p_vaddr) {
            RSDK_TRY(
                add_damage(l, rsdk_arena_format(l->arena, "segment %zu is not in the order of addresses", i), error));
        } else if (before != NULL && segment->p_vaddr - before->p_vaddr < before->p_memsz) {
            RSDK_TRY(add_damage(l, rsdk_arena_format(l->arena, "segment %zu overlaps the one before it", i), error));
        }
        before = segment;
    }
    return RSDK_OK;
}

/* Check segments that describe a part of the loaded segments. */
static rsdk_status check_parts(layout *l, rsdk_error *error) {
    static const struct {
        uint32_t type;
        const char *name;
    } parts[] = {
        {PT_DYNAMIC, "dynamic section"}, {PT_GNU_EH_FRAME, "table of unwinding"}, {PT_GNU_RELRO, "RELRO part"}};
    for (size_t i = 0; i < l->count; i++) {
        const ElfW(Phdr) *segment = &l->segments[i];
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++) {
            if (segment->p_type == parts[j].type && segment->p_memsz > 0 &&
                load_of(l, segment->p_vaddr, parts[j].type == PT_GNU_RELRO ? 1 : segment->p_memsz) == NULL) {
                RSDK_TRY(add_damage(
                    l, rsdk_arena_format(l->arena, "its %s lies outside every segment that is loaded", parts[j].name),
                    error));
            }
        }
    }
    return RSDK_OK;
}

/* Check that a note's file offset and address agree. */
static rsdk_status check_notes(layout *l, rsdk_error *error) {
    for (size_t i = 0; i < l->count; i++) {
        const ElfW(Phdr) *note = &l->segments[i];
        if (note->p_type != PT_NOTE || note->p_filesz == 0) {
            continue;
        }
        const ElfW(Phdr) *load = load_of(l, note->p_vaddr, note->p_filesz);
        if (!rsdk_elf_is_within(note->p_offset, note->p_filesz, 0, l->file.size)) {
            RSDK_TRY(add_damage(l, rsdk_arena_format(l->arena, "note %zu lies outside the file", i), error));
        } else if (note->p_vaddr != 0 && load != NULL &&
                   note->p_offset - load->p_offset != note->p_vaddr - load->p_vaddr) {
            RSDK_TRY(add_damage(
                l, rsdk_arena_format(l->arena, "note %zu is somewhere else in the file than in memory", i), error));
        }
    }
    return RSDK_OK;
}

static bool has_sections(const layout *l) {
    uint64_t size = (uint64_t)l->header.e_shnum * l->header.e_shentsize;
    return rsdk_elf_is_within(l->header.e_shoff, size, 0, l->file.size);
}

/* Return whether a section's file offset and address disagree: a tool that moves sections, as objcopy does with a table
 * of program headers that stands behind them, believes the section and forgets the segment. */
static bool is_misplaced(const layout *l, const ElfW(Shdr) * section) {
    if ((section->sh_flags & SHF_ALLOC) == 0 || section->sh_type == SHT_NOBITS || section->sh_size == 0) {
        return false;
    }
    const ElfW(Phdr) *load = load_of(l, section->sh_addr, section->sh_size);
    return load != NULL && section->sh_offset - load->p_offset != section->sh_addr - load->p_vaddr;
}

/* Check the sections. The linker does without them; tools do not, and their absence tells that the file's end is
 * missing. */
static rsdk_status check_sections(layout *l, rsdk_error *error) {
    if (l->header.e_shoff != 0 && !has_sections(l)) {
        RSDK_TRY(add_damage(l, "its section headers lie outside the file: its end is missing", error));
    }
    for (size_t i = 0; i < l->section_count; i++) {
        if (is_misplaced(l, &l->sections[i])) {
            RSDK_TRY(add_damage(
                l, rsdk_arena_format(l->arena, "section %zu is somewhere else in the file than in memory", i), error));
        }
    }
    return RSDK_OK;
}

/* ---- reading ---- */

static rsdk_status read_headers(layout *l, rsdk_error *error) {
    RSDK_TRY(rsdk_file_read(&l->file, 0, &l->header, sizeof l->header, error));
    uint64_t size = (uint64_t)l->header.e_phnum * sizeof *l->segments;
    if (l->header.e_phnum > HEADER_LIMIT || l->header.e_phentsize != sizeof *l->segments ||
        !rsdk_elf_is_within(l->header.e_phoff, size, 0, l->file.size)) {
        return add_damage(l, "its program headers are not where it says", error);
    }
    l->count = l->header.e_phnum;
    l->segments = rsdk_arena_alloc(l->arena, l->count + 1, sizeof *l->segments);
    RSDK_NEED(l->segments, error);
    RSDK_TRY(rsdk_file_read(&l->file, l->header.e_phoff, l->segments, (size_t)size, error));
    if (l->header.e_shoff == 0 || l->header.e_shentsize != sizeof *l->sections || !has_sections(l)) {
        return RSDK_OK;
    }
    l->section_count = l->header.e_shnum;
    l->sections = rsdk_arena_alloc(l->arena, l->section_count + 1, sizeof *l->sections);
    RSDK_NEED(l->sections, error);
    return rsdk_file_read(&l->file, l->header.e_shoff, l->sections, l->section_count * sizeof *l->sections, error);
}

rsdk_status rsdk_elf_layout_find_damages(const rsdk_file *opened, rsdk_arena *arena, rsdk_elf_damages *damages,
                                         rsdk_error *error) {
    static rsdk_status (*const checks[])(layout *, rsdk_error *) = {check_headers, check_loads, check_parts,
                                                                    check_notes, check_sections};
    layout l = {.file = *opened, .arena = arena, .damages = damages};
    rsdk_status status = read_headers(&l, error);
    for (size_t i = 0; status == RSDK_OK && i < sizeof checks / sizeof *checks; i++) {
        status = checks[i](&l, error);
    }
    return status;
}
