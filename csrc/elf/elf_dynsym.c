/* Reading the tables of symbols, and the search in them. */
#include "elf/elf_dynsym.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"

enum {
    TABLES_LIMIT = 1 << 28,     /* bytes of symbols, names and hash tables together; large libraries have 50 MB */
    REFERENCES_LIMIT = 1 << 24, /* no library has as many */
    VERSION_INDEX_MASK = 0x7FFF,
    VERSION_HIDDEN = 0x8000,
    WORD_SIZE = sizeof(ElfW(Addr)),
    WORD_BITS = WORD_SIZE * 8,
    GNU_HASH_HEADER = 4, /* words: buckets, first symbol, words of the filter, shift */
    HASH_HEADER = 2,     /* words: buckets, chains */
};

typedef struct reading {
    rsdk_elf_view view;
    const rsdk_elf_tables *tables;
    rsdk_arena *arena;
    rsdk_elf_dynsym *result;
    uint64_t left; /* the rest of TABLES_LIMIT */
} reading;

static const char bad_symbols[] = "its symbol table is not where its segments say";
static const char bad_versions[] = "its table of versions contradicts itself";

static rsdk_status read_block(reading *r, ElfW(Addr) address, uint64_t size, const char *what, void **block) {
    if (size > r->left) {
        return rsdk_elf_view_damaged(&r->view, "its tables of symbols are larger than in any library");
    }
    r->left -= size;
    return rsdk_elf_view_copy(&r->view, address, (size_t)size, r->arena, block, what);
}

/* ---- relocations ---- */

typedef struct relocation_kind {
    unsigned machine, type;
    rsdk_elf_reference_kind kind;
    bool holds_address;
} relocation_kind;

/* Types that are not here ask for an address and store it in a way of their own. */
static const relocation_kind relocation_kinds[] = {
    {EM_X86_64, R_X86_64_64, RSDK_ELF_REFERENCE_DATA, true},
    {EM_X86_64, R_X86_64_GLOB_DAT, RSDK_ELF_REFERENCE_DATA, true},
    {EM_X86_64, R_X86_64_JUMP_SLOT, RSDK_ELF_REFERENCE_CALL, true},
    {EM_X86_64, R_X86_64_COPY, RSDK_ELF_REFERENCE_COPY, false},
    {EM_X86_64, R_X86_64_DTPMOD64, RSDK_ELF_REFERENCE_CALL, false},
    {EM_X86_64, R_X86_64_DTPOFF64, RSDK_ELF_REFERENCE_CALL, false},
    {EM_X86_64, R_X86_64_TPOFF64, RSDK_ELF_REFERENCE_CALL, false},
    {EM_X86_64, R_X86_64_TLSDESC, RSDK_ELF_REFERENCE_CALL, false},
    {EM_AARCH64, R_AARCH64_ABS64, RSDK_ELF_REFERENCE_DATA, true},
    {EM_AARCH64, R_AARCH64_GLOB_DAT, RSDK_ELF_REFERENCE_DATA, true},
    {EM_AARCH64, R_AARCH64_JUMP_SLOT, RSDK_ELF_REFERENCE_CALL, true},
    {EM_AARCH64, R_AARCH64_COPY, RSDK_ELF_REFERENCE_COPY, false},
    {EM_AARCH64, R_AARCH64_TLS_DTPMOD, RSDK_ELF_REFERENCE_CALL, false},
    {EM_AARCH64, R_AARCH64_TLS_DTPREL, RSDK_ELF_REFERENCE_CALL, false},
    {EM_AARCH64, R_AARCH64_TLS_TPREL, RSDK_ELF_REFERENCE_CALL, false},
    {EM_AARCH64, R_AARCH64_TLSDESC, RSDK_ELF_REFERENCE_CALL, false},
};

static relocation_kind kind_of(unsigned machine, unsigned type) {
    for (size_t i = 0; i < sizeof relocation_kinds / sizeof *relocation_kinds; i++) {
        if (relocation_kinds[i].machine == machine && relocation_kinds[i].type == type) {
            return relocation_kinds[i];
        }
    }
    return (relocation_kind){.kind = RSDK_ELF_REFERENCE_DATA};
}

