/* The search through the scopes of an object. */
#include "binding/linker_state.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_file.h"

static const ElfW(Sym) * symbol_of(const rsdk_linker_state *state, rsdk_definition definition) {
    return &rsdk_linker_state_at(state, definition.object)->symbols.symbols[definition.symbol];
}

static bool find_in(const rsdk_linker_state *state, size_t object, const rsdk_elf_wanted *wanted,
                    rsdk_definition *found) {
    const rsdk_elf_dynsym *symbols = &rsdk_linker_state_at(state, object)->symbols;
    if (!symbols->is_known || !rsdk_elf_dynsym_find(symbols, wanted, &found->symbol)) {
        return false;
    }
    found->object = object;
    return true;
}

bool rsdk_symbol_lookup_in(const rsdk_linker_state *state, const rsdk_object_list *objects,
                           const rsdk_elf_wanted *wanted, rsdk_definition *found) {
    for (size_t i = 0; i < objects->count; i++) {
        if (find_in(state, objects->items[i], wanted, found)) {
            return true;
        }
    }
    return false;
}

static bool is_unique(const ElfW(Sym) * symbol) {
    return ELF64_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE; /* the same in both classes */
}

/* Return whether a symbol is protected: its own file uses it, whatever others find. */
static bool is_protected(const ElfW(Sym) * symbol) {
    return ELF64_ST_VISIBILITY(symbol->st_other) == STV_PROTECTED;
}

/* ---- the global scope ---- */

/* Return whether dlsym may be asked for a definition: a resolver would run, thread-local data be made, a unique symbol
 * be noted; and dlsym takes default versions only. */
static bool can_be_asked(const rsdk_linker_state *state, rsdk_definition definition) {
    const ElfW(Sym) *symbol = symbol_of(state, definition);
    unsigned type = ELF64_ST_TYPE(symbol->st_info); /* the same in both classes */
    return (type == STT_FUNC || type == STT_OBJECT) && !is_unique(symbol) && symbol->st_shndx != SHN_UNDEF &&
           rsdk_elf_dynsym_is_default(&rsdk_linker_state_at(state, definition.object)->symbols, definition.symbol);
}

static uintptr_t address_of(const rsdk_linker_state *state, rsdk_definition definition) {
    return rsdk_linker_state_at(state, definition.object)->base + symbol_of(state, definition)->st_value;
}

/* Ask the linker which of two loaded objects it searches first, by a symbol that both define: the link map does not say
 * in which order objects became global. `prefers` is whether the first is `second`. False: nothing tells. */
static bool ask_order(const rsdk_linker_state *state, const char *name, size_t first, size_t second, bool *prefers) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, NULL, RSDK_ELF_REFERENCE_CALL);
    rsdk_definition of_first, of_second;
    if (!find_in(state, first, &wanted, &of_first) || !find_in(state, second, &wanted, &of_second) ||
        !can_be_asked(state, of_first) || !can_be_asked(state, of_second)) {
        return false;
    }
    uintptr_t found = (uintptr_t)dlsym(state->program, name);
    *prefers = found == address_of(state, of_second);
    return *prefers || found == address_of(state, of_first);
}

/* Return whether the linker searches `second` before `first`. Where the symbol itself may not be asked for, another one
 * tells; where none does, the order of the link map stands. */
static bool linker_prefers(const rsdk_linker_state *state, const rsdk_elf_wanted *wanted, size_t second, size_t first) {
    const rsdk_elf_dynsym *symbols = &rsdk_linker_state_at(state, first)->symbols;
    bool prefers = false;
    if (ask_order(state, wanted->name, first, second, &prefers)) {
        return prefers;
    }
    for (uint32_t i = 1; i < symbols->count; i++) {
        if (symbols->symbols[i].st_shndx != SHN_UNDEF &&
            ask_order(state, rsdk_elf_dynsym_name(symbols, i), first, second, &prefers)) {
            return prefers;
        }
    }
    return false;
}

static bool look_in_global_scope(const rsdk_linker_state *state, const rsdk_elf_wanted *wanted,
                                 rsdk_definition *found) {
    const rsdk_object_list *global = &state->global;
    rsdk_definition other;
    size_t at = 0;
    while (at < global->count && !find_in(state, global->items[at], wanted, found)) {
        at++;
    }
    if (at == global->count) {
        return false;
    }
    if (rsdk_linker_state_at(state, found->object)->is_from_the_start) {
        return true;
    }
    for (at++; at < global->count && rsdk_linker_state_at(state, global->items[at])->mapped != NULL; at++) {
        if (find_in(state, global->items[at], wanted, &other) &&
            linker_prefers(state, wanted, other.object, found->object)) {
            *found = other;
        }
    }
    return true;
}

