/* The steps of dlopen, followed: files to objects, objects to groups, groups to scopes. */
#include "binding/linker_state.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/path.h"
#include "loader/memory_object.h"

enum { OBJECT_LIMIT = 10000 }; /* no process has as many */

static const rsdk_strings *needed_of(const rsdk_linker_object *object) {
    return object->needed != NULL ? object->needed : &object->file.needed;
}

/* ---- objects ---- */

static rsdk_status add_name(rsdk_linker_state *state, const char *name, size_t object, rsdk_error *error) {
    size_t there = 0;
    if (name == NULL || rsdk_name_table_find(&state->names, name, strlen(name), &there)) {
        return RSDK_OK; /* the linker takes the first that has it */
    }
    return rsdk_name_table_set(&state->names, state->arena, name, strlen(name), object, error);
}

static rsdk_status add_object(rsdk_linker_state *state, rsdk_linker_object *object, size_t *index, rsdk_error *error) {
    if (state->objects.count >= OBJECT_LIMIT) {
        return rsdk_fail(error, RSDK_BAD_ELF, object->path, "%s: needs more than %d libraries", object->path,
                         OBJECT_LIMIT);
    }
    *index = state->objects.count;
    object->group = RSDK_NO_GROUP;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(state->arena, &state->objects, object, error);
    RSDK_TRY(add_name(state, object->path, *index, error));
    return add_name(state, object->file.soname, *index, error);
}

static rsdk_status identify(rsdk_linker_state *state, const rsdk_linker_object *object, size_t index,
                            rsdk_error *error) {
    return rsdk_name_table_set(&state->identities, state->arena, &object->file.identity, sizeof object->file.identity,
                               index, error);
}

/* Read a file. A file that the inventory has read is not opened again. */
static rsdk_status read_file(const rsdk_linker_state *state, const char *path, bool wants_references,
                             rsdk_linker_object *object, rsdk_error *error) {
    const rsdk_elf_file *file = NULL;
    const rsdk_elf_dynsym *symbols =
        state->inventory != NULL ? rsdk_inventory_symbols(state->inventory, path, &file) : NULL;
    if (symbols == NULL) {
        return rsdk_elf_file_read_with_symbols(path, wants_references, state->arena, &object->file, &object->symbols,
                                               error);
    }
    object->file = *file;
    object->symbols = *symbols;
    return RSDK_OK;
}

/* Add an object of a process. An object whose file cannot be read (the kernel's, memory, a deleted file) has no
 * symbols. */
static rsdk_status add_mapped(rsdk_linker_state *state, pid_t pid, const rsdk_mapped_object *mapped,
                              rsdk_error *error) {
    rsdk_error reason = RSDK_ERROR_INIT;
    const char *file_path = NULL;
    size_t index = 0;
    bool wants_references = state->wants_references || state->objects.count == 0; /* the program's copy relocations */
    rsdk_linker_object *object = rsdk_arena_alloc(state->arena, 1, sizeof *object);
    RSDK_NEED(object, error);
    object->mapped = mapped;
    /* Another process may see another root. */
    const char *path = mapped->path;
    file_path = path[0] == '\0' ? "/proc/self/exe" : path;
    if (pid != 0) {
        file_path = rsdk_arena_format(state->arena, "/proc/%ld/root%s", (long)pid, path);
        RSDK_NEED(file_path, error);
    }
    object->path = mapped->path;
    if (mapped->path[0] == '\0') {
        char text[PATH_MAX];
        ssize_t length = readlink("/proc/self/exe", text, sizeof text);
        object->path = rsdk_arena_copy_bytes(state->arena, text, length > 0 ? (size_t)length : 0);
        RSDK_NEED(object->path, error);
    }
    rsdk_status status = rsdk_memory_object_has_path(mapped->path)
                             ? RSDK_FILE_NOT_FOUND
                             : read_file(state, file_path, wants_references, object, &reason);
    rsdk_error_clear(&reason);
    if (status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(error);
    }
    if (status != RSDK_OK) {
        object->file = (rsdk_elf_file){.path = object->path, .soname = mapped->soname};
        object->symbols = (rsdk_elf_dynsym){.is_known = false};
    }
    const uintptr_t first = object->symbols.start; /* of a file that is mapped by whole pages */
    object->base = object->mapped->start - (first - first % (uintptr_t)sysconf(_SC_PAGESIZE));
    RSDK_TRY(add_object(state, object, &index, error));
    return status == RSDK_OK ? identify(state, object, index, error) : RSDK_OK;
}

/* Take the file at a path: an object that is there under another name, or a new object that `from` (RSDK_NO_OBJECT:
 * nobody) brings in. */