/* Take the references of a table. DT_RELACOUNT says that the first `skipped` relocations are relative. */
static rsdk_status take_references(reading *r, const rsdk_elf_table *table, uint64_t skipped, bool is_lazy_slot) {
    rsdk_elf_walk walk = {.next = table->address + skipped * sizeof(ElfW(Rela)),
                          .left = table->size / sizeof(ElfW(Rela)) - skipped,
                          .unit = sizeof(ElfW(Rela)),
                          .what = "its relocations are not where its segments say"};
    do {
        RSDK_TRY(rsdk_elf_walk_next(&r->view, &walk));
        for (size_t i = 0; i < walk.count; i++) {
            ElfW(Rela) entry;
            memcpy(&entry, walk.bytes + i * sizeof entry, sizeof entry);
            const bool is_wide = sizeof(void *) == 8;
            const unsigned type = is_wide ? (unsigned)ELF64_R_TYPE(entry.r_info) : ELF32_R_TYPE(entry.r_info);
            const uint64_t symbol = is_wide ? ELF64_R_SYM(entry.r_info) : ELF32_R_SYM(entry.r_info);
            if (symbol != 0 && type != 0) { /* relative ones name none; 0: R_*_NONE */
                if (symbol > UINT32_MAX || r->result->references.count >= REFERENCES_LIMIT) {
                    return rsdk_elf_view_damaged(&r->view, "a relocation names a symbol that does not exist");
                }
                const relocation_kind kind = kind_of(r->view.image->machine, type);
                const rsdk_elf_reference reference = {.address = entry.r_offset,
                                                      .addend = entry.r_addend,
                                                      .symbol = (uint32_t)symbol,
                                                      .kind = kind.kind,
                                                      .is_lazy_slot = is_lazy_slot,
                                                      .holds_address = kind.holds_address};
                RSDK_APPEND(r->arena, &r->result->references, reference, r->view.error);
            }
        }
    } while (walk.count > 0);
    return RSDK_OK;
}

/* ---- symbols ---- */

/* Return the number of symbols. A file without hash tables does not say it: the symbols that relocations name count. */
static uint64_t symbol_count(const reading *r) {
    uint64_t count = r->tables->symbols.count, last = 0;
    if (r->tables->symbols.is_counted) {
        return count;
    }
    for (size_t i = 0; i < r->result->references.count; i++) {
        uint32_t symbol = r->result->references.items[i].symbol;
        last = symbol > last ? symbol : last;
    }
    return last + 1 < count ? last + 1 : count;
}

static rsdk_status take_symbols(reading *r) {
    const rsdk_elf_symbol_tables *tables = &r->tables->symbols;
    void *block = NULL;
    uint64_t count = symbol_count(r);
    RSDK_TRY(
        read_block(r, tables->strings, tables->strings_size, "its string table is not where its segments say", &block));
    RSDK_NEED(block, r->view.error); /* for the static analyser */
    r->result->strings = block;
    r->result->strings_size = tables->strings_size;
    if (tables->strings_size == 0 || r->result->strings[tables->strings_size - 1] != '\0') {
        return rsdk_elf_view_damaged(&r->view, "its string table has no end");
    }
    RSDK_TRY(read_block(r, tables->symbols, count * sizeof(ElfW(Sym)), bad_symbols, &block));
    r->result->symbols = block;
    r->result->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        if (r->result->symbols[i].st_name >= tables->strings_size) {
            return rsdk_elf_view_damaged(&r->view, "the name of a symbol lies outside its string table");
        }
    }
    return RSDK_OK;
}

/* Read a table that begins with a header of some words, which says its size. The file may change between the two
 * readings: the header of the first one stays. */
static rsdk_status read_hashes(reading *r, ElfW(Addr) address, const uint32_t *header, size_t header_words,
                               uint64_t words, const uint32_t **table) {
    void *block = NULL;
    RSDK_TRY(read_block(r, address, words * sizeof *header, bad_symbols, &block));
    RSDK_NEED(block, r->view.error); /* for the static analyser */
    memcpy(block, header, header_words * sizeof *header);
    *table = block;
    return RSDK_OK;
}

static rsdk_status take_hashes(reading *r) {
    const rsdk_elf_symbol_tables *tables = &r->tables->symbols;
    uint32_t header[GNU_HASH_HEADER];
    if (tables->gnu_hash != 0) {
        RSDK_TRY(rsdk_elf_view_read(&r->view, tables->gnu_hash, header, sizeof header, bad_symbols));
        uint64_t chains = tables->is_counted && tables->count > header[1] ? tables->count - header[1] : 0;
        uint64_t words = GNU_HASH_HEADER + (uint64_t)header[2] * (WORD_SIZE / sizeof *header) + header[0] + chains;
        r->result->gnu_hash_words = words;
        return read_hashes(r, tables->gnu_hash, header, GNU_HASH_HEADER, words, &r->result->gnu_hash);
    }
    if (tables->hash != 0) {
        RSDK_TRY(rsdk_elf_view_read(&r->view, tables->hash, header, HASH_HEADER * sizeof *header, bad_symbols));
        r->result->hash_words = HASH_HEADER + (uint64_t)header[0] + header[1];
        return read_hashes(r, tables->hash, header, HASH_HEADER, r->result->hash_words, &r->result->hash);
    }
    return RSDK_OK;
}