/* ---- the scopes of an object ---- */

static bool look_in_scopes(const rsdk_linker_state *state, size_t from, const rsdk_elf_wanted *wanted,
                           rsdk_definition *found) {
    const rsdk_linker_object *object = rsdk_linker_state_at(state, from);
    const rsdk_object_list *group = &state->groups.items[object->group];
    if (object->is_deep) { /* DF_SYMBOLIC has no effect then */
        return rsdk_symbol_lookup_in(state, group, wanted, found) || look_in_global_scope(state, wanted, found);
    }
    return (object->symbols.is_symbolic && find_in(state, from, wanted, found)) ||
           look_in_global_scope(state, wanted, found) || rsdk_symbol_lookup_in(state, group, wanted, found);
}

/* ---- unique symbols ---- */

static rsdk_status note_unique(rsdk_symbol_lookup *lookup, const char *name, rsdk_definition definition,
                               rsdk_error *error) {
    size_t there = 0;
    if (rsdk_name_table_find(&lookup->uniques, name, strlen(name), &there)) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_name_table_set(&lookup->uniques, lookup->state->arena, name, strlen(name),
                                 lookup->unique_definitions.count, error));
    RSDK_APPEND(lookup->state->arena, &lookup->unique_definitions, definition, error);
    return RSDK_OK;
}

/* Find the definition of `name` in the loaded object that an address belongs to. */
static bool definition_at(const rsdk_linker_state *state, const char *name, uintptr_t address,
                          rsdk_definition *definition) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, NULL, RSDK_ELF_REFERENCE_DATA);
    for (size_t i = 0; i < state->map->objects.count; i++) {
        if (find_in(state, i, &wanted, definition) &&
            rsdk_linker_state_at(state, i)->base + symbol_of(state, *definition)->st_value == address) {
            return true;
        }
    }
    return false;
}

/* Return whether a copy relocation of the program takes a unique symbol: all files then use the program's copy. */
static bool copies_unique(const rsdk_linker_state *state, const char *name) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, NULL, RSDK_ELF_REFERENCE_COPY);
    rsdk_definition found;
    for (size_t i = 1; i < state->global.count; i++) {
        if (find_in(state, state->global.items[i], &wanted, &found)) {
            return is_unique(symbol_of(state, found));
        }
    }
    return false;
}

/* The unique symbols of the loaded objects. */
typedef struct survey {
    rsdk_name_table names;                /* names of unique symbols */
    RSDK_LIST(rsdk_definition) protected; /* their own files use them: no slot tells the others' bindings */
} survey;

/* Read the definition that the slot of a reference leads to; false: the slot tells nothing. */
static bool read_unique(rsdk_symbol_lookup *lookup, const rsdk_linker_object *object,
                        const rsdk_elf_reference *reference, const char *name, rsdk_definition *definition) {
    uintptr_t address = 0;
    return reference->holds_address &&
           rsdk_process_memory_read_word(&lookup->memory, object->base + reference->address, &address) &&
           definition_at(lookup->state, name, address - (uintptr_t)reference->addend, definition) &&
           is_unique(symbol_of(lookup->state, *definition));
}

/* Take the unique symbols that the references of a loaded object lead to. */
static rsdk_status take_uniques_of(rsdk_symbol_lookup *lookup, size_t index, survey *s, rsdk_error *error) {
    const rsdk_linker_object *object = rsdk_linker_state_at(lookup->state, index);
    rsdk_error reason = RSDK_ERROR_INIT;
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    rsdk_status status =
        rsdk_elf_file_read_with_symbols(object->file.path, true, lookup->state->arena, &file, &symbols, &reason);
    rsdk_error_clear(&reason);
    if (status != RSDK_OK) {
        return status == RSDK_NO_MEMORY ? rsdk_fail_no_memory(error) : RSDK_OK;
    }
    for (size_t i = 0; i < symbols.references.count; i++) {
        const rsdk_elf_reference *reference = &symbols.references.items[i];
        const char *name = rsdk_elf_dynsym_name(&symbols, reference->symbol);
        const rsdk_definition own = {.object = index, .symbol = reference->symbol};
        size_t there = 0;
        rsdk_definition definition = own;
        if (!rsdk_name_table_find(&s->names, name, strlen(name), &there)) {
            continue;
        }
        if (is_protected(&symbols.symbols[reference->symbol])) {
            RSDK_APPEND(lookup->state->arena, &s->protected, own, error);
        } else if ((reference->kind == RSDK_ELF_REFERENCE_COPY && copies_unique(lookup->state, name)) ||
                   read_unique(lookup, object, reference, name, &definition)) {
            RSDK_TRY(note_unique(lookup, name, definition, error));
        }
    }
    return RSDK_OK;
}

