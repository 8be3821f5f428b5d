/* The check of the tables. Everything is read through a window of bounded size, in the order in which linkers lay the
 * tables out, so that few reads serve a library. Addresses are those of the file; the linker adds where it was mapped.
 *
 * What cannot be told from damage is let pass: an undefined symbol, a version that nobody has. The linker reports it.
 */
#include "elf/elf_check.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"

#ifndef DT_RELRSZ
#define DT_RELRSZ  35 /* gABI of 2022, glibc 2.36 */
#define DT_RELR    36
#define DT_RELRENT 37
#endif

enum {
    WINDOW_SIZE = 1 << 16,
    CHAIN_LIMIT = 1 << 16,  /* records in a chain of versions */
    SYMBOL_LIMIT = 1 << 24, /* no library has as many */
    HASH_LIMIT = 1 << 20,   /* or as many with DT_HASH alone, which linkers have left off for large libraries */
    SPAN_SLACK = 1 << 16,   /* a symbol such as _end is aligned, and may lie a little behind the last segment */
    VERSION_INDEX_MASK = 0x7FFF,
    WORD_SIZE = sizeof(ElfW(Addr)),
    RELR_BITS = WORD_SIZE * 8 - 1, /* words that one bitmap of DT_RELR covers */
};

/* Behind it no process has memory, and sums of addresses stay far from overflowing. */
#define ADDRESS_LIMIT ((uint64_t)1 << 48)

/* A table that dynamic entries describe; size 0: none. */
typedef struct table {
    ElfW(Addr) address;
    uint64_t size;
} table;

/* The relocation types that the linker treats apart. */
typedef struct machine_types {
    unsigned machine, relative, irelative, copy;
} machine_types;

static const machine_types known_machines[] = {{EM_X86_64, R_X86_64_RELATIVE, R_X86_64_IRELATIVE, R_X86_64_COPY},
                                               {EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_IRELATIVE, R_AARCH64_COPY}};

typedef struct check {
    const rsdk_elf_image *image;
    rsdk_error *error;
    char *window;
    uint64_t window_start, window_size; /* in the file */
    const ElfW(Phdr) * last;            /* the segment that was found last */
    const machine_types *types;
    ElfW(Addr) span_start, span_end; /* of all segments */
    ElfW(Addr) strings, symbols, hash, gnu_hash, version_symbols, version_needs, version_definitions;
    uint64_t strings_size;
    table relocations, jump_relocations, relative_words, init_array;
    uint64_t relative_count; /* DT_RELACOUNT */
    bool has_text_relocations;
    uint64_t symbol_count;
    unsigned version_limit; /* the highest index that a version has */
} check;

static rsdk_status damaged(const check *c, const char *what) {
    const char *path = c->image->file->path;
    (void)rsdk_fail(c->error, RSDK_BAD_ELF, path, "%s: %s", path, what);
    return RSDK_BAD_ELF;
}

/* ---- places ---- */

static bool is_within(uint64_t start, uint64_t size, uint64_t outer_start, uint64_t outer_size) {
    return start >= outer_start && size <= outer_size && start - outer_start <= outer_size - size;
}

/* The PT_LOAD segment that has these addresses, and all `flags`; NULL: none. */
static const ElfW(Phdr) * segment_of(check *c, ElfW(Addr) address, uint64_t size, ElfW(Word) flags) {
    if (c->last != NULL && is_within(address, size, c->last->p_vaddr, c->last->p_memsz) &&
        (c->last->p_flags & flags) == flags) {
        return c->last;
    }
    for (size_t i = 0; i < c->image->header_count; i++) {
        const ElfW(Phdr) *segment = &c->image->headers[i];
        if (segment->p_type == PT_LOAD && is_within(address, size, segment->p_vaddr, segment->p_memsz) &&
            (segment->p_flags & flags) == flags) {
            c->last = segment;
            return segment;
        }
    }
    return NULL;
}

static bool is_code(check *c, ElfW(Addr) address) {
    return segment_of(c, address, 1, PF_X) != NULL;
}