/* ---- versions ---- */

static rsdk_status take_version(reading *r, unsigned index, rsdk_elf_version version, uint64_t name) {
    index &= VERSION_INDEX_MASK;
    if (name >= r->result->strings_size) {
        return rsdk_elf_view_damaged(&r->view, bad_versions);
    }
    version.name = r->result->strings + name;
    while (r->result->versions.count <= index) {
        RSDK_APPEND(r->arena, &r->result->versions, (rsdk_elf_version){0}, r->view.error);
    }
    r->result->versions.items[index] = version;
    return RSDK_OK;
}

static rsdk_status take_version_definitions(reading *r) {
    ElfW(Addr) place = r->tables->symbols.version_definitions;
    ElfW(Verdef) definition;
    ElfW(Verdaux) name;
    do {
        RSDK_TRY(rsdk_elf_view_read(&r->view, place, &definition, sizeof definition, bad_versions));
        RSDK_TRY(rsdk_elf_view_read(&r->view, place + definition.vd_aux, &name, sizeof name, bad_versions));
        if ((definition.vd_flags & VER_FLG_BASE) == 0) {
            RSDK_TRY(take_version(r, definition.vd_ndx, (rsdk_elf_version){0}, name.vda_name));
        }
        place += definition.vd_next;
    } while (definition.vd_next != 0);
    return RSDK_OK;
}

static rsdk_status take_versions(reading *r) {
    const rsdk_elf_symbol_tables *tables = &r->tables->symbols;
    void *block = NULL;
    if (tables->version_symbols == 0) {
        return RSDK_OK;
    }
    RSDK_TRY(
        read_block(r, tables->version_symbols, (uint64_t)r->result->count * sizeof(ElfW(Half)), bad_versions, &block));
    r->result->version_indexes = block;
    if (tables->version_needs != 0) {
        /* Take the versions that are needed. rsdk_elf_check has followed both chains to their ends. */
        ElfW(Addr) place = r->tables->symbols.version_needs;
        ElfW(Verneed) need;
        do {
            RSDK_TRY(rsdk_elf_view_read(&r->view, place, &need, sizeof need, bad_versions));
            ElfW(Addr) inner = place + need.vn_aux;
            ElfW(Vernaux) version;
            if (need.vn_file >= r->result->strings_size) {
                return rsdk_elf_view_damaged(&r->view, bad_versions);
            }
            do {
                RSDK_TRY(rsdk_elf_view_read(&r->view, inner, &version, sizeof version, bad_versions));
                const rsdk_elf_version taken = {.file = r->result->strings + need.vn_file,
                                                .is_exact = (version.vna_other & VERSION_HIDDEN) != 0};
                RSDK_TRY(take_version(r, version.vna_other, taken, version.vna_name));
                inner += version.vna_next;
            } while (version.vna_next != 0);
            place += need.vn_next;
        } while (need.vn_next != 0);
    }
    return tables->version_definitions != 0 ? take_version_definitions(r) : RSDK_OK;
}

/* ---- the whole ---- */

static rsdk_status take_segments(reading *r) {
    const rsdk_elf_image *image = r->view.image;
    for (size_t i = 0; i < image->header_count; i++) {
        const ElfW(Phdr) *segment = &image->headers[i];
        const rsdk_elf_range range = {segment->p_vaddr, segment->p_memsz};
        if (segment->p_type == PT_GNU_RELRO) {
            r->result->relro = range;
        } else if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0) {
            RSDK_APPEND(r->arena, &r->result->writable, range, r->view.error);
        }
    }
    for (size_t i = 0; i < image->dynamic_count && image->dynamic[i].d_tag != DT_NULL; i++) {
        const ElfW(Dyn) *entry = &image->dynamic[i];
        r->result->is_symbolic |=
            entry->d_tag == DT_SYMBOLIC || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_SYMBOLIC) != 0);
    }
    return RSDK_OK;
}