static rsdk_status take_uniques_of_objects(rsdk_symbol_lookup *lookup, rsdk_error *error) {
    const size_t count = lookup->state->map->objects.count;
    survey s = {.protected = {0}};
    for (size_t i = 0; i < count; i++) {
        const rsdk_elf_dynsym *symbols = &rsdk_linker_state_at(lookup->state, i)->symbols;
        for (uint32_t k = 0; symbols->is_known && k < symbols->count; k++) {
            const char *name = rsdk_elf_dynsym_name(symbols, k);
            if (is_unique(&symbols->symbols[k])) {
                RSDK_TRY(rsdk_name_table_set(&s.names, lookup->state->arena, name, strlen(name), k, error));
            }
        }
    }
    for (size_t i = count; s.names.count > 0 && i-- > 0;) { /* the program is relocated last */
        if (rsdk_linker_state_at(lookup->state, i)->symbols.is_known) {
            RSDK_TRY(take_uniques_of(lookup, i, &s, error));
        }
    }
    /* Take the protected definitions. A protected definition was looked for in all scopes, too, when its file was
     * relocated: in the objects that were loaded before. */
    for (size_t i = s.protected.count; i-- > 0;) { /* backwards: from the first that was loaded */
        rsdk_definition own = s.protected.items[i], found;
        const rsdk_elf_dynsym *symbols = &rsdk_linker_state_at(lookup->state, own.object)->symbols;
        const rsdk_elf_wanted wanted =
            rsdk_elf_dynsym_wanted(rsdk_elf_dynsym_name(symbols, own.symbol),
                                   rsdk_elf_dynsym_version(symbols, own.symbol), RSDK_ELF_REFERENCE_DATA);
        bool is_found =
            look_in_global_scope(lookup->state, &wanted, &found) && is_unique(symbol_of(lookup->state, found));
        RSDK_TRY(note_unique(lookup, wanted.name, is_found ? found : own, error));
    }
    return RSDK_OK;
}

/* ---- one reference ---- */

static rsdk_status look_up(rsdk_symbol_lookup *lookup, size_t object, const rsdk_elf_wanted *wanted,
                           rsdk_definition *found, rsdk_error *error) {
    if (!look_in_scopes(lookup->state, object, wanted, found)) {
        found->object = RSDK_NO_OBJECT;
        return RSDK_OK;
    }
    if (!is_unique(symbol_of(lookup->state, *found))) {
        return RSDK_OK;
    }
    /* Take a unique symbol, which belongs to the first lookup that found it, whatever scope comes later. */
    const char *name = wanted->name;
    size_t there = 0;
    if (!lookup->has_loaded_uniques) {
        /* Take the unique symbols of the loaded objects. Where the process does not let itself be read, the first
         * lookup that is followed decides. */
        lookup->has_loaded_uniques = true;
        if (rsdk_process_memory_open(getpid(), &lookup->memory, NULL) == RSDK_OK) {
            rsdk_status status = take_uniques_of_objects(lookup, error);
            rsdk_process_memory_close(&lookup->memory);
            RSDK_TRY(status);
        }
    }
    RSDK_TRY(note_unique(lookup, name, *found, error));
    (void)rsdk_name_table_find(&lookup->uniques, name, strlen(name), &there);
    *found = lookup->unique_definitions.items[there];
    return RSDK_OK;
}

rsdk_status rsdk_symbol_lookup_bind(rsdk_symbol_lookup *lookup, size_t object, uint32_t symbol,
                                    rsdk_elf_reference_kind kind, rsdk_definition *found, rsdk_error *error) {
    const rsdk_elf_dynsym *symbols = &rsdk_linker_state_at(lookup->state, object)->symbols;
    const rsdk_elf_wanted wanted =
        rsdk_elf_dynsym_wanted(rsdk_elf_dynsym_name(symbols, symbol), rsdk_elf_dynsym_version(symbols, symbol), kind);
    RSDK_TRY(look_up(lookup, object, &wanted, found, error));
    if (!is_protected(&symbols->symbols[symbol])) {
        return RSDK_OK;
    }
    /* Let an object's own protected definition answer its references, unless the program has an address for the
     * function that all must agree on. */
    rsdk_definition defined = *found;
    rsdk_elf_wanted definition = wanted;
    if (wanted.kind != RSDK_ELF_REFERENCE_CALL) {
        definition.kind = RSDK_ELF_REFERENCE_CALL;
        RSDK_TRY(look_up(lookup, object, &definition, &defined, error));
    }
    if (defined.object != RSDK_NO_OBJECT && defined.object != object) {
        *found = (rsdk_definition){.object = object, .symbol = symbol};
    }
    return RSDK_OK;
}
