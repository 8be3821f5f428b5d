/* The check of the tables of symbols. */
#include "elf/elf_view.h"

#include <elf.h>
#include <string.h>

#include "base/fail.h"

enum {
    CHAIN_LIMIT = 1 << 16,  /* records in a chain of versions */
    SYMBOL_LIMIT = 1 << 24, /* no library has as many */
    HASH_LIMIT = 1 << 20,   /* or as many with DT_HASH alone, which linkers have left off for large libraries */
    VERSION_INDEX_MASK = 0x7FFF,
    WORD_SIZE = sizeof(ElfW(Addr)), /* bytes of a word of the filter in DT_GNU_HASH */
};

typedef struct check {
    rsdk_elf_view *view;
    rsdk_elf_symbol_tables *tables;
    unsigned version_limit; /* the highest index that a version has */
} check;

/* ---- hash tables ---- */

static const char bad_hash[] = "its hash table contradicts itself or its symbol table";

/* Return how many symbols there is room for before the next table. */
static uint64_t symbol_room(check *c) {
    const ElfW(Addr) others[] = {c->tables->strings,       c->tables->hash,
                                 c->tables->gnu_hash,      c->tables->version_symbols,
                                 c->tables->version_needs, c->tables->version_definitions,
                                 c->tables->relocations,   c->tables->jump_relocations};
    uint64_t room = rsdk_elf_view_bytes_from(c->view, c->tables->symbols);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] > c->tables->symbols && others[i] - c->tables->symbols < room) {
            room = others[i] - c->tables->symbols;
        }
    }
    room /= sizeof(ElfW(Sym));
    return room < SYMBOL_LIMIT ? room : SYMBOL_LIMIT;
}

/* Return whether a chain has no end. Each chain is followed: a chain that comes back to itself would hold up a search
 * for ever. `words`: buckets, then chains. */
static bool has_endless_chain(const uint32_t *words, uint32_t bucket_count, uint32_t chain_count) {
    uint64_t steps = 0;
    for (uint32_t i = 0; i < bucket_count; i++) {
        for (uint32_t index = words[i]; index != 0; index = words[bucket_count + index]) {
            if (++steps > chain_count) { /* each symbol is in one chain */
                return true;
            }
        }
    }
    return false;
}

/* Check DT_HASH: two counts, buckets, chains; each a symbol's index, 0 ends a chain. */
static rsdk_status check_hash(check *c, uint64_t room) {
    uint32_t counts[2];
    RSDK_TRY(rsdk_elf_view_read(c->view, c->tables->hash, counts, sizeof counts, bad_hash));
    uint64_t count = (uint64_t)counts[0] + counts[1];
    if (counts[1] > room || !rsdk_elf_view_has(c->view, c->tables->hash, sizeof counts + count * sizeof *counts)) {
        return rsdk_elf_view_damaged(c->view, bad_hash);
    }
    c->tables->count = counts[1];
    if (c->tables->gnu_hash != 0) {
        return RSDK_OK; /* the linker prefers that one */
    }
    if (count > HASH_LIMIT) {
        return rsdk_elf_view_damaged(c->view, bad_hash);
    }
    uint32_t *words = rsdk_arena_alloc(c->view->image->scratch, (size_t)count + 1, sizeof *words);
    RSDK_NEED(words, c->view->error);
    rsdk_elf_walk w = {.next = c->tables->hash + sizeof counts, .left = count, .unit = sizeof *words, .what = bad_hash};
    uint32_t *end = words;
    do {
        RSDK_TRY(rsdk_elf_walk_next(c->view, &w));
        memcpy(end, w.bytes, w.count * w.unit);
        end += w.count;
    } while (w.count > 0);
    for (size_t i = 0; i < count; i++) {
        if (words[i] >= counts[1] && words[i] != 0) {
            return rsdk_elf_view_damaged(c->view, bad_hash);
        }
    }
    return has_endless_chain(words, counts[0], counts[1]) ? rsdk_elf_view_damaged(c->view, bad_hash) : RSDK_OK;
}

/* Find the last index that a bucket begins with; 0: no symbol can be looked up. There is no branch for each bucket:
 * buckets are many, in no order. */
