/* The check of segments, dynamic section and relocations. Addresses are the file's; the linker adds the place where the
 * file was mapped. An undefined symbol, or a version that nobody has, need not be damage: it passes, and the linker
 * reports it. */
#include "elf/elf_check.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"

enum {
    WORD_SIZE = sizeof(ElfW(Addr)),
    RELR_BITS = WORD_SIZE * 8 - 1, /* words that one bitmap of DT_RELR covers */
};

/* No process has memory beyond it, and sums of smaller addresses do not overflow. */
#define ADDRESS_LIMIT ((uint64_t)1 << 48)

/* The relocation types that the linker treats apart. */
typedef struct machine_types {
    unsigned machine, relative, irelative, copy;
} machine_types;

static const machine_types known_machines[] = {{EM_X86_64, R_X86_64_RELATIVE, R_X86_64_IRELATIVE, R_X86_64_COPY},
                                               {EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_IRELATIVE, R_AARCH64_COPY}};

typedef struct check {
    rsdk_elf_view view;
    const machine_types *types;
    rsdk_elf_symbol_tables tables;
    rsdk_elf_table relocations, jump_relocations, relative_words, init_array;
    uint64_t relative_count; /* DT_RELACOUNT */
    uint64_t last_symbol;    /* the highest index that a relocation names */
    ElfW(Addr) written;      /* the range in which the last relocation writes: its segment, up to or from the list of
                                constructors */
    uint64_t written_size;   /* the size of the places there for a word; 0: none yet */
    bool has_text_relocations;
    bool is_program; /* the file names an interpreter */
} check;

/* ---- segments ---- */

static rsdk_status check_dynamic_segment(check *c, const ElfW(Phdr) * dynamic) {
    const ElfW(Phdr) *segment = rsdk_elf_view_segment(&c->view, dynamic->p_vaddr, dynamic->p_filesz, 0);
    if (segment == NULL || !rsdk_elf_view_has(&c->view, dynamic->p_vaddr, dynamic->p_filesz) ||
        dynamic->p_offset - segment->p_offset != dynamic->p_vaddr - segment->p_vaddr) {
        return rsdk_elf_view_damaged(&c->view, "its dynamic section is not where its segments say");
    }
    if ((dynamic->p_flags & PF_W) != 0 && (segment->p_flags & PF_W) == 0) {
        return rsdk_elf_view_damaged(&c->view, "its dynamic section cannot be written");
    }
    for (size_t i = 0; i < c->view.image->dynamic_count; i++) {
        if (c->view.image->dynamic[i].d_tag == DT_NULL) {
            return RSDK_OK;
        }
    }
    return rsdk_elf_view_damaged(&c->view, "its dynamic section has no end");
}

/* Check the RELRO part, which cannot be written after loading: it is a part of one segment, and of the page that the
 * segment ends in. */
static rsdk_status check_relro(check *c, const ElfW(Phdr) * relro) {
    const ElfW(Phdr) *segment = relro->p_memsz > 0 ? rsdk_elf_view_segment(&c->view, relro->p_vaddr, 1, PF_W) : NULL;
    if (relro->p_memsz > 0 &&
        (segment == NULL ||
         !rsdk_elf_is_within(relro->p_vaddr, relro->p_memsz, segment->p_vaddr,
                             segment->p_memsz + (segment->p_align > 1 ? segment->p_align - 1 : 0)))) {
        return rsdk_elf_view_damaged(&c->view, "its RELRO part lies outside what can be written");
    }
    return RSDK_OK;
}