/* How many bytes of the file lie from an address to the end of its segment. */
static uint64_t bytes_from(check *c, ElfW(Addr) address) {
    const ElfW(Phdr) *segment = segment_of(c, address, 1, PF_R);
    return segment != NULL && address - segment->p_vaddr < segment->p_filesz
               ? segment->p_filesz - (address - segment->p_vaddr)
               : 0;
}

/* Whether the file holds what the linker will read there. */
static bool has_bytes(check *c, ElfW(Addr) address, uint64_t size) {
    return size <= bytes_from(c, address);
}

/* The bytes at an address, `size` of them, at most a window; valid until the next call. `*available` is how many more
 * the window holds. `what` is said where the file does not hold them. */
static rsdk_status look_at(check *c, ElfW(Addr) address, size_t size, const char **bytes, size_t *available,
                           const char *what) {
    if (!has_bytes(c, address, size)) {
        return damaged(c, what);
    }
    uint64_t offset = c->last->p_offset + (address - c->last->p_vaddr);
    if (!is_within(offset, size, c->window_start, c->window_size)) {
        uint64_t left = c->image->file->size - offset;
        c->window_size = 0;
        RSDK_TRY(rsdk_file_read(c->image->file, offset, c->window, left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE,
                                c->error));
        c->window_start = offset;
        c->window_size = left < WINDOW_SIZE ? left : WINDOW_SIZE;
    }
    *bytes = c->window + (offset - c->window_start);
    *available = (size_t)(c->window_size - (offset - c->window_start));
    return RSDK_OK;
}

static rsdk_status read_at(check *c, ElfW(Addr) address, void *target, size_t size, const char *what) {
    const char *bytes = NULL;
    size_t available = 0;
    RSDK_TRY(look_at(c, address, size, &bytes, &available, what));
    memcpy(target, bytes, size);
    return RSDK_OK;
}

/* A table of records of one size that is passed through from its first to its last: records are many. */
typedef struct walk {
    ElfW(Addr) next;
    uint64_t left; /* records behind those of `bytes` */
    size_t unit;
    const char *what; /* is said where the file does not hold a record */
    const char *bytes;
    size_t count; /* records in `bytes` */
} walk;

/* The next records; none at the end. */
static rsdk_status next_records(check *c, walk *w) {
    size_t available = 0;
    w->count = 0;
    w->bytes = c->window; /* a pointer to nothing is none that memcpy takes */
    if (w->left == 0) {
        return RSDK_OK;
    }
    if (!has_bytes(c, w->next, w->left * w->unit)) {
        return damaged(c, w->what);
    }
    RSDK_TRY(look_at(c, w->next, w->unit, &w->bytes, &available, w->what));
    w->count = available / w->unit < w->left ? available / w->unit : (size_t)w->left;
    w->left -= w->count;
    w->next += w->count * w->unit;
    return RSDK_OK;
}

/* ---- segments ---- */

/* The linker reserves one range from the first segment to the last, and maps each into it. */
static rsdk_status check_loads(check *c) {
    bool is_first = true;
    for (size_t i = 0; i < c->image->header_count; i++) {
        const ElfW(Phdr) *segment = &c->image->headers[i];
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        if (segment->p_filesz > segment->p_memsz || !is_within(segment->p_vaddr, segment->p_memsz, 0, ADDRESS_LIMIT)) {
            return damaged(c, "a segment is longer in the file than in memory");
        }
        if (segment->p_filesz > 0 && (segment->p_flags & (PF_R | PF_W | PF_X)) == 0) {
            return damaged(c, "a segment can be neither read nor written nor run");
        }
        if ((segment->p_align & (segment->p_align - 1)) != 0) {
            return damaged(c, "a segment is not aligned as it says");
        }
        if (!is_first && segment->p_vaddr < c->span_end) {
            return damaged(c, "its segments overlap, or are not in the order of addresses");
        }
        c->span_start = is_first ? segment->p_vaddr : c->span_start;
        c->span_end = segment->p_vaddr + segment->p_memsz;
        is_first = false;
    }
    return RSDK_OK;
}

