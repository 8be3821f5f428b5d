/* The definition that answers a reference, in the scopes that the linker would search. Sources: glibc's
 * elf/dl-lookup.c; tests/attack/bindings.py compares with the linker itself. */
#ifndef RSDK_BINDING_SYMBOL_LOOKUP_H
#define RSDK_BINDING_SYMBOL_LOOKUP_H

#include "base/process_memory.h"
#include "binding/linker_state.h"

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

#endif