static rsdk_status take_file(rsdk_linker_state *state, const char *path, size_t from, size_t *index,
                             rsdk_error *error) {
    rsdk_linker_object *object = rsdk_arena_alloc(state->arena, 1, sizeof *object);
    RSDK_NEED(object, error);
    object->path = path;
    RSDK_TRY(read_file(state, path, true, object, error));
    if (rsdk_name_table_find(&state->identities, &object->file.identity, sizeof object->file.identity, index)) {
        return add_name(state, path, *index, error);
    }
    RSDK_TRY(rsdk_linker_search_start_chain(state->search, &object->file, &object->chain, error));
    rsdk_load_chain_attach(&object->chain, from != RSDK_NO_OBJECT ? &rsdk_linker_state_at(state, from)->chain : NULL);
    RSDK_TRY(add_object(state, object, index, error));
    return identify(state, object, *index, error);
}

/* Find where a needed name leads; RSDK_NO_OBJECT: nowhere. */
static rsdk_status resolve(rsdk_linker_state *state, size_t from, const char *name, size_t *index, rsdk_error *error) {
    const rsdk_linker_object *object = rsdk_linker_state_at(state, from);
    const char *path = NULL;
    *index = RSDK_NO_OBJECT;
    if (strchr(name, '/') != NULL) {
        RSDK_TRY(rsdk_linker_search_fill_in(state->arena, name, object->path, &path, error));
        name = path != NULL ? path : name;
    }
    if (rsdk_name_table_find(&state->names, name, strlen(name), index) || object->mapped != NULL) {
        return RSDK_OK; /* the needs of a loaded object are loaded */
    }
    if (path == NULL) {
        RSDK_TRY(rsdk_linker_search_find(state->search, &object->chain, name, &path, error));
    } else if (!rsdk_directory_holds(rsdk_path_parent(state->arena, path), rsdk_path_name(path))) {
        path = NULL;
    }
    if (path == NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(take_file(state, path, from, index, error));
    return add_name(state, name, *index, error);
}

/* ---- groups ---- */

typedef struct group_entry {
    size_t object;
    bool is_done;
} group_entry;

/* A group that is being gathered. */
typedef struct gathering {
    rsdk_linker_state *state;
    RSDK_LIST(group_entry) entries;
    size_t at; /* the entry whose object is looked at */
    uint64_t walk;
    rsdk_error *error;
} gathering;

static size_t place_of(const gathering *g, size_t object) {
    size_t place = 0;
    while (place < g->entries.count && g->entries.items[place].object != object) {
        place++;
    }
    return place;
}

/* Append an object unless it is there. */
static rsdk_status append(gathering *g, size_t object) {
    if (rsdk_linker_state_at(g->state, object)->mark == g->walk) {
        return RSDK_OK;
    }
    rsdk_linker_state_at(g->state, object)->mark = g->walk;
    RSDK_APPEND(g->state->arena, &g->entries, ((group_entry){.object = object}), g->error);
    return RSDK_OK;
}

/* Insert a filtee before the object that names it, which is at `own`: from behind it, or new. A library may name
 * itself, and two may name each other: entries that are done stay where they are. */
static rsdk_status insert_filtee(gathering *g, size_t filtee, size_t *own) {
    bool is_new = rsdk_linker_state_at(g->state, filtee)->mark != g->walk;
    size_t from = is_new ? g->entries.count : place_of(g, filtee);
    if (from <= *own) {
        return RSDK_OK;
    }
    if (is_new) {
        RSDK_TRY(append(g, filtee));
    }
    group_entry *entries = g->entries.items, moved = entries[from];
    memmove(&entries[*own + 1], &entries[*own], (from - *own) * sizeof *entries);
    entries[*own] = moved;
    (*own)++;
    return RSDK_OK;
}

static rsdk_status note_missing(rsdk_linker_state *state, const char *name, rsdk_error *error) {
    for (size_t i = 0; i < state->missing.count; i++) {
        if (strcmp(state->missing.items[i], name) == 0) {
            return RSDK_OK;
        }
    }
    RSDK_APPEND(state->arena, &state->missing, name, error);
    return RSDK_OK;
}

/* Look where the names of an object lead, once. */
static rsdk_status find_dependencies(rsdk_linker_state *state, size_t from, rsdk_error *error) {
    rsdk_linker_object *object = rsdk_linker_state_at(state, from);
    const rsdk_strings *needed = needed_of(object);
    size_t index = 0;
    if (object->has_dependencies) {
        return RSDK_OK;
    }
    object->has_dependencies = true;
    for (size_t i = 0; i < object->file.filtees.count; i++) {
        const rsdk_elf_filtee *filtee = &object->file.filtees.items[i];
        RSDK_TRY(resolve(state, from, filtee->name, &index, error));
        RSDK_APPEND(state->arena, &object->dependencies, index, error);
        if (index == RSDK_NO_OBJECT && !filtee->is_optional) {
            RSDK_TRY(note_missing(state, filtee->name, error));
        }
    }
    for (size_t i = 0; i < needed->count; i++) {
        RSDK_TRY(resolve(state, from, needed->items[i], &index, error));
        RSDK_APPEND(state->arena, &object->dependencies, index, error);
        if (index == RSDK_NO_OBJECT && object->mapped == NULL) {
            RSDK_TRY(note_missing(state, needed->items[i], error));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_linker_state_closure(rsdk_linker_state *state, size_t root, rsdk_object_list *closure,
                                      rsdk_error *error) {
    gathering g = {.state = state, .walk = ++state->walk_count, .error = error};
    RSDK_TRY(append(&g, root));
    while (g.at < g.entries.count) {
        if (g.entries.items[g.at].is_done) {
            g.at++;
        } else {
            size_t own = g.at, object = g.entries.items[own].object;
            g.entries.items[own].is_done = true;
            RSDK_TRY(find_dependencies(g.state, object, g.error));
            const rsdk_linker_object *facts = rsdk_linker_state_at(g.state, object);
            for (size_t i = 0; i < facts->dependencies.count; i++) {
                size_t target = facts->dependencies.items[i];
                if (target == RSDK_NO_OBJECT) {
                    continue;
                }
                RSDK_TRY(i < facts->file.filtees.count ? insert_filtee(&g, target, &own) : append(&g, target));
            }
        }
    }
    for (size_t i = 0; i < g.entries.count; i++) {
        RSDK_APPEND(state->arena, closure, g.entries.items[i].object, error);
    }
    return RSDK_OK;
}

/* ---- the order of relocation ---- */

/* Depth first, with a stack of its own: the input decides how deep it goes. */
typedef struct ordering {
    const rsdk_linker_state *state;
    size_t *stack, *next, *ordered;
    size_t depth, count;
    uint64_t walk;
} ordering;

static void enter(ordering *o, size_t object) {
    rsdk_linker_object *facts = rsdk_linker_state_at(o->state, object);
    if (facts->mark != o->walk) {
        facts->mark = o->walk;
        o->stack[o->depth] = object;
        o->next[o->depth++] = 0;
    }
}

/* Visit an object: `ordered` gets dependencies before dependents, except in cycles. */
static void visit(ordering *o, size_t object) {
    enter(o, object);
    while (o->depth > 0) {
        const rsdk_linker_object *facts = rsdk_linker_state_at(o->state, o->stack[o->depth - 1]);
        size_t *next = &o->next[o->depth - 1];
        if (*next == facts->dependencies.count) {
            o->ordered[o->count++] = o->stack[--o->depth];
        } else {
            size_t target = facts->dependencies.items[(*next)++];
            if (target != RSDK_NO_OBJECT) {
                enter(o, target);
            }
        }
    }
}

/* ---- openings ---- */

static rsdk_status take_root(rsdk_linker_state *state, const rsdk_linker_opening *opening, size_t *root,
                             rsdk_error *error) {
    if (opening->path != NULL) {
        return rsdk_name_table_find(&state->names, opening->path, strlen(opening->path), root)
                   ? RSDK_OK
                   : take_file(state, opening->path, RSDK_NO_OBJECT, root, error);
    }
    rsdk_linker_object *anchor = rsdk_arena_alloc(state->arena, 1, sizeof *anchor);
    RSDK_NEED(anchor, error);
    anchor->path = anchor->file.path = "anchor";
    anchor->needed = opening->needed;
    return add_object(state, anchor, root, error);
}

rsdk_status rsdk_linker_state_open(rsdk_linker_state *state, const rsdk_linker_opening *opening, size_t *root,
                                   rsdk_object_list *fresh, rsdk_error *error) {
    rsdk_object_list group = {0};
    RSDK_TRY(take_root(state, opening, root, error));
    RSDK_TRY(rsdk_linker_state_closure(state, *root, &group, error));
    size_t number = state->groups.count;
    for (size_t i = 0; i < group.count; i++) {
        rsdk_linker_object *object = rsdk_linker_state_at(state, group.items[i]);
        if (object->mapped == NULL && object->group == RSDK_NO_GROUP) {
            object->group = number;
            object->is_deep = (opening->mode & RTLD_DEEPBIND) != 0;
        }
    }
    RSDK_APPEND(state->arena, &state->groups, group, error);
    /* The new objects of the group, in the order of relocation: dependencies first (glibc 2.35 and later). */
    size_t *places = rsdk_arena_alloc(state->arena, 3 * (state->objects.count + 1), sizeof *places);
    RSDK_NEED(places, error);
    ordering o = {.state = state,
                  .stack = places,
                  .next = places + state->objects.count + 1,
                  .ordered = places + 2 * (state->objects.count + 1),
                  .walk = ++state->walk_count};
    for (size_t i = group.count; i-- > 0;) {
        visit(&o, group.items[i]);
    }
    for (size_t i = 0; i < o.count; i++) {
        if (rsdk_linker_state_at(state, o.ordered[i])->group == number) {
            RSDK_APPEND(state->arena, fresh, o.ordered[i], error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_linker_state_promote(rsdk_linker_state *state, size_t root, rsdk_error *error) {
    rsdk_object_list group = {0};
    RSDK_TRY(rsdk_linker_state_closure(state, root, &group, error));
    for (size_t i = 0; i < group.count; i++) {
        rsdk_linker_object *object = rsdk_linker_state_at(state, group.items[i]);
        if (!object->is_global) {
            object->is_global = true;
            RSDK_APPEND(state->arena, &state->global, group.items[i], error);
        }
    }
    return RSDK_OK;
}

/* ---- what is loaded ---- */

/* Return the address of a symbol that can be asked for without running code; NULL: this symbol cannot. */
static const void *plain_address(const rsdk_linker_object *object, uint32_t index) {
    const ElfW(Sym) *symbol = &object->symbols.symbols[index];
    unsigned type = ELF64_ST_TYPE(symbol->st_info), binding = ELF64_ST_BIND(symbol->st_info);
    bool is_plain = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
                    (type == STT_FUNC || type == STT_OBJECT) && (binding == STB_GLOBAL || binding == STB_WEAK) &&
                    ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT;
    return is_plain ? (const void *)(object->base + symbol->st_value) : NULL;
}

/* Return whether the linker has the object in the global scope: the linker finds a symbol of the object there. A symbol
 * that an earlier object has too says nothing, so the next one is asked. */
static bool linker_has_in_global_scope(const rsdk_linker_state *state, const rsdk_linker_object *object) {
    for (uint32_t i = 1; object->symbols.is_known && i < object->symbols.count; i++) {
        const void *own = plain_address(object, i);
        const void *found = own != NULL ? dlsym(state->program, rsdk_elf_dynsym_name(&object->symbols, i)) : NULL;
        if (own != NULL && (found == NULL || found == own)) {
            return found == own;
        }
    }
    return false;
}

rsdk_status rsdk_linker_state_init(rsdk_arena *arena, const rsdk_link_map *map, rsdk_linker_search *search,
                                   const rsdk_inventory *inventory, rsdk_linker_state *state, rsdk_error *error) {
    *state = (rsdk_linker_state){.arena = arena, .map = map, .search = search, .inventory = inventory};
    state->program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < map->objects.count; i++) {
        RSDK_TRY(add_mapped(state, 0, &map->objects.items[i], error));
    }
    /* Mark the objects that were there before any dlopen: the first objects of the link map, up to the last one that
     * the program needs. Their order in the global scope is the order of the link map, unless a filter made the linker
     * move one. */
    rsdk_object_list closure = {0};
    size_t last = 0;
    bool has_filters = false;
    if (state->objects.count != 0) {
        RSDK_TRY(rsdk_linker_state_closure(state, 0, &closure, error));
        for (size_t i = 0; i < closure.count; i++) {
            last = closure.items[i] > last ? closure.items[i] : last;
        }
        for (size_t i = 0; i < state->objects.count; i++) {
            has_filters |= rsdk_linker_state_at(state, i)->file.filtees.count > 0;
        }
        for (size_t i = 0; i <= last; i++) {
            rsdk_linker_object *object = rsdk_linker_state_at(state, i);
            object->is_global = i == 0 || object->path[0] == '/';
            object->is_from_the_start = object->is_global && !has_filters;
        }
    }
    for (size_t i = 0; i < state->objects.count; i++) {
        rsdk_linker_object *object = rsdk_linker_state_at(state, i);
        object->is_global = object->is_global || linker_has_in_global_scope(state, object);
        if (object->is_global) {
            RSDK_APPEND(state->arena, &state->global, i, error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_linker_state_of_process(pid_t pid, rsdk_arena *arena, const rsdk_link_map *map,
                                         rsdk_linker_state *state, rsdk_error *error) {
    *state = (rsdk_linker_state){.arena = arena, .map = map, .wants_references = true};
    for (size_t i = 0; i < map->objects.count; i++) {
        RSDK_TRY(add_mapped(state, pid, &map->objects.items[i], error));
    }
    return RSDK_OK;
}

void rsdk_linker_state_clear(rsdk_linker_state *state) {
    if (state->program != NULL) {
        (void)dlclose(state->program);
        state->program = NULL;
    }
}