static rsdk_status check_dynamic_segment(check *c, const ElfW(Phdr) * dynamic) {
    const ElfW(Phdr) *segment = segment_of(c, dynamic->p_vaddr, dynamic->p_filesz, 0);
    if (segment == NULL || !has_bytes(c, dynamic->p_vaddr, dynamic->p_filesz) ||
        dynamic->p_offset - segment->p_offset != dynamic->p_vaddr - segment->p_vaddr) {
        return damaged(c, "its dynamic section is not where its segments say");
    }
    if ((dynamic->p_flags & PF_W) != 0 && (segment->p_flags & PF_W) == 0) {
        return damaged(c, "its dynamic section cannot be written");
    }
    for (size_t i = 0; i < c->image->dynamic_count; i++) {
        if (c->image->dynamic[i].d_tag == DT_NULL) {
            return RSDK_OK;
        }
    }
    return damaged(c, "its dynamic section has no end");
}

static rsdk_status check_tls(check *c, const ElfW(Phdr) * tls) {
    bool is_power = (tls->p_align & (tls->p_align - 1)) == 0;
    if (tls->p_memsz > 0 && (tls->p_filesz > tls->p_memsz || !is_power ||
                             (tls->p_filesz > 0 && !has_bytes(c, tls->p_vaddr, tls->p_filesz)))) {
        return damaged(c, "its thread-local data is not where its segments say");
    }
    return RSDK_OK;
}

/* What cannot be written after loading: a part of one segment, and of the page that it ends in. */
static rsdk_status check_relro(check *c, const ElfW(Phdr) * relro) {
    const ElfW(Phdr) *segment = relro->p_memsz > 0 ? segment_of(c, relro->p_vaddr, 1, PF_W) : NULL;
    if (relro->p_memsz > 0 &&
        (segment == NULL || !is_within(relro->p_vaddr, relro->p_memsz, segment->p_vaddr,
                                       segment->p_memsz + (segment->p_align > 1 ? segment->p_align - 1 : 0)))) {
        return damaged(c, "its RELRO part lies outside what can be written");
    }
    return RSDK_OK;
}

static rsdk_status check_segments(check *c) {
    RSDK_TRY(check_loads(c));
    for (size_t i = 0; i < c->image->header_count; i++) {
        const ElfW(Phdr) *segment = &c->image->headers[i];
        if (segment->p_type == PT_DYNAMIC) {
            RSDK_TRY(check_dynamic_segment(c, segment));
        } else if (segment->p_type == PT_TLS) {
            RSDK_TRY(check_tls(c, segment));
        } else if (segment->p_type == PT_PHDR && segment_of(c, segment->p_vaddr, segment->p_memsz, 0) == NULL) {
            return damaged(c, "its program headers lie outside what is loaded");
        } else if (segment->p_type == PT_GNU_RELRO) {
            RSDK_TRY(check_relro(c, segment));
        }
    }
    return RSDK_OK;
}

/* ---- the dynamic section ---- */

/* The entry that the linker takes: of several with one tag, the last. NULL: none. */
static const ElfW(Dyn) * entry_of(const check *c, ElfW(Sxword) tag) {
    const ElfW(Dyn) *found = NULL;
    for (const ElfW(Dyn) *entry = c->image->dynamic; entry->d_tag != DT_NULL; entry++) {
        found = entry->d_tag == tag ? entry : found;
    }
    return found;
}

/* The value of an entry; 0: there is none. */
static ElfW(Addr) value_of(const check *c, ElfW(Sxword) tag) {
    const ElfW(Dyn) *entry = entry_of(c, tag);
    return entry != NULL ? entry->d_un.d_ptr : 0;
}

/* A table, its size, and the entry that says how large a record is (0: none does). The linker takes it for granted that
 * the entries come together. */