static rsdk_status check_segments(check *c) {
    /* Check the segments that are loaded. The linker reserves one range from the first segment to the last, and maps
     * each into it. */
    bool is_first = true;
    for (size_t i = 0; i < c->view.image->header_count; i++) {
        const ElfW(Phdr) *segment = &c->view.image->headers[i];
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        if (segment->p_filesz > segment->p_memsz ||
            !rsdk_elf_is_within(segment->p_vaddr, segment->p_memsz, 0, ADDRESS_LIMIT)) {
            return rsdk_elf_view_damaged(&c->view, "a segment is longer in the file than in memory");
        }
        if (segment->p_filesz > 0 && (segment->p_flags & (PF_R | PF_W | PF_X)) == 0) {
            return rsdk_elf_view_damaged(&c->view, "a segment can be neither read nor written nor run");
        }
        if ((segment->p_align & (segment->p_align - 1)) != 0) {
            return rsdk_elf_view_damaged(&c->view, "a segment is not aligned as it says");
        }
        if (!is_first && segment->p_vaddr < c->tables.span_end) {
            return rsdk_elf_view_damaged(&c->view, "its segments overlap, or are not in the order of addresses");
        }
        c->tables.span_start = is_first ? segment->p_vaddr : c->tables.span_start;
        c->tables.span_end = segment->p_vaddr + segment->p_memsz;
        is_first = false;
    }
    for (size_t i = 0; i < c->view.image->header_count; i++) {
        const ElfW(Phdr) *segment = &c->view.image->headers[i];
        if (segment->p_type == PT_DYNAMIC) {
            RSDK_TRY(check_dynamic_segment(c, segment));
        } else if (segment->p_type == PT_TLS) {
            bool is_power = (segment->p_align & (segment->p_align - 1)) == 0;
            if (segment->p_memsz > 0 &&
                (segment->p_filesz > segment->p_memsz || !is_power ||
                 (segment->p_filesz > 0 && !rsdk_elf_view_has(&c->view, segment->p_vaddr, segment->p_filesz)))) {
                return rsdk_elf_view_damaged(&c->view, "its thread-local data is not where its segments say");
            }
        } else if (segment->p_type == PT_PHDR &&
                   rsdk_elf_view_segment(&c->view, segment->p_vaddr, segment->p_memsz, 0) == NULL) {
            return rsdk_elf_view_damaged(&c->view, "its program headers lie outside what is loaded");
        } else if (segment->p_type == PT_GNU_RELRO) {
            RSDK_TRY(check_relro(c, segment));
        } else if (segment->p_type == PT_INTERP) {
            c->is_program = true;
        }
    }
    return RSDK_OK;
}

/* ---- the dynamic section ---- */

static const ElfW(Dyn) * entry_of(const check *c, ElfW(Sxword) tag) {
    return rsdk_elf_image_entry(c->view.image, tag);
}

/* Return the value of an entry; 0: there is none. */
static ElfW(Addr) value_of(const check *c, ElfW(Sxword) tag) {
    const ElfW(Dyn) *entry = entry_of(c, tag);
    return entry != NULL ? entry->d_un.d_ptr : 0;
}

/* Take a table, its size, and the entry that says how large a record is (0: none does). The linker takes it for granted
 * that the entries come together. */
static rsdk_status take_table(check *c, const ElfW(Sxword) tags[3], size_t unit, rsdk_elf_table *t, const char *what) {
    const ElfW(Dyn) *place = entry_of(c, tags[0]), *size = entry_of(c, tags[1]), *record = entry_of(c, tags[2]);
    if (place == NULL) {
        return RSDK_OK;
    }
    if (size == NULL || size->d_un.d_val % unit != 0 ||
        (tags[2] != DT_NULL && (record == NULL || record->d_un.d_val != unit)) ||
        (size->d_un.d_val > 0 && !rsdk_elf_view_has(&c->view, place->d_un.d_ptr, size->d_un.d_val))) {
        return rsdk_elf_view_damaged(&c->view, what);
    }
    *t = (rsdk_elf_table){.address = place->d_un.d_ptr, .size = size->d_un.d_val};
    return RSDK_OK;
}