static rsdk_status last_bucket(check *c, ElfW(Addr) buckets, uint32_t count, uint32_t first, uint32_t *last) {
    rsdk_elf_walk w = {.next = buckets, .left = count, .unit = sizeof(uint32_t), .what = bad_hash};
    uint32_t highest = 0, lowest = UINT32_MAX; /* `lowest`: one less, so that an empty bucket is above all */
    do {
        RSDK_TRY(rsdk_elf_walk_next(c->view, &w));
        for (size_t i = 0; i < w.count; i++) {
            uint32_t index;
            memcpy(&index, w.bytes + i * sizeof index, sizeof index);
            highest = index > highest ? index : highest;
            lowest = index - 1 < lowest ? index - 1 : lowest;
        }
    } while (w.count > 0);
    *last = highest;
    return highest > 0 && lowest + 1 < first ? rsdk_elf_view_damaged(c->view, bad_hash) : RSDK_OK;
}

/* Check DT_GNU_HASH: counts, a Bloom filter, buckets, and a word for each symbol from the first that can be looked up;
 * the last of a bucket is odd. */
static rsdk_status check_gnu_hash(check *c, uint64_t room) {
    struct {
        uint32_t bucket_count, first, filter_words, shift;
    } header;
    uint32_t last = 0, word = 0;
    RSDK_TRY(rsdk_elf_view_read(c->view, c->tables->gnu_hash, &header, sizeof header, bad_hash));
    uint64_t filter_size = (uint64_t)header.filter_words * WORD_SIZE;
    uint64_t fixed = sizeof header + filter_size + (uint64_t)header.bucket_count * sizeof word;
    if (header.filter_words == 0 || (header.filter_words & (header.filter_words - 1)) != 0 || header.first > room ||
        !rsdk_elf_view_has(c->view, c->tables->gnu_hash, fixed)) {
        return rsdk_elf_view_damaged(c->view, bad_hash);
    }
    RSDK_TRY(
        last_bucket(c, c->tables->gnu_hash + sizeof header + filter_size, header.bucket_count, header.first, &last));
    if (last == 0) {
        c->tables->is_counted = c->tables->hash != 0;
        c->tables->count = c->tables->is_counted ? c->tables->count : room;
        return RSDK_OK;
    }
    for (uint64_t index = last; (word & 1) == 0; index++) {
        ElfW(Addr) place = c->tables->gnu_hash + fixed + (index - header.first) * sizeof word;
        if (index >= room) {
            return rsdk_elf_view_damaged(c->view, bad_hash);
        }
        RSDK_TRY(rsdk_elf_view_read(c->view, place, &word, sizeof word, bad_hash));
        c->tables->count = index + 1 > c->tables->count ? index + 1 : c->tables->count;
    }
    return RSDK_OK;
}

/* ---- versions ---- */

static const char bad_versions[] = "its table of versions contradicts itself";

enum { NAME_SIZE = 256 }; /* bytes of the names of libraries that are compared */

/* Read the beginning of a text of the string table; the text ends before the table does. */
static rsdk_status read_name(check *c, uint64_t index, char name[NAME_SIZE]) {
    uint64_t left = index < c->tables->strings_size ? c->tables->strings_size - index : 0;
    size_t size = left < NAME_SIZE ? (size_t)left : NAME_SIZE;
    if (left == 0) {
        return rsdk_elf_view_damaged(c->view, bad_versions);
    }
    RSDK_TRY(rsdk_elf_view_read(c->view, c->tables->strings + index, name, size, bad_versions));
    name[size - 1] = '\0';
    return RSDK_OK;
}

/* Check that a name of which versions are needed is a library's: the linker ends the process if no loaded library has
 * it. A tool such as patchelf may have removed the DT_NEEDED entry, so a name that looks like a library's passes. */
static rsdk_status check_library_name(check *c, uint32_t index) {
    char name[NAME_SIZE], needed[NAME_SIZE];
    RSDK_TRY(read_name(c, index, name));
    if (strncmp(name, "lib", 3) == 0 && strstr(name, ".so") != NULL) {
        return RSDK_OK; /* the needed names lie apart in large tables: each look would be a read */
    }
    for (const ElfW(Dyn) *entry = c->view->image->dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_NEEDED) {
            RSDK_TRY(read_name(c, entry->d_un.d_val, needed));
            if (strcmp(name, needed) == 0) {
                return RSDK_OK;
            }
        }
    }
    return rsdk_elf_view_damaged(c->view, "it needs versions of what is not a library");
}