static rsdk_status take_table(check *c, const ElfW(Sxword) tags[3], size_t unit, table *t, const char *what) {
    const ElfW(Dyn) *place = entry_of(c, tags[0]), *size = entry_of(c, tags[1]), *record = entry_of(c, tags[2]);
    if (place == NULL) {
        return RSDK_OK;
    }
    if (size == NULL || size->d_un.d_val % unit != 0 ||
        (tags[2] != DT_NULL && (record == NULL || record->d_un.d_val != unit)) ||
        (size->d_un.d_val > 0 && !has_bytes(c, place->d_un.d_ptr, size->d_un.d_val))) {
        return damaged(c, what);
    }
    *t = (table){.address = place->d_un.d_ptr, .size = size->d_un.d_val};
    return RSDK_OK;
}

static rsdk_status take_tables(check *c) {
    static const char relocations[] = "its relocations are not where its segments say";
    static const ElfW(Sxword) rela[] = {DT_RELA, DT_RELASZ, DT_RELAENT}, jumps[] = {DT_JMPREL, DT_PLTRELSZ, DT_NULL},
                              relr[] = {DT_RELR, DT_RELRSZ, DT_RELRENT},
                              init[] = {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_NULL},
                              fini[] = {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, DT_NULL};
    table destructors = {0};
    RSDK_TRY(take_table(c, rela, sizeof(ElfW(Rela)), &c->relocations, relocations));
    RSDK_TRY(take_table(c, jumps, sizeof(ElfW(Rela)), &c->jump_relocations, relocations));
    RSDK_TRY(take_table(c, relr, WORD_SIZE, &c->relative_words, relocations));
    RSDK_TRY(take_table(c, init, WORD_SIZE, &c->init_array, "its list of constructors is not where its segments say"));
    RSDK_TRY(take_table(c, fini, WORD_SIZE, &destructors, "its list of destructors is not where its segments say"));
    const ElfW(Dyn) *jump_kind = entry_of(c, DT_PLTREL);
    if (jump_kind != NULL && (jump_kind->d_un.d_val != DT_RELA || entry_of(c, DT_JMPREL) == NULL)) {
        return damaged(c, "its relocations are not of the kind of this machine");
    }
    c->relative_count = value_of(c, DT_RELACOUNT);
    return c->relative_count <= c->relocations.size / sizeof(ElfW(Rela))
               ? RSDK_OK
               : damaged(c, "it counts more relocations than it has");
}

static rsdk_status take_entries(check *c) {
    char end = 0;
    const struct {
        ElfW(Sxword) tag;
        ElfW(Addr) * address;
    } places[] = {{DT_STRTAB, &c->strings},
                  {DT_SYMTAB, &c->symbols},
                  {DT_HASH, &c->hash},
                  {DT_GNU_HASH, &c->gnu_hash},
                  {DT_VERSYM, &c->version_symbols},
                  {DT_VERNEED, &c->version_needs},
                  {DT_VERDEF, &c->version_definitions}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        *places[i].address = value_of(c, places[i].tag);
        if (*places[i].address == 0 && entry_of(c, places[i].tag) != NULL) { /* there the file's header is */
            return damaged(c, "one of its tables is not where its segments say");
        }
    }
    c->strings_size = value_of(c, DT_STRSZ);
    c->has_text_relocations = entry_of(c, DT_TEXTREL) != NULL || (value_of(c, DT_FLAGS) & DF_TEXTREL) != 0;
    if (c->symbols == 0 || c->strings_size == 0 || !has_bytes(c, c->strings, c->strings_size)) {
        return damaged(c, "its string table is not where its segments say");
    }
    RSDK_TRY(take_tables(c));
    ElfW(Addr) init = value_of(c, DT_INIT), fini = value_of(c, DT_FINI);
    if ((init != 0 && !is_code(c, init)) || (fini != 0 && !is_code(c, fini))) {
        return damaged(c, "its constructor or destructor lies outside its code");
    }
    RSDK_TRY(read_at(c, c->strings + (c->strings_size - 1), &end, 1, "its string table is cut off"));
    return end == '\0' ? RSDK_OK : damaged(c, "its string table has no end");
}

/* ---- hash tables ---- */

static const char bad_hash[] = "its hash table contradicts itself or its symbol table";