static rsdk_status take_tables(check *c) {
    static const char relocations[] = "its relocations are not where its segments say";
    static const ElfW(Sxword) rela[] = {DT_RELA, DT_RELASZ, DT_RELAENT}, jumps[] = {DT_JMPREL, DT_PLTRELSZ, DT_NULL},
                              relr[] = {DT_RELR, DT_RELRSZ, DT_RELRENT},
                              init[] = {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_NULL},
                              fini[] = {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, DT_NULL};
    rsdk_elf_table destructors = {0};
    RSDK_TRY(take_table(c, rela, sizeof(ElfW(Rela)), &c->relocations, relocations));
    RSDK_TRY(take_table(c, jumps, sizeof(ElfW(Rela)), &c->jump_relocations, relocations));
    RSDK_TRY(take_table(c, relr, WORD_SIZE, &c->relative_words, relocations));
    RSDK_TRY(take_table(c, init, WORD_SIZE, &c->init_array, "its list of constructors is not where its segments say"));
    RSDK_TRY(take_table(c, fini, WORD_SIZE, &destructors, "its list of destructors is not where its segments say"));
    const ElfW(Dyn) *jump_kind = entry_of(c, DT_PLTREL);
    if (jump_kind != NULL && (jump_kind->d_un.d_val != DT_RELA || entry_of(c, DT_JMPREL) == NULL)) {
        return rsdk_elf_view_damaged(&c->view, "its relocations are not of the kind of this machine");
    }
    c->relative_count = value_of(c, DT_RELACOUNT);
    return c->relative_count <= c->relocations.size / sizeof(ElfW(Rela))
               ? RSDK_OK
               : rsdk_elf_view_damaged(&c->view, "it counts more relocations than it has");
}

static rsdk_status take_entries(check *c) {
    char end = 0;
    const struct {
        ElfW(Sxword) tag;
        ElfW(Addr) * address;
    } places[] = {{DT_STRTAB, &c->tables.strings},
                  {DT_SYMTAB, &c->tables.symbols},
                  {DT_HASH, &c->tables.hash},
                  {DT_GNU_HASH, &c->tables.gnu_hash},
                  {DT_VERSYM, &c->tables.version_symbols},
                  {DT_VERNEED, &c->tables.version_needs},
                  {DT_VERDEF, &c->tables.version_definitions}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        *places[i].address = value_of(c, places[i].tag);
        if (*places[i].address == 0 && entry_of(c, places[i].tag) != NULL) { /* there the file's header is */
            return rsdk_elf_view_damaged(&c->view, "one of its tables is not where its segments say");
        }
    }
    c->tables.strings_size = value_of(c, DT_STRSZ);
    c->has_text_relocations = entry_of(c, DT_TEXTREL) != NULL || (value_of(c, DT_FLAGS) & DF_TEXTREL) != 0;
    if (c->tables.symbols == 0 || c->tables.strings_size == 0 ||
        !rsdk_elf_view_has(&c->view, c->tables.strings, c->tables.strings_size)) {
        return rsdk_elf_view_damaged(&c->view, "its string table is not where its segments say");
    }
    RSDK_TRY(take_tables(c));
    c->tables.relocations = c->relocations.address;
    c->tables.jump_relocations = c->jump_relocations.address;
    ElfW(Addr) init = value_of(c, DT_INIT), fini = value_of(c, DT_FINI);
    if ((init != 0 && !rsdk_elf_view_is_code(&c->view, init)) ||
        (fini != 0 && !rsdk_elf_view_is_code(&c->view, fini))) {
        return rsdk_elf_view_damaged(&c->view, "its constructor or destructor lies outside its code");
    }
    RSDK_TRY(rsdk_elf_view_read(&c->view, c->tables.strings + (c->tables.strings_size - 1), &end, 1,
                                "its string table is cut off"));
    return end == '\0' ? RSDK_OK : rsdk_elf_view_damaged(&c->view, "its string table has no end");
}

/* ---- relocations ---- */

static const char bad_relocation[] = "a relocation would write where nothing can be written";

/* Remember the range around a place in which more can be written, beside the list of constructors: relocations are in
 * order. */
static void note_written(check *c, const ElfW(Phdr) * segment, ElfW(Addr) address) {
    const ElfW(Addr) constructors = c->init_array.address, constructors_end = constructors + c->init_array.size;
    ElfW(Addr) start = segment->p_vaddr, end = start + segment->p_memsz;
    if (address + WORD_SIZE <= constructors) {
        end = constructors < end ? constructors : end;
    } else if (address >= constructors_end) {
        start = constructors_end > start ? constructors_end : start;
    } else {
        end = start; /* in the list, or across its edge */
    }
    c->written = start;
    c->written_size = end > start ? end - start - (WORD_SIZE - 1) : 0;
}