static rsdk_status take_version(check *c, unsigned index, uint32_t name) {
    unsigned plain = index & VERSION_INDEX_MASK;
    c->version_limit = plain > c->version_limit ? plain : c->version_limit;
    return name < c->tables->strings_size ? RSDK_OK : rsdk_elf_view_damaged(c->view, bad_versions);
}

static rsdk_status check_version_needs(check *c) {
    ElfW(Addr) place = c->tables->version_needs;
    ElfW(Verneed) need = {.vn_next = 0};
    unsigned count = 0;
    do {
        RSDK_TRY(rsdk_elf_view_read(c->view, place, &need, sizeof need, bad_versions));
        if (need.vn_version != VER_NEED_CURRENT) {
            return rsdk_elf_view_damaged(c->view, bad_versions);
        }
        RSDK_TRY(check_library_name(c, need.vn_file));
        ElfW(Addr) inner = place + need.vn_aux;
        ElfW(Vernaux) version = {.vna_next = 0};
        do {
            RSDK_TRY(rsdk_elf_view_read(c->view, inner, &version, sizeof version, bad_versions));
            RSDK_TRY(take_version(c, version.vna_other, version.vna_name));
            inner += version.vna_next;
        } while (version.vna_next != 0 && ++count < CHAIN_LIMIT);
        place += need.vn_next;
    } while (need.vn_next != 0 && ++count < CHAIN_LIMIT);
    return count < CHAIN_LIMIT ? RSDK_OK : rsdk_elf_view_damaged(c->view, bad_versions);
}

static rsdk_status check_version_definitions(check *c) {
    ElfW(Addr) place = c->tables->version_definitions;
    ElfW(Verdef) definition = {.vd_next = 0};
    ElfW(Verdaux) name;
    unsigned count = 0;
    do {
        RSDK_TRY(rsdk_elf_view_read(c->view, place, &definition, sizeof definition, bad_versions));
        if (definition.vd_version != VER_DEF_CURRENT) {
            return rsdk_elf_view_damaged(c->view, bad_versions);
        }
        RSDK_TRY(rsdk_elf_view_read(c->view, place + definition.vd_aux, &name, sizeof name, bad_versions));
        RSDK_TRY(take_version(c, definition.vd_ndx, name.vda_name));
        place += definition.vd_next;
    } while (definition.vd_next != 0 && ++count < CHAIN_LIMIT);
    return count < CHAIN_LIMIT ? RSDK_OK : rsdk_elf_view_damaged(c->view, bad_versions);
}

/* Eight indexes of versions, of which compilers make one instruction. */
enum { LANES = 8 };

static void raise_to(uint16_t highest[LANES], const char *indexes) {
    uint16_t some[LANES];
    memcpy(some, indexes, sizeof some);
    for (size_t i = 0; i < LANES; i++) {
        const uint16_t index = (uint16_t)(some[i] & VERSION_INDEX_MASK);
        highest[i] = index > highest[i] ? index : highest[i];
    }
}

static unsigned highest_version(const char *indexes, size_t count) {
    uint16_t highest[LANES] = {0}, rest[LANES] = {0};
    unsigned result = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        raise_to(highest, indexes + i * sizeof *rest);
    }
    memcpy(rest, indexes + i * sizeof *rest, (count - i) * sizeof *rest);
    raise_to(highest, (const char *)rest);
    for (i = 0; i < LANES; i++) {
        result = highest[i] > result ? highest[i] : result;
    }
    return result;
}

static rsdk_status check_versions(check *c) {
    if (c->tables->version_needs != 0) {
        RSDK_TRY(check_version_needs(c));
    }
    if (c->tables->version_definitions != 0) {
        RSDK_TRY(check_version_definitions(c));
    }
    bool has_versions = c->tables->version_needs != 0 || c->tables->version_definitions != 0;
    if (has_versions != (c->tables->version_symbols != 0)) {
        return rsdk_elf_view_damaged(
            c->view, "it has versions without a table of the versions of its symbols, or this table alone");
    }
    if (!has_versions) {
        return RSDK_OK;
    }
    /* Check the versions of the symbols. Each symbol has the index of a version, which the linker uses as an index into
     * its list of versions. */
    rsdk_elf_walk w = {
        .next = c->tables->version_symbols, .left = c->tables->count, .unit = sizeof(ElfW(Half)), .what = bad_versions};
    unsigned highest = VER_NDX_GLOBAL;
    do {
        RSDK_TRY(rsdk_elf_walk_next(c->view, &w));
        const unsigned here = highest_version(w.bytes, w.count);
        highest = here > highest ? here : highest;
    } while (w.count > 0);
    return highest <= VER_NDX_GLOBAL || highest <= c->version_limit
               ? RSDK_OK
               : rsdk_elf_view_damaged(c->view, "a symbol has a version that is in no table");
}

