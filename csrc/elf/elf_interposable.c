/* Looks through the relocations for the symbols that they name, and then through these. So each table is read once,
 * from its beginning to its end, and only the names of few symbols are. */
#include "elf/elf_interposable.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

#include "base/fail.h"

enum {
    SYMBOL_LIMIT = 1 << 20,     /* libLLVM has a hundred thousand */
    RELOCATION_LIMIT = 1 << 22, /* of those that name a symbol; large libraries have some hundred thousand */
    PREFIX_SIZE = 32,
};

typedef struct search {
    rsdk_elf_view view;
    const char *const *prefixes;
    ElfW(Addr) symbols, strings;
    uint64_t strings_size, symbol_count;
    unsigned char *is_named; /* a bit for each symbol */
    bool found;
} search;

static ElfW(Addr) value_of(const search *s, ElfW(Sxword) tag) {
    ElfW(Addr) value = 0;
    for (size_t i = 0; i < s->view.image->dynamic_count && s->view.image->dynamic[i].d_tag != DT_NULL; i++) {
        const ElfW(Dyn) *entry = &s->view.image->dynamic[i];
        value = entry->d_tag == tag ? entry->d_un.d_ptr : value;
    }
    return value;
}

/* The linker looks into such a library before all others. */
static bool looks_into_itself_first(const search *s) {
    for (size_t i = 0; i < s->view.image->dynamic_count && s->view.image->dynamic[i].d_tag != DT_NULL; i++) {
        if (s->view.image->dynamic[i].d_tag == DT_SYMBOLIC) {
            return true;
        }
    }
    return (value_of(s, DT_FLAGS) & DF_SYMBOLIC) != 0;
}

/* Marks the symbols that the relocations of a table name. */
static rsdk_status mark_named(search *s, ElfW(Addr) address, uint64_t count) {
    rsdk_elf_walk w = {.next = address,
                       .left = count < RELOCATION_LIMIT ? count : RELOCATION_LIMIT,
                       .unit = sizeof(ElfW(Rela)),
                       .what = "its relocations are not where its segments say"};
    do {
        RSDK_TRY(rsdk_elf_walk_next(&s->view, &w));
        for (size_t i = 0; i < w.count; i++) {
            ElfW(Rela) entry;
            memcpy(&entry, w.bytes + i * sizeof entry, sizeof entry);
            uint64_t symbol = sizeof(void *) == 8 ? ELF64_R_SYM(entry.r_info) : ELF32_R_SYM(entry.r_info);
            if (symbol < s->symbol_count) {
                s->is_named[symbol / CHAR_BIT] |= (unsigned char)(1U << symbol % CHAR_BIT);
            }
        }
    } while (w.count > 0);
    return RSDK_OK;
}

static rsdk_status mark_all_named(search *s) {
    const uint64_t jumps = value_of(s, DT_PLTRELSZ) / sizeof(ElfW(Rela));
    const uint64_t all = value_of(s, DT_RELASZ) / sizeof(ElfW(Rela)), relative = value_of(s, DT_RELACOUNT);
    RSDK_TRY(mark_named(s, value_of(s, DT_JMPREL), jumps));
    return relative < all ? mark_named(s, value_of(s, DT_RELA) + relative * sizeof(ElfW(Rela)), all - relative)
                          : RSDK_OK;
}

/* Whether other libraries may define it: it is neither undefined here, nor for this library alone. */
static bool is_open_to_others(const ElfW(Sym) * symbol) {
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT; /* the same in both classes */
}

static rsdk_status look_at_name(search *s, uint64_t index) {
    char name[PREFIX_SIZE] = "";
    uint64_t left = index < s->strings_size ? s->strings_size - index : 0;
    size_t size = left < sizeof name - 1 ? (size_t)left : sizeof name - 1;
    if (size == 0) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_elf_view_read(&s->view, s->strings + index, name, size, "its string table is cut off"));
    for (size_t i = 0; s->prefixes[i] != NULL; i++) {
        s->found = s->found || strncmp(name, s->prefixes[i], strlen(s->prefixes[i])) == 0;
    }
    return RSDK_OK;
}

static rsdk_status look_at_symbols(search *s) {
    rsdk_elf_walk w = {.next = s->symbols,
                       .left = s->symbol_count,
                       .unit = sizeof(ElfW(Sym)),
                       .what = "its symbol table is not where its segments say"};
    uint64_t index = 0;
    do {
        RSDK_TRY(rsdk_elf_walk_next(&s->view, &w));
        for (size_t i = 0; i < w.count && !s->found; i++, index++) {
            ElfW(Sym) symbol;
            memcpy(&symbol, w.bytes + i * sizeof symbol, sizeof symbol);
            if ((s->is_named[index / CHAR_BIT] >> index % CHAR_BIT & 1) != 0 && is_open_to_others(&symbol)) {
                RSDK_TRY(look_at_name(s, symbol.st_name));
            }
        }
    } while (w.count > 0 && !s->found);
    return RSDK_OK;
}

/* The symbols lie before the strings in all libraries that linkers write; where they do not, all of the segment may be
 * symbols. */
static uint64_t room_for_symbols(search *s) {
    uint64_t room = rsdk_elf_view_bytes_from(&s->view, s->symbols);
    if (s->strings > s->symbols && s->strings - s->symbols < room) {
        room = s->strings - s->symbols;
    }
    room /= sizeof(ElfW(Sym));
    return room < SYMBOL_LIMIT ? room : SYMBOL_LIMIT;
}

rsdk_status rsdk_elf_interposable_find(const rsdk_elf_image *image, const char *const prefixes[], bool *found,
                                       rsdk_error *error) {
    search s = {.prefixes = prefixes};
    *found = false;
    RSDK_TRY(rsdk_elf_view_init(image, &s.view, error));
    s.symbols = value_of(&s, DT_SYMTAB);
    s.strings = value_of(&s, DT_STRTAB);
    s.strings_size = value_of(&s, DT_STRSZ);
    s.symbol_count = room_for_symbols(&s);
    if (looks_into_itself_first(&s)) {
        return RSDK_OK;
    }
    s.is_named = rsdk_arena_alloc(image->scratch, (size_t)(s.symbol_count / CHAR_BIT) + 1, 1);
    RSDK_NEED(s.is_named, error);
    RSDK_TRY(mark_all_named(&s));
    RSDK_TRY(look_at_symbols(&s));
    *found = s.found;
    return RSDK_OK;
}
