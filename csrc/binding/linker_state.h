/* The dynamic linker's objects and scopes: as they are in this process, and as openings change them. Nothing is loaded:
 * files are read, and the linker's steps with them are followed. Sources: dlopen(3), glibc's elf/dl-open.c, dl-deps.c,
 * dl-object.c and dl-sort-maps.c; tests/attack/binding.py compares with the linker itself. */
#ifndef RSDK_BINDING_LINKER_STATE_H
#define RSDK_BINDING_LINKER_STATE_H

#include "base/process_memory.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "loader/link_map.h"
#include "loader/linker_search.h"
#include "rocm_sdk/bindings.h"
#include "sdk/inventory.h"

typedef RSDK_LIST(size_t) rsdk_object_list;

typedef struct rsdk_linker_object {
    const char *path;
    uintptr_t base; /* the beginning of the addresses of an object in a process */
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    const rsdk_mapped_object *mapped; /* NULL: it comes with an opening */
    const rsdk_strings *needed;       /* an anchor's; NULL: the file's */
    rsdk_load_chain chain;
    rsdk_object_list dependencies; /* DT_NEEDED, DT_FILTER and DT_AUXILIARY entries: where they lead; complete once the
                                      object was in a group */
    bool has_dependencies;
    size_t group;           /* the opening that brought it in: its local scope */
    bool is_deep;           /* RTLD_DEEPBIND: the local scope comes first */
    bool is_global;         /* in the global scope */
    bool is_from_the_start; /* the program, LD_PRELOAD, their needs: its place in the global scope is known */
    uint64_t mark;          /* the last walk that visited it */
} rsdk_linker_object;

typedef struct rsdk_linker_state {
    rsdk_arena *arena;
    const rsdk_link_map *map;
    rsdk_linker_search *search;
    const rsdk_inventory *inventory;         /* has files that were read; NULL: none */
    RSDK_LIST(rsdk_linker_object *) objects; /* loaded ones first, in the order of the link map */
    rsdk_object_list global;                 /* the global scope */
    RSDK_LIST(rsdk_object_list) groups;      /* the objects of each opening, breadth first */
    rsdk_name_table names, identities;
    rsdk_strings missing;  /* names that openings need and nobody has */
    bool wants_references; /* the references of loaded objects are read, too */
    uint64_t walk_count;
    void *program; /* a handle of the global scope, to ask the linker */
} rsdk_linker_state;

#define RSDK_NO_GROUP ((size_t)-1)

/* Take in the objects of another process, with the references of all objects: `map` is rsdk_link_map_read_process's.
 * Nothing can be opened. */
rsdk_status rsdk_linker_state_of_process(pid_t pid, rsdk_arena *arena, const rsdk_link_map *map,
                                         rsdk_linker_state *state, rsdk_error *error);

/* Take in the objects of this process. `map`, `search` and `inventory`, from which files come that it has read with
 * their symbols (NULL: none), are borrowed. The handle is given back by _clear. */
rsdk_status rsdk_linker_state_init(rsdk_arena *arena, const rsdk_link_map *map, rsdk_linker_search *search,
                                   const rsdk_inventory *inventory, rsdk_linker_state *state, rsdk_error *error);
void rsdk_linker_state_clear(rsdk_linker_state *state);

static inline rsdk_linker_object *rsdk_linker_state_at(const rsdk_linker_state *state, size_t index) {
    return state->objects.items[index];
}

/* An opening by one dlopen. */
typedef struct rsdk_linker_opening {
    const char *path;           /* NULL: an anchor */
    const rsdk_strings *needed; /* the needs of an anchor */
    int mode;                   /* RTLD_GLOBAL, RTLD_DEEPBIND; the rest is RTLD_NOW */
} rsdk_linker_opening;

/* Open a file: `fresh` becomes its new objects in the order in which the linker relocates them. The new objects are in
 * no global scope yet: rsdk_linker_state_promote comes after their constructors. *root is the object that was
 * opened. */
rsdk_status rsdk_linker_state_open(rsdk_linker_state *state, const rsdk_linker_opening *opening, size_t *root,
                                   rsdk_object_list *fresh, rsdk_error *error);

/* Add an object and all its needs to the global scope, as RTLD_GLOBAL does. */
rsdk_status rsdk_linker_state_promote(rsdk_linker_state *state, size_t root, rsdk_error *error);

/* Return an object and all its needs, breadth first, as the linker searches them. */
rsdk_status rsdk_linker_state_closure(rsdk_linker_state *state, size_t root, rsdk_object_list *closure,
                                      rsdk_error *error);

/* The definition that answers a reference, in the scopes that the linker would search. Sources: glibc's
 * elf/dl-lookup.c; tests/attack/binding.py compares with the linker itself. */

/* A definition; object RSDK_NO_OBJECT: there is none. */
typedef struct rsdk_definition {
    size_t object;
    uint32_t symbol;
} rsdk_definition;

typedef struct rsdk_symbol_lookup {
    rsdk_linker_state *state; /* borrowed */
    rsdk_name_table uniques;  /* names of STB_GNU_UNIQUE symbols: their first definition, for the whole process */
    RSDK_LIST(rsdk_definition) unique_definitions;
    bool has_loaded_uniques;
    rsdk_process_memory memory; /* the memory of this process, while the loaded objects are read */
} rsdk_symbol_lookup;

/* Find the definition that the reference `symbol` of an object, asked for as `kind`, binds to. The object is of an
 * opening. */
rsdk_status rsdk_symbol_lookup_bind(rsdk_symbol_lookup *lookup, size_t object, uint32_t symbol,
                                    rsdk_elf_reference_kind kind, rsdk_definition *found, rsdk_error *error);

/* Find the first definition in a list of objects; false: none. */
bool rsdk_symbol_lookup_in(const rsdk_linker_state *state, const rsdk_object_list *objects,
                           const rsdk_elf_wanted *wanted, rsdk_definition *found);

/* The meaning of a reference that binds to one file and not to another. */

typedef struct rsdk_binding_judge {
    rsdk_linker_state *state;   /* borrowed */
    rsdk_object_list *closures; /* the closure of each object, gathered when first asked for */
    const char *ld_preload;     /* the value of LD_PRELOAD; NULL: not set */
} rsdk_binding_judge;

rsdk_status rsdk_binding_judge_init(rsdk_linker_state *state, const char *ld_preload, rsdk_binding_judge *judge,
                                    rsdk_error *error);

/* Judge the reference `symbol` of the object `from`, which binds to `to` (object RSDK_NO_OBJECT: to nothing). Where the
 * reference binds elsewhere, `instead` is the definition that the library alone would have bound to. */
rsdk_status rsdk_binding_judge_reference(rsdk_binding_judge *judge, size_t from, uint32_t symbol,
                                         rsdk_elf_reference_kind kind, rsdk_definition to, rsdk_definition *instead,
                                         rsdk_binding_verdict *verdict, rsdk_error *error);

#endif
