/* All references of the libraries that openings bring in, or that a process has: bound, judged and counted. */
#include "binding/bindings.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/load_lock.h"
#include "binding/linker_state.h"

typedef struct record {
    rsdk_definition from; /* the reference: object and symbol */
    rsdk_definition to, instead;
    rsdk_elf_reference_kind kind;
    rsdk_binding_verdict verdict;
} record;

struct rsdk_bindings {
    rsdk_arena arena;
    rsdk_plan *plan;       /* owned; NULL: none */
    rsdk_link_map own_map; /* the link map without a plan, which has its own, as with the next */
    rsdk_linker_search own_search;
    rsdk_link_map *map;
    rsdk_linker_state state;
    rsdk_symbol_lookup lookup;
    rsdk_binding_judge judge;
    RSDK_LIST(record) records;
    RSDK_LIST(rsdk_binding_pair) pairs;
};

static const rsdk_linker_object *object_at(const rsdk_bindings *b, size_t index) {
    return rsdk_linker_state_at(&b->state, index);
}

/* ---- binding what openings bring in ---- */

/* Return whether a symbol is referred to for the first time as this kind; `seen` has a byte for each symbol. */
static bool is_first(unsigned char *seen, const rsdk_elf_reference *reference) {
    const unsigned kind = 1U << reference->kind;
    bool first = (seen[reference->symbol] & kind) == 0;
    seen[reference->symbol] |= (unsigned char)kind;
    return first;
}

/* Bind each symbol that an object refers to, once for each kind of reference. */
static rsdk_status bind_object(rsdk_bindings *b, size_t index, rsdk_error *error) {
    const rsdk_elf_dynsym *symbols = &object_at(b, index)->symbols;
    unsigned char *seen = rsdk_arena_alloc(&b->arena, symbols->count + 1U, 1);
    RSDK_NEED(seen, error);
    for (size_t i = 0; i < symbols->references.count; i++) {
        const rsdk_elf_reference *reference = &symbols->references.items[i];
        record bound = {.from = {index, reference->symbol}, .kind = reference->kind};
        if (is_first(seen, reference)) {
            RSDK_TRY(rsdk_symbol_lookup_bind(&b->lookup, index, reference->symbol, reference->kind, &bound.to, error));
            RSDK_APPEND(&b->arena, &b->records, bound, error);
        }
    }
    return RSDK_OK;
}

static rsdk_status follow_opening(rsdk_bindings *b, const rsdk_linker_opening *opening, rsdk_error *error) {
    rsdk_object_list fresh = {0};
    size_t root = 0;
    RSDK_TRY(rsdk_linker_state_open(&b->state, opening, &root, &fresh, error));
    for (size_t i = 0; i < fresh.count; i++) {
        RSDK_TRY(bind_object(b, fresh.items[i], error));
    }
    bool is_global = (opening->mode & RTLD_GLOBAL) != 0 || rsdk_linker_state_at(&b->state, root)->file.is_program;
    return is_global ? rsdk_linker_state_promote(&b->state, root, error) : RSDK_OK;
}

/* ---- what a process has bound ---- */

/* Judge the content of a reference's slot. False: nothing can be said. */
static bool read_slot(rsdk_bindings *b, rsdk_process_memory *memory, size_t index, const rsdk_elf_reference *reference,
                      record *bound) {
    const rsdk_linker_object *object = object_at(b, index);
    const ElfW(Sym) *symbol = &object->symbols.symbols[reference->symbol];
    uintptr_t word = 0;
    bound->verdict = RSDK_BINDING_UNKNOWN;
    bound->to.object = RSDK_NO_OBJECT;
    if (!reference->holds_address || !rsdk_process_memory_read_word(memory, object->base + reference->address, &word)) {
        return false;
    }
    uintptr_t address = word - (uintptr_t)reference->addend;
    if (address == 0) {
        return true;
    }
    bound->to.object = rsdk_link_map_find_address(b->map, address);
    bool is_chosen = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC; /* the same in both classes */
    bool is_own = symbol->st_shndx != SHN_UNDEF && address == object->base + symbol->st_value;
    if (bound->to.object == index && is_chosen) {
        bound->to.object = RSDK_NO_OBJECT; /* the chosen function, or the code that will call the linker */
        return false;
    }
    if (bound->to.object == index && reference->is_lazy_slot && !is_own) {
        bound->verdict = RSDK_BINDING_LAZY; /* the slot leads to the code that will call the linker */
        bound->to.object = RSDK_NO_OBJECT;
        return false;
    }
    return bound->to.object != RSDK_NO_OBJECT;
}