static bool can_write(check *c, ElfW(Addr) address) {
    const ElfW(Phdr) *segment = rsdk_elf_view_segment(&c->view, address, WORD_SIZE, PF_W);
    if (segment != NULL) {
        note_written(c, segment, address);
    }
    return segment != NULL ||
           (c->has_text_relocations && rsdk_elf_view_segment(&c->view, address, WORD_SIZE, 0) != NULL);
}

static unsigned type_of(ElfW(Addr) info) {
    return sizeof(void *) == 8 ? (unsigned)ELF64_R_TYPE(info) : ELF32_R_TYPE(info);
}

static uint64_t symbol_of(ElfW(Addr) info) {
    return sizeof(void *) == 8 ? ELF64_R_SYM(info) : ELF32_R_SYM(info);
}

/* Check a relocation. A relocation that is called, or that fills in the list of constructors, must lead to code. */
static rsdk_status check_relocation(check *c, const ElfW(Rela) * entry, bool must_be_relative) {
    const unsigned type = type_of(entry->r_info);
    const uint64_t symbol = symbol_of(entry->r_info);
    if (must_be_relative && type != c->types->relative) {
        return rsdk_elf_view_damaged(&c->view, "its relocations are not what it counts");
    }
    if (symbol >= c->tables.count && symbol != 0) {
        return rsdk_elf_view_damaged(&c->view, "a relocation names a symbol that does not exist");
    }
    c->last_symbol = symbol > c->last_symbol ? symbol : c->last_symbol;
    if (type != 0 && !can_write(c, entry->r_offset)) { /* 0: R_*_NONE */
        return rsdk_elf_view_damaged(&c->view, bad_relocation);
    }
    if (type == c->types->copy && !c->is_program) {
        return rsdk_elf_view_damaged(&c->view, "it has a relocation that only programs have");
    }
    bool is_constructor = rsdk_elf_is_within(entry->r_offset, WORD_SIZE, c->init_array.address, c->init_array.size);
    if ((type == c->types->irelative || (type == c->types->relative && is_constructor)) &&
        !rsdk_elf_view_is_code(&c->view, (ElfW(Addr))entry->r_addend)) {
        return rsdk_elf_view_damaged(&c->view, "a relocation leads to a function outside its code");
    }
    return RSDK_OK;
}

/* Return a word of a record: copies of whole records take most of the time that a loop takes. */
static ElfW(Addr) word_at(const char *record, size_t offset) {
    ElfW(Addr) word;
    memcpy(&word, record + offset, sizeof word);
    return word;
}

/* Pass by the relocations in which nothing can be wrong: such a relocation is relative, and writes where the one before
 * it did. Nearly all relocations are such, in any library. Return the index of the first other relocation, or `end`. */
static size_t pass_relative(const check *c, const char *entries, size_t first, size_t end) {
    const ElfW(Addr) written = c->written;
    const uint64_t written_size = c->written_size;
    const unsigned relative = c->types->relative; /* and no symbol */
    size_t i = first;
    for (const char *entry = entries + i * sizeof(ElfW(Rela)); i < end; i++, entry += sizeof(ElfW(Rela))) {
        if (word_at(entry, offsetof(ElfW(Rela), r_info)) != relative ||
            word_at(entry, offsetof(ElfW(Rela), r_offset)) - written >= written_size) {
            break;
        }
    }
    return i;
}

/* Pass by plain relocations behind the relative ones: such a relocation is of no type that the linker treats apart. */
static size_t pass_plain(check *c, const char *entries, size_t first, size_t end) {
    const machine_types types = *c->types;
    const ElfW(Addr) written = c->written;
    const uint64_t written_size = c->written_size, symbol_count = c->tables.count;
    uint64_t last_symbol = c->last_symbol;
    size_t i = first;
    for (; i < end; i++) {
        const char *entry = entries + i * sizeof(ElfW(Rela));
        const ElfW(Addr) info = word_at(entry, offsetof(ElfW(Rela), r_info));
        const unsigned type = type_of(info);
        const uint64_t symbol = symbol_of(info);
        if (word_at(entry, offsetof(ElfW(Rela), r_offset)) - written >= written_size || type == 0 ||
            type == types.irelative || type == types.copy || symbol >= symbol_count) {
            break;
        }
        last_symbol = symbol > last_symbol ? symbol : last_symbol;
    }
    c->last_symbol = last_symbol;
    return i;
}