/* How many symbols there is room for before the next table. */
static uint64_t symbol_room(check *c) {
    const ElfW(Addr) others[] = {c->strings,
                                 c->hash,
                                 c->gnu_hash,
                                 c->version_symbols,
                                 c->version_needs,
                                 c->version_definitions,
                                 c->relocations.address,
                                 c->jump_relocations.address};
    uint64_t room = bytes_from(c, c->symbols);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] > c->symbols && others[i] - c->symbols < room) {
            room = others[i] - c->symbols;
        }
    }
    room /= sizeof(ElfW(Sym));
    return room < SYMBOL_LIMIT ? room : SYMBOL_LIMIT;
}

/* Follows each chain: one that comes back to itself would hold up a search for ever. `words`: buckets, then chains. */
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

/* DT_HASH: two counts, buckets, chains; each a symbol's index, 0 ends a chain. */
static rsdk_status check_hash(check *c, uint64_t room) {
    rsdk_error *error = c->error;
    uint32_t counts[2];
    RSDK_TRY(read_at(c, c->hash, counts, sizeof counts, bad_hash));
    uint64_t count = (uint64_t)counts[0] + counts[1];
    if (counts[1] > room || !has_bytes(c, c->hash, sizeof counts + count * sizeof *counts)) {
        return damaged(c, bad_hash);
    }
    c->symbol_count = counts[1];
    if (c->gnu_hash != 0) {
        return RSDK_OK; /* the linker prefers that one */
    }
    if (count > HASH_LIMIT) {
        return damaged(c, bad_hash);
    }
    uint32_t *words = rsdk_arena_alloc(c->image->scratch, (size_t)count + 1, sizeof *words);
    RSDK_NEED(words);
    walk w = {.next = c->hash + sizeof counts, .left = count, .unit = sizeof *words, .what = bad_hash};
    uint32_t *end = words;
    do {
        RSDK_TRY(next_records(c, &w));
        memcpy(end, w.bytes, w.count * w.unit);
        end += w.count;
    } while (w.count > 0);
    for (size_t i = 0; i < count; i++) {
        if (words[i] >= counts[1] && words[i] != 0) {
            return damaged(c, bad_hash);
        }
    }
    return has_endless_chain(words, counts[0], counts[1]) ? damaged(c, bad_hash) : RSDK_OK;
}

/* The last index that a bucket begins with; 0: no symbol can be looked up. */
static rsdk_status last_bucket(check *c, ElfW(Addr) buckets, uint32_t count, uint32_t first, uint32_t *last) {
    walk w = {.next = buckets, .left = count, .unit = sizeof(uint32_t), .what = bad_hash};
    do {
        RSDK_TRY(next_records(c, &w));
        for (size_t i = 0; i < w.count; i++) {
            uint32_t index;
            memcpy(&index, w.bytes + i * sizeof index, sizeof index);
            if (index != 0 && index < first) {
                return damaged(c, bad_hash);
            }
            *last = index > *last ? index : *last;
        }
    } while (w.count > 0);
    return RSDK_OK;
}

/* DT_GNU_HASH: counts, a Bloom filter, buckets, and a word for each symbol from the first that can be looked up; the
 * last of a bucket is odd. */
static rsdk_status check_gnu_hash(check *c, uint64_t room) {
    struct {
        uint32_t bucket_count, first, filter_words, shift;
    } header;
    uint32_t last = 0, word = 0;
    RSDK_TRY(read_at(c, c->gnu_hash, &header, sizeof header, bad_hash));
    uint64_t filter_size = (uint64_t)header.filter_words * WORD_SIZE;
    uint64_t fixed = sizeof header + filter_size + (uint64_t)header.bucket_count * sizeof word;
    if (header.filter_words == 0 || (header.filter_words & (header.filter_words - 1)) != 0 || header.first > room ||
        !has_bytes(c, c->gnu_hash, fixed)) {
        return damaged(c, bad_hash);
    }
    RSDK_TRY(last_bucket(c, c->gnu_hash + sizeof header + filter_size, header.bucket_count, header.first, &last));
    if (last == 0) {
        c->symbol_count = c->symbol_count > 0 ? c->symbol_count : room; /* how many are needed, nothing tells */
        return RSDK_OK;
    }
    for (uint64_t index = last; (word & 1) == 0; index++) {
        ElfW(Addr) place = c->gnu_hash + fixed + (index - header.first) * sizeof word;
        if (index >= room) {
            return damaged(c, bad_hash);
        }
        RSDK_TRY(read_at(c, place, &word, sizeof word, bad_hash));
        c->symbol_count = index + 1 > c->symbol_count ? index + 1 : c->symbol_count;
    }
    return RSDK_OK;
}