rsdk_status rsdk_elf_dynsym_read(const rsdk_elf_image *image, const rsdk_elf_tables *tables, bool wants_references,
                                 rsdk_arena *arena, rsdk_elf_dynsym *symbols, rsdk_error *error) {
    reading r = {.tables = tables, .arena = arena, .result = symbols, .left = TABLES_LIMIT};
    *symbols = (rsdk_elf_dynsym){.is_known = tables->are_known};
    if (!tables->are_known) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_elf_view_init(image, &r.view, error));
    symbols->start = tables->symbols.span_start;
    RSDK_TRY(take_segments(&r));
    if (wants_references) {
        RSDK_TRY(take_references(&r, &tables->relocations, tables->relative_count, false));
        RSDK_TRY(take_references(&r, &tables->jump_relocations, 0, true));
    }
    RSDK_TRY(take_symbols(&r));
    /* Drop references to symbols that no other file defines for this one: local and hidden symbols. */
    size_t kept = 0;
    for (size_t i = 0; i < r.result->references.count; i++) {
        const rsdk_elf_reference reference = r.result->references.items[i];
        if (reference.symbol >= r.result->count) {
            return rsdk_elf_view_damaged(&r.view, "a relocation names a symbol that does not exist");
        }
        const ElfW(Sym) *symbol = &r.result->symbols[reference.symbol];
        unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other); /* the same in both classes */
        if (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL && visibility != STV_HIDDEN && visibility != STV_INTERNAL) {
            r.result->references.items[kept++] = reference;
        }
    }
    r.result->references.count = kept;
    RSDK_TRY(take_hashes(&r));
    return take_versions(&r);
}

/* ---- the search ---- */

const char *rsdk_elf_dynsym_name(const rsdk_elf_dynsym *symbols, uint32_t index) {
    return symbols->strings + symbols->symbols[index].st_name;
}

const rsdk_elf_version *rsdk_elf_dynsym_version(const rsdk_elf_dynsym *symbols, uint32_t index) {
    if (symbols->version_indexes == NULL) {
        return NULL;
    }
    unsigned number = symbols->version_indexes[index] & VERSION_INDEX_MASK;
    return number < symbols->versions.count && symbols->versions.items[number].name != NULL
               ? &symbols->versions.items[number]
               : NULL;
}

bool rsdk_elf_dynsym_is_default(const rsdk_elf_dynsym *symbols, uint32_t index) {
    return symbols->version_indexes == NULL || (symbols->version_indexes[index] & VERSION_HIDDEN) == 0;
}

static uint32_t gnu_hash_of(const char *name) {
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        hash = hash * 33 + *c;
    }
    return hash;
}

static uint32_t hash_of(const char *name) {
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        hash = (hash << 4) + *c;
        hash ^= (hash & 0xF0000000U) >> 24;
        hash &= 0x0FFFFFFFU;
    }
    return hash;
}

rsdk_elf_wanted rsdk_elf_dynsym_wanted(const char *name, const rsdk_elf_version *version,
                                       rsdk_elf_reference_kind kind) {
    return (rsdk_elf_wanted){
        .name = name, .version = version, .kind = kind, .gnu_hash = gnu_hash_of(name), .hash = hash_of(name)};
}

/* A search: a reference without a version takes the only default version, if no definition without one is there. */
typedef struct search {
    const rsdk_elf_dynsym *symbols;
    const rsdk_elf_wanted *wanted;
    uint32_t default_index;
    unsigned defaults;
} search;

static bool version_answers(search *s, uint32_t index) {
    const ElfW(Half) *indexes = s->symbols->version_indexes;
    const rsdk_elf_version *wanted = s->wanted->version;
    if (indexes == NULL) {
        return true; /* a definition without a version answers any */
    }
    bool is_hidden = (indexes[index] & VERSION_HIDDEN) != 0;
    if (wanted != NULL) {
        const rsdk_elf_version *own = rsdk_elf_dynsym_version(s->symbols, index);
        return own != NULL ? strcmp(own->name, wanted->name) == 0 : !wanted->is_exact && !is_hidden;
    }
    if ((indexes[index] & VERSION_INDEX_MASK) <= 2) { /* none, the base version, or the oldest one */
        return true;
    }
    if (!is_hidden && s->defaults++ == 0) {
        s->default_index = index;
    }
    return false;
}

static bool is_definition(const search *s, const ElfW(Sym) * symbol) {
    unsigned type = ELF64_ST_TYPE(symbol->st_info); /* the same in both classes */
    bool has_value = symbol->st_value != 0 || symbol->st_shndx == SHN_ABS || type == STT_TLS;
    bool is_there = symbol->st_shndx != SHN_UNDEF || s->wanted->kind == RSDK_ELF_REFERENCE_DATA;
    bool is_kind = type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_COMMON ||
                   type == STT_TLS || type == STT_GNU_IFUNC;
    return has_value && is_there && is_kind;
}