/* ---- symbols ---- */

static bool is_outside(check *c, const ElfW(Sym) * symbol) {
    unsigned type = ELF64_ST_TYPE(symbol->st_info); /* the same in both classes */
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE || type == STT_TLS) {
        return false;
    }
    if (type == STT_GNU_IFUNC) {
        return !rsdk_elf_view_is_code(c->view, symbol->st_value); /* the linker calls it */
    }
    return symbol->st_value != 0 &&
           (symbol->st_value < c->tables->span_start || symbol->st_value > c->tables->span_end + RSDK_ELF_SPAN_SLACK);
}

/* Pass by the symbols in which nothing can be wrong: such a symbol lies inside the segments, and the linker does not
 * call it. Nearly all symbols are such, in any library. Return the index of the first other symbol, or the number of
 * symbols. The fields are copied one by one: copies of whole records take half of the time. */
static size_t pass_plain(const check *c, const rsdk_elf_walk *w, size_t first) {
    const ElfW(Addr) start = c->tables->span_start, span = c->tables->span_end - start;
    const uint64_t strings_size = c->tables->strings_size;
    const char *symbol = w->bytes + first * sizeof(ElfW(Sym)), *end = w->bytes + w->count * sizeof(ElfW(Sym));
    for (; symbol < end; symbol += sizeof(ElfW(Sym))) {
        ElfW(Word) name;
        ElfW(Addr) value;
        unsigned char info;
        memcpy(&name, symbol + offsetof(ElfW(Sym), st_name), sizeof name);
        memcpy(&value, symbol + offsetof(ElfW(Sym), st_value), sizeof value);
        memcpy(&info, symbol + offsetof(ElfW(Sym), st_info), sizeof info);
        if (name >= strings_size || value - start > span ||
            ELF64_ST_TYPE(info) == STT_GNU_IFUNC) { /* the type is the same in both classes */
            break;
        }
    }
    return (size_t)(symbol - w->bytes) / sizeof(ElfW(Sym));
}

rsdk_status rsdk_elf_symbols_count(rsdk_elf_view *view, rsdk_elf_symbol_tables *tables) {
    check c = {.view = view, .tables = tables};
    uint64_t room = symbol_room(&c);
    c.tables->is_counted = c.tables->hash != 0 || c.tables->gnu_hash != 0;
    if (c.tables->hash != 0) {
        RSDK_TRY(check_hash(&c, room));
    }
    if (c.tables->gnu_hash != 0) {
        RSDK_TRY(check_gnu_hash(&c, room));
    }
    if (c.tables->hash == 0 && c.tables->gnu_hash == 0) {
        c.tables->count = room;
    }
    return RSDK_OK;
}

rsdk_status rsdk_elf_symbols_check(rsdk_elf_view *view, rsdk_elf_symbol_tables *tables) {
    check c = {.view = view, .tables = tables};
    rsdk_elf_walk w = {.next = c.tables->symbols,
                       .left = c.tables->count,
                       .unit = sizeof(ElfW(Sym)),
                       .what = "its symbol table is not where its segments say"};
    do {
        RSDK_TRY(rsdk_elf_walk_next(c.view, &w));
        for (size_t i = pass_plain(&c, &w, 0); i < w.count; i = pass_plain(&c, &w, i + 1)) {
            ElfW(Sym) symbol;
            memcpy(&symbol, w.bytes + i * sizeof symbol, sizeof symbol);
            if (symbol.st_name >= c.tables->strings_size) {
                return rsdk_elf_view_damaged(c.view, "the name of a symbol lies outside its string table");
            }
            RSDK_TRY(is_outside(&c, &symbol) ? rsdk_elf_view_damaged(c.view, "a symbol lies outside its segments")
                                             : RSDK_OK);
        }
    } while (w.count > 0);
    return check_versions(&c);
}