static rsdk_status check_hashes(check *c) {
    uint64_t room = symbol_room(c);
    if (c->hash != 0) {
        RSDK_TRY(check_hash(c, room));
    }
    if (c->gnu_hash != 0) {
        RSDK_TRY(check_gnu_hash(c, room));
    }
    if (c->hash == 0 && c->gnu_hash == 0) {
        c->symbol_count = room;
    }
    return RSDK_OK;
}

/* ---- versions ---- */

static const char bad_versions[] = "its table of versions contradicts itself";

enum { NAME_SIZE = 256 }; /* of the names of libraries that are compared */

/* The beginning of a text of the string table, which ends before the table does. */
static rsdk_status read_name(check *c, uint64_t index, char name[NAME_SIZE]) {
    uint64_t left = index < c->strings_size ? c->strings_size - index : 0;
    size_t size = left < NAME_SIZE ? (size_t)left : NAME_SIZE;
    if (left == 0) {
        return damaged(c, bad_versions);
    }
    RSDK_TRY(read_at(c, c->strings + index, name, size, bad_versions));
    name[size - 1] = '\0';
    return RSDK_OK;
}

/* Whether versions are needed of a library: the linker ends the process where the name is of none that is loaded. A
 * need may have been removed, with patchelf say, so what looks like the name of a library is let pass. */
static rsdk_status check_library_name(check *c, uint32_t index) {
    char name[NAME_SIZE], needed[NAME_SIZE];
    RSDK_TRY(read_name(c, index, name));
    for (const ElfW(Dyn) *entry = c->image->dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_NEEDED) {
            RSDK_TRY(read_name(c, entry->d_un.d_val, needed));
            if (strcmp(name, needed) == 0) {
                return RSDK_OK;
            }
        }
    }
    bool looks_right = strncmp(name, "lib", 3) == 0 && strstr(name, ".so") != NULL;
    return looks_right ? RSDK_OK : damaged(c, "it needs versions of what is no library");
}

static rsdk_status take_version(check *c, unsigned index, uint32_t name) {
    unsigned plain = index & VERSION_INDEX_MASK;
    c->version_limit = plain > c->version_limit ? plain : c->version_limit;
    return name < c->strings_size ? RSDK_OK : damaged(c, bad_versions);
}

static rsdk_status check_version_needs(check *c) {
    ElfW(Addr) place = c->version_needs;
    ElfW(Verneed) need = {.vn_next = 0};
    unsigned count = 0;
    do {
        RSDK_TRY(read_at(c, place, &need, sizeof need, bad_versions));
        if (need.vn_version != VER_NEED_CURRENT) {
            return damaged(c, bad_versions);
        }
        RSDK_TRY(check_library_name(c, need.vn_file));
        ElfW(Addr) inner = place + need.vn_aux;
        ElfW(Vernaux) version = {.vna_next = 0};
        do {
            RSDK_TRY(read_at(c, inner, &version, sizeof version, bad_versions));
            RSDK_TRY(take_version(c, version.vna_other, version.vna_name));
            inner += version.vna_next;
        } while (version.vna_next != 0 && ++count < CHAIN_LIMIT);
        place += need.vn_next;
    } while (need.vn_next != 0 && ++count < CHAIN_LIMIT);
    return count < CHAIN_LIMIT ? RSDK_OK : damaged(c, bad_versions);
}