static bool matches(search *s, uint32_t index) {
    const ElfW(Sym) *symbol = &s->symbols->symbols[index];
    return is_definition(s, symbol) && strcmp(s->symbols->strings + symbol->st_name, s->wanted->name) == 0 &&
           version_answers(s, index);
}

/* Search DT_GNU_HASH. The words lie one after the other: header, filter, buckets, hashes of the symbols. */
static bool find_by_gnu_hash(search *s, uint32_t *index) {
    const rsdk_elf_dynsym *symbols = s->symbols;
    const uint32_t *words = symbols->gnu_hash, hash = s->wanted->gnu_hash;
    const uint32_t buckets = words[0], first = words[1], filter_words = words[2], shift = words[3];
    ElfW(Addr) filter;
    if (buckets == 0 || filter_words == 0) {
        return false;
    }
    memcpy(&filter, (const char *)(words + GNU_HASH_HEADER) + (size_t)(hash / WORD_BITS % filter_words) * WORD_SIZE,
           sizeof filter);
    uint32_t shifted = shift < 32 ? hash >> shift : 0;
    if ((filter >> (hash % WORD_BITS) & filter >> (shifted % WORD_BITS) & 1) == 0) {
        return false;
    }
    const uint64_t buckets_at = GNU_HASH_HEADER + (uint64_t)filter_words * (WORD_SIZE / sizeof *words);
    const uint64_t chains_at = buckets_at + buckets;
    uint32_t at = words[buckets_at + hash % buckets];
    if (at < first || at == 0) {
        return false;
    }
    for (;; at++) {
        uint64_t place = chains_at + (at - first);
        if (at >= symbols->count || place >= symbols->gnu_hash_words) {
            return false;
        }
        if ((words[place] | 1) == (hash | 1) && matches(s, at)) {
            *index = at;
            return true;
        }
        if ((words[place] & 1) != 0) {
            return false;
        }
    }
}

static bool find_by_hash(search *s, uint32_t *index) {
    const uint32_t *words = s->symbols->hash, buckets = words[0], chains = words[1];
    if (buckets == 0) {
        return false;
    }
    uint32_t at = words[HASH_HEADER + s->wanted->hash % buckets];
    for (uint32_t steps = 0; at != 0 && at < chains && at < s->symbols->count && steps < chains; steps++) {
        if (matches(s, at)) {
            *index = at;
            return true;
        }
        at = words[HASH_HEADER + buckets + at];
    }
    return false;
}

bool rsdk_elf_dynsym_find(const rsdk_elf_dynsym *symbols, const rsdk_elf_wanted *wanted, uint32_t *index) {
    search s = {.symbols = symbols, .wanted = wanted};
    bool found = symbols->gnu_hash != NULL ? find_by_gnu_hash(&s, index)
                 : symbols->hash != NULL   ? find_by_hash(&s, index)
                                           : false;
    if (!found && s.defaults == 1) {
        *index = s.default_index;
        found = true;
    }
    if (!found) {
        return false;
    }
    const ElfW(Sym) *symbol = &symbols->symbols[*index];
    unsigned binding = ELF64_ST_BIND(symbol->st_info), visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    return visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
           (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE);
}

bool rsdk_elf_dynsym_begins_with(const char *name, const char *const prefixes[]) {
    for (; *prefixes != NULL; prefixes++) {
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0) {
            return true;
        }
    }
    return false;
}

bool rsdk_elf_dynsym_calls_own_by_name(const rsdk_elf_dynsym *symbols, const char *const prefixes[]) {
    for (size_t i = 0; !symbols->is_symbolic && i < symbols->references.count; i++) {
        const uint32_t index = symbols->references.items[i].symbol;
        const ElfW(Sym) *symbol = &symbols->symbols[index];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT &&
            rsdk_elf_dynsym_begins_with(rsdk_elf_dynsym_name(symbols, index), prefixes)) {
            return true;
        }
    }
    return false;
}

bool rsdk_elf_dynsym_is_writable(const rsdk_elf_dynsym *symbols, uint32_t index) {
    const ElfW(Sym) *symbol = &symbols->symbols[index];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
        rsdk_elf_is_within(symbol->st_value, 1, symbols->relro.start, symbols->relro.size)) {
        return false;
    }
    for (size_t i = 0; i < symbols->writable.count; i++) {
        if (rsdk_elf_is_within(symbol->st_value, 1, symbols->writable.items[i].start,
                               symbols->writable.items[i].size)) {
            return true;
        }
    }
    return false;
}