static rsdk_status read_object(rsdk_bindings *b, rsdk_process_memory *memory, size_t index, rsdk_error *error) {
    const rsdk_elf_dynsym *symbols = &object_at(b, index)->symbols;
    unsigned char *seen = rsdk_arena_alloc(&b->arena, symbols->count + 1U, 1);
    RSDK_NEED(seen, error);
    for (size_t i = 0; i < symbols->references.count; i++) {
        const rsdk_elf_reference *reference = &symbols->references.items[i];
        record bound = {.from = {index, reference->symbol}, .kind = reference->kind, .instead = {RSDK_NO_OBJECT, 0}};
        if (!is_first(seen, reference)) {
            continue;
        }
        if (read_slot(b, memory, index, reference, &bound)) {
            RSDK_TRY(rsdk_binding_judge_reference(&b->judge, index, reference->symbol, reference->kind, bound.to,
                                                  &bound.instead, &bound.verdict, error));
        }
        RSDK_APPEND(&b->arena, &b->records, bound, error);
    }
    return RSDK_OK;
}

static rsdk_status read_process(rsdk_bindings *b, pid_t pid, rsdk_process_memory *memory, rsdk_error *error) {
    const char *ld_preload = NULL;
    b->map = &b->own_map;
    RSDK_TRY(rsdk_link_map_read_process(pid, &b->arena, b->map, error));
    RSDK_TRY(rsdk_linker_state_of_process(pid, &b->arena, b->map, &b->state, error));
    RSDK_TRY(rsdk_process_memory_variable(pid, "LD_PRELOAD", &b->arena, &ld_preload, error));
    RSDK_TRY(rsdk_binding_judge_init(&b->state, ld_preload, &b->judge, error));
    for (size_t i = 0; i < b->map->objects.count; i++) {
        RSDK_TRY(read_object(b, memory, i, error));
    }
    return RSDK_OK;
}

/* ---- pairs ---- */

static void add_example(rsdk_binding_pair *pair, const char *symbol) {
    for (size_t i = 0; i < sizeof pair->examples / sizeof *pair->examples; i++) {
        if (pair->examples[i] == NULL || strcmp(pair->examples[i], symbol) == 0) {
            pair->examples[i] = symbol;
            return;
        }
    }
}

static void count_record(rsdk_binding_pair *pair, rsdk_binding_verdict verdict, const char *symbol) {
    pair->count++;
    pair->counts[verdict]++;
    bool are_findings = rsdk_binding_is_finding(verdict) && rsdk_binding_is_finding(pair->verdict);
    if (verdict > pair->verdict) {
        pair->verdict = verdict;
        memset(pair->examples, 0, are_findings ? 0 : sizeof pair->examples);
    }
    if (verdict == pair->verdict || are_findings) {
        add_example(pair, symbol);
    }
}

static int compare_pairs(const void *a, const void *b) {
    const rsdk_binding_pair *first = a, *second = b;
    if (first->verdict != second->verdict) {
        return first->verdict > second->verdict ? -1 : 1;
    }
    int order = strcmp(first->from, second->from);
    return order != 0 ? order : strcmp(first->to, second->to);
}

/* Count the pairs. References that follow each other are of one library, so a row of numbers, one for each target,
 * finds the pair. */