static rsdk_status check_version_definitions(check *c) {
    ElfW(Addr) place = c->version_definitions;
    ElfW(Verdef) definition = {.vd_next = 0};
    ElfW(Verdaux) name;
    unsigned count = 0;
    do {
        RSDK_TRY(read_at(c, place, &definition, sizeof definition, bad_versions));
        if (definition.vd_version != VER_DEF_CURRENT) {
            return damaged(c, bad_versions);
        }
        RSDK_TRY(read_at(c, place + definition.vd_aux, &name, sizeof name, bad_versions));
        RSDK_TRY(take_version(c, definition.vd_ndx, name.vda_name));
        place += definition.vd_next;
    } while (definition.vd_next != 0 && ++count < CHAIN_LIMIT);
    return count < CHAIN_LIMIT ? RSDK_OK : damaged(c, bad_versions);
}

/* Each symbol has the index of a version: the linker takes it for a place in its list of them. */
static rsdk_status check_version_symbols(check *c) {
    walk w = {.next = c->version_symbols, .left = c->symbol_count, .unit = sizeof(ElfW(Half)), .what = bad_versions};
    do {
        RSDK_TRY(next_records(c, &w));
        for (size_t i = 0; i < w.count; i++) {
            ElfW(Half) index;
            memcpy(&index, w.bytes + i * sizeof index, sizeof index);
            index &= VERSION_INDEX_MASK;
            if (index > VER_NDX_GLOBAL && index > c->version_limit) {
                return damaged(c, "a symbol has a version that is in no table");
            }
        }
    } while (w.count > 0);
    return RSDK_OK;
}

static rsdk_status check_versions(check *c) {
    if (c->version_needs != 0) {
        RSDK_TRY(check_version_needs(c));
    }
    if (c->version_definitions != 0) {
        RSDK_TRY(check_version_definitions(c));
    }
    bool has_versions = c->version_needs != 0 || c->version_definitions != 0;
    if (has_versions != (c->version_symbols != 0)) {
        return damaged(c, "it has versions without a table of those of its symbols, or this table alone");
    }
    return has_versions ? check_version_symbols(c) : RSDK_OK;
}

/* ---- symbols ---- */

static bool is_outside(check *c, const ElfW(Sym) * symbol) {
    unsigned type = ELF64_ST_TYPE(symbol->st_info); /* the same in both classes */
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE || type == STT_TLS) {
        return false;
    }
    if (type == STT_GNU_IFUNC) {
        return !is_code(c, symbol->st_value); /* the linker calls it */
    }
    return symbol->st_value != 0 && (symbol->st_value < c->span_start || symbol->st_value > c->span_end + SPAN_SLACK);
}

static rsdk_status check_symbols(check *c) {
    walk w = {.next = c->symbols,
              .left = c->symbol_count,
              .unit = sizeof(ElfW(Sym)),
              .what = "its symbol table is not where its segments say"};
    do {
        RSDK_TRY(next_records(c, &w));
        for (size_t i = 0; i < w.count; i++) {
            ElfW(Sym) symbol;
            memcpy(&symbol, w.bytes + i * sizeof symbol, sizeof symbol);
            if (symbol.st_name >= c->strings_size) {
                return damaged(c, "the name of a symbol lies outside its string table");
            }
            if (is_outside(c, &symbol)) {
                return damaged(c, "a symbol lies outside its segments");
            }
        }
    } while (w.count > 0);
    return RSDK_OK;
}

/* ---- relocations ---- */

static const char bad_relocation[] = "a relocation would write where nothing can be written";

static bool can_write(check *c, ElfW(Addr) address) {
    return segment_of(c, address, WORD_SIZE, PF_W) != NULL ||
           (c->has_text_relocations && segment_of(c, address, WORD_SIZE, 0) != NULL);
}