static rsdk_status check_relocations(check *c, const rsdk_elf_table *t, uint64_t relative_count) {
    rsdk_elf_walk w = {
        .next = t->address, .left = t->size / sizeof(ElfW(Rela)), .unit = sizeof(ElfW(Rela)), .what = bad_relocation};
    do {
        RSDK_TRY(rsdk_elf_walk_next(&c->view, &w));
        for (size_t i = 0; i < w.count; i++) {
            ElfW(Rela) entry;
            const size_t relative_end = relative_count < w.count ? (size_t)relative_count : w.count;
            i = pass_relative(c, w.bytes, i, relative_end);
            i = i < relative_end ? i : pass_plain(c, w.bytes, i, w.count);
            if (i < w.count) {
                memcpy(&entry, w.bytes + i * sizeof entry, sizeof entry);
                RSDK_TRY(check_relocation(c, &entry, i < relative_count));
            }
        }
        relative_count -= relative_count < w.count ? relative_count : w.count;
    } while (w.count > 0);
    return RSDK_OK;
}

static rsdk_status check_all_relocations(check *c, size_t limit) {
    uint64_t records = (c->relocations.size + c->jump_relocations.size) / sizeof(ElfW(Rela));
    if (records + c->relative_words.size / WORD_SIZE > limit) {
        return RSDK_OK;
    }
    RSDK_TRY(check_relocations(c, &c->relocations, c->relative_count));
    RSDK_TRY(check_relocations(c, &c->jump_relocations, 0));
    /* Check DT_RELR: an address, then bitmaps (odd) of the words behind it. */
    ElfW(Addr) next = 0, word;
    bool has_begun = false;
    for (uint64_t i = 0; i < c->relative_words.size / WORD_SIZE; i++) {
        RSDK_TRY(rsdk_elf_view_read(&c->view, c->relative_words.address + i * WORD_SIZE, &word, sizeof word,
                                    bad_relocation));
        if ((word & 1) == 0) {
            if (!can_write(c, word)) {
                return rsdk_elf_view_damaged(&c->view, bad_relocation);
            }
            next = word + WORD_SIZE;
            has_begun = true;
            continue;
        }
        for (unsigned bit = 0; bit < RELR_BITS; bit++) {
            if ((word >> (bit + 1) & 1) != 0 && (!has_begun || !can_write(c, next + (ElfW(Addr))bit * WORD_SIZE))) {
                return rsdk_elf_view_damaged(&c->view, bad_relocation);
            }
        }
        next += (ElfW(Addr))RELR_BITS * WORD_SIZE;
    }
    return RSDK_OK;
}

static const machine_types *types_of(unsigned machine) {
    for (size_t i = 0; i < sizeof known_machines / sizeof *known_machines; i++) {
        if (known_machines[i].machine == machine) {
            return &known_machines[i];
        }
    }
    return NULL;
}

rsdk_status rsdk_elf_check(const rsdk_elf_image *image, size_t relocation_limit, rsdk_elf_tables *tables,
                           rsdk_error *error) {
    check c = {.types = types_of(image->machine)};
    if (c.types == NULL) {
        return RSDK_OK; /* the machine's linker may follow other rules */
    }
    RSDK_TRY(rsdk_elf_view_init(image, &c.view, error));
    RSDK_TRY(check_segments(&c));
    RSDK_TRY(take_entries(&c));
    RSDK_TRY(rsdk_elf_symbols_count(&c.view, &c.tables));
    if (tables != NULL) {
        *tables = (rsdk_elf_tables){.are_known = true,
                                    .symbols = c.tables,
                                    .relocations = c.relocations,
                                    .jump_relocations = c.jump_relocations,
                                    .relative_count = c.relative_count};
    }
    if (c.tables.is_counted) {
        RSDK_TRY(rsdk_elf_symbols_check(&c.view, &c.tables));
        return check_all_relocations(&c, relocation_limit);
    }
    /* The linker uses the symbols that relocations name, and no other. */
    RSDK_TRY(check_all_relocations(&c, relocation_limit));
    c.tables.count = c.last_symbol + 1;
    return rsdk_elf_symbols_check(&c.view, &c.tables);
}