static rsdk_status count_pairs(rsdk_bindings *b, rsdk_error *error) {
    size_t *place = rsdk_arena_alloc(&b->arena, b->state.objects.count + 1, sizeof *place);
    size_t from = RSDK_NO_OBJECT, first = 0;
    RSDK_NEED(place, error);
    for (size_t i = 0; i < b->records.count; i++) {
        const record *bound = &b->records.items[i];
        if (bound->to.object == RSDK_NO_OBJECT) {
            continue;
        }
        if (bound->from.object != from) {
            from = bound->from.object;
            first = b->pairs.count;
        }
        size_t *at = &place[bound->to.object];
        if (*at <= first || *at > b->pairs.count) { /* places count from 1 */
            const rsdk_binding_pair pair = {.from = object_at(b, from)->path,
                                            .to = object_at(b, bound->to.object)->path};
            RSDK_APPEND(&b->arena, &b->pairs, pair, error);
            *at = b->pairs.count;
        }
        count_record(&b->pairs.items[*at - 1], bound->verdict,
                     rsdk_elf_dynsym_name(&object_at(b, from)->symbols, bound->from.symbol));
    }
    if (b->pairs.count > 0) {
        qsort(b->pairs.items, b->pairs.count, sizeof *b->pairs.items, compare_pairs);
    }
    return RSDK_OK;
}

/* ---- the whole ---- */

/* Take the linker as it is: as the plan has read it, or as it is read now. */
static rsdk_status take_linker(rsdk_bindings *b, rsdk_sdk *sdk, const rsdk_load_options *options, unsigned purpose,
                               rsdk_error *error) {
    if (options == NULL) {
        b->map = &b->own_map;
        RSDK_TRY(rsdk_link_map_read(&b->arena, b->map, error));
        RSDK_TRY(rsdk_linker_search_init(&b->arena, b->map, &b->own_search, error));
        return rsdk_linker_state_init(&b->arena, b->map, &b->own_search, NULL, &b->state, error);
    }
    rsdk_load_options as_it_is = *options;
    as_it_is.is_new_process = false;
    purpose |= RSDK_PLAN_ASKS_LINKER | RSDK_PLAN_KEEPS_SYMBOLS;
    RSDK_TRY(rsdk_plan_make(sdk, &as_it_is, purpose, &b->plan, error));
    b->map = &b->plan->map;
    return rsdk_linker_state_init(&b->arena, b->map, &b->plan->search, &b->plan->inventory, &b->state, error);
}

static rsdk_status foresee(rsdk_bindings *b, const rsdk_load_options *options, const rsdk_opening *openings,
                           size_t opening_count, rsdk_error *error) {
    b->lookup.state = &b->state;
    for (size_t i = 0; b->plan != NULL && i < b->plan->steps.count; i++) {
        const rsdk_planned_step *step = &b->plan->steps.items[i];
        const int mode = rsdk_planned_step_mode(step);
        const rsdk_linker_opening library = {.path = step->view.location.path, .mode = mode};
        const rsdk_linker_opening anchor = {.needed = &step->anchor_names, .mode = mode};
        if (step->view.method == RSDK_STEP_ANCHOR) {
            RSDK_TRY(follow_opening(b, &anchor, error));
        }
        RSDK_TRY(follow_opening(b, &library, error));
    }
    for (size_t i = 0; i < opening_count; i++) {
        const rsdk_linker_opening opening = {.path = rsdk_arena_copy(&b->arena, openings[i].path),
                                             .mode = openings[i].mode};
        RSDK_NEED(opening.path, error);
        RSDK_TRY(follow_opening(b, &opening, error));
    }
    RSDK_TRY(rsdk_binding_judge_init(&b->state, options != NULL ? options->ld_preload : NULL, &b->judge, error));
    for (size_t i = 0; i < b->records.count; i++) {
        record *bound = &b->records.items[i];
        RSDK_TRY(rsdk_binding_judge_reference(&b->judge, bound->from.object, bound->from.symbol, bound->kind, bound->to,
                                              &bound->instead, &bound->verdict, error));
    }
    return count_pairs(b, error);
}

/* Hand the result over, or free the part that is there. */
static rsdk_status give(rsdk_bindings *fresh, rsdk_status status, rsdk_bindings **bindings) {
    if (status == RSDK_OK) {
        *bindings = fresh;
    } else {
        rsdk_bindings_free(fresh);
    }
    return status;
}