/* What is called, and what fills the list of constructors in, must lead to code. */
static rsdk_status check_relocation(check *c, const ElfW(Rela) * entry, bool must_be_relative) {
    const unsigned type = sizeof(void *) == 8 ? (unsigned)ELF64_R_TYPE(entry->r_info) : ELF32_R_TYPE(entry->r_info);
    const uint64_t symbol = sizeof(void *) == 8 ? ELF64_R_SYM(entry->r_info) : ELF32_R_SYM(entry->r_info);
    if (must_be_relative && type != c->types->relative) {
        return damaged(c, "its relocations are not what it counts");
    }
    if (symbol >= c->symbol_count && symbol != 0) {
        return damaged(c, "a relocation names a symbol that does not exist");
    }
    if (type != 0 && !can_write(c, entry->r_offset)) { /* 0: R_*_NONE */
        return damaged(c, bad_relocation);
    }
    if (type == c->types->copy) {
        return damaged(c, "it has a relocation that only programs have");
    }
    bool is_constructor = is_within(entry->r_offset, WORD_SIZE, c->init_array.address, c->init_array.size);
    if ((type == c->types->irelative || (type == c->types->relative && is_constructor)) &&
        !is_code(c, (ElfW(Addr))entry->r_addend)) {
        return damaged(c, "a relocation leads to a function outside its code");
    }
    return RSDK_OK;
}

static rsdk_status check_relocations(check *c, const table *t, uint64_t relative_count) {
    walk w = {
        .next = t->address, .left = t->size / sizeof(ElfW(Rela)), .unit = sizeof(ElfW(Rela)), .what = bad_relocation};
    do {
        RSDK_TRY(next_records(c, &w));
        for (size_t i = 0; i < w.count; i++) {
            ElfW(Rela) entry;
            memcpy(&entry, w.bytes + i * sizeof entry, sizeof entry);
            RSDK_TRY(check_relocation(c, &entry, relative_count > 0));
            relative_count -= relative_count > 0;
        }
    } while (w.count > 0);
    return RSDK_OK;
}

/* DT_RELR: an address, then bitmaps (odd) of the words behind it. */
static rsdk_status check_relative_words(check *c) {
    ElfW(Addr) next = 0, word;
    bool has_begun = false;
    for (uint64_t i = 0; i < c->relative_words.size / WORD_SIZE; i++) {
        RSDK_TRY(read_at(c, c->relative_words.address + i * WORD_SIZE, &word, sizeof word, bad_relocation));
        if ((word & 1) == 0) {
            if (!can_write(c, word)) {
                return damaged(c, bad_relocation);
            }
            next = word + WORD_SIZE;
            has_begun = true;
            continue;
        }
        for (unsigned bit = 0; bit < RELR_BITS; bit++) {
            if ((word >> (bit + 1) & 1) != 0 && (!has_begun || !can_write(c, next + (ElfW(Addr))bit * WORD_SIZE))) {
                return damaged(c, bad_relocation);
            }
        }
        next += (ElfW(Addr))RELR_BITS * WORD_SIZE;
    }
    return RSDK_OK;
}

static rsdk_status check_all_relocations(check *c, size_t limit) {
    uint64_t records = (c->relocations.size + c->jump_relocations.size) / sizeof(ElfW(Rela));
    if (records + c->relative_words.size / WORD_SIZE > limit) {
        return RSDK_OK;
    }
    RSDK_TRY(check_relocations(c, &c->relocations, c->relative_count));
    RSDK_TRY(check_relocations(c, &c->jump_relocations, 0));
    return check_relative_words(c);
}

static const machine_types *types_of(unsigned machine) {
    for (size_t i = 0; i < sizeof known_machines / sizeof *known_machines; i++) {
        if (known_machines[i].machine == machine) {
            return &known_machines[i];
        }
    }
    return NULL;
}

rsdk_status rsdk_elf_check(const rsdk_elf_image *image, size_t relocation_limit, rsdk_error *error) {
    check c = {.image = image, .error = error, .types = types_of(image->machine)};
    if (c.types == NULL) {
        return RSDK_OK; /* its linker may follow other rules */
    }
    c.window = rsdk_arena_alloc(image->scratch, WINDOW_SIZE, 1);
    RSDK_NEED(c.window);
    RSDK_TRY(check_segments(&c));
    RSDK_TRY(take_entries(&c));
    RSDK_TRY(check_hashes(&c));
    RSDK_TRY(check_symbols(&c));
    RSDK_TRY(check_versions(&c));
    return check_all_relocations(&c, relocation_limit);
}