rsdk_status rsdk_bindings_make(rsdk_sdk *sdk, const rsdk_load_options *options, unsigned purpose,
                               const rsdk_opening *openings, size_t opening_count, rsdk_bindings **bindings,
                               rsdk_error *error) {
    *bindings = NULL;
    rsdk_bindings *fresh = calloc(1, sizeof *fresh);
    RSDK_NEED(fresh, error);
    rsdk_load_lock_take();
    rsdk_status status = take_linker(fresh, sdk, options, purpose, error);
    status = status == RSDK_OK ? foresee(fresh, options, openings, opening_count, error) : status;
    rsdk_load_lock_release();
    return give(fresh, status, bindings);
}

rsdk_status rsdk_bindings_read(rsdk_sdk *sdk, const rsdk_load_options *plan, const rsdk_opening *openings,
                               size_t opening_count, rsdk_bindings **bindings, rsdk_error *error) {
    return rsdk_bindings_make(sdk, plan, 0, openings, opening_count, bindings, error);
}

const rsdk_plan *rsdk_bindings_plan(const rsdk_bindings *bindings) {
    return bindings->plan;
}

static rsdk_status of_process(rsdk_bindings *b, pid_t pid, rsdk_error *error) {
    rsdk_process_memory memory;
    RSDK_TRY(rsdk_process_memory_open(pid, &memory, error));
    rsdk_status status = read_process(b, pid, &memory, error);
    rsdk_process_memory_close(&memory);
    return status == RSDK_OK ? count_pairs(b, error) : status;
}

rsdk_status rsdk_bindings_read_process(pid_t pid, rsdk_bindings **bindings, rsdk_error *error) {
    *bindings = NULL;
    rsdk_bindings *fresh = calloc(1, sizeof *fresh);
    RSDK_NEED(fresh, error);
    return give(fresh, of_process(fresh, pid != 0 ? pid : getpid(), error), bindings);
}

void rsdk_bindings_free(rsdk_bindings *bindings) {
    if (bindings != NULL) {
        rsdk_linker_state_clear(&bindings->state);
        rsdk_plan_free(bindings->plan);
        rsdk_arena_clear(&bindings->arena);
        free(bindings);
    }
}

size_t rsdk_bindings_count(const rsdk_bindings *bindings) {
    return bindings->records.count;
}

static const char *path_of(const rsdk_bindings *b, rsdk_definition definition) {
    return definition.object != RSDK_NO_OBJECT ? object_at(b, definition.object)->path : NULL;
}

rsdk_binding rsdk_bindings_at(const rsdk_bindings *bindings, size_t index) {
    const record *bound = &bindings->records.items[index];
    const rsdk_elf_dynsym *symbols = &object_at(bindings, bound->from.object)->symbols;
    const rsdk_elf_version *version = rsdk_elf_dynsym_version(symbols, bound->from.symbol);
    return (rsdk_binding){.from = path_of(bindings, bound->from),
                          .symbol = rsdk_elf_dynsym_name(symbols, bound->from.symbol),
                          .version = version != NULL ? version->name : NULL,
                          .to = path_of(bindings, bound->to),
                          .instead =
                              rsdk_binding_is_elsewhere(bound->verdict) ? path_of(bindings, bound->instead) : NULL,
                          .verdict = bound->verdict};
}

size_t rsdk_bindings_pair_count(const rsdk_bindings *bindings) {
    return bindings->pairs.count;
}

const rsdk_binding_pair *rsdk_bindings_pair(const rsdk_bindings *bindings, size_t index) {
    return index < bindings->pairs.count ? &bindings->pairs.items[index] : NULL;
}

size_t rsdk_bindings_missing_count(const rsdk_bindings *bindings) {
    return bindings->state.missing.count;
}

const char *rsdk_bindings_missing(const rsdk_bindings *bindings, size_t index) {
    return index < bindings->state.missing.count ? bindings->state.missing.items[index] : NULL;
}
