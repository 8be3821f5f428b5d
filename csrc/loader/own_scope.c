/* The scope that RTLD_DEEPBIND puts before the global one: a library, and what it needs, breadth first. RTLD_DEEPBIND
 * changes each import that another file answers there than in the global scope: an object of libstdc++ of which the
 * program has a copy, a function that a preloaded file has taken over. */
#include "loader/guard.h"

#include <string.h>

typedef struct own_scope {
    rsdk_inventory inventory;
    rsdk_graph graph; /* its nodes are in the order of the scope */
} own_scope;

static const rsdk_elf_dynsym *symbols_of(const own_scope *s, const rsdk_node *node) {
    const rsdk_elf_file *file = NULL;
    return rsdk_inventory_symbols(&s->inventory, node->location.path, &file);
}

/* Find the file of the scope that answers for a symbol, and its definition; NULL: none. */
static const rsdk_node *find_own(const own_scope *s, const rsdk_elf_wanted *wanted, const ElfW(Sym) * *definition) {
    for (size_t i = 0; i < s->graph.nodes.count; i++) {
        uint32_t index = 0;
        const rsdk_elf_dynsym *symbols = symbols_of(s, s->graph.nodes.items[i]);
        if (symbols != NULL && symbols->is_known && rsdk_elf_dynsym_find(symbols, wanted, &index)) {
            *definition = &symbols->symbols[index];
            return s->graph.nodes.items[i];
        }
    }
    return NULL;
}

/* Return whether two definitions are pointers to the same thing: a copy of stderr in the program that nobody has set to
 * another file. */
static bool are_same_pointer(rsdk_global_definition one, rsdk_global_definition other) {
    return one.file != NULL && one.size == sizeof(void *) && other.size == one.size &&
           *(void *const *)one.address != NULL && memcmp(one.address, other.address, one.size) == 0;
}

/* Return the file whose definition of a symbol a file of the scope would no longer use; NULL: none. A template or an
 * inline function that the file has, too, is the same everywhere, and STB_GNU_UNIQUE stays one in any scope.
 * Definitions of `definer` that the library has, too, are the reason to bind it to itself. ELF64_ST_BIND is right in
 * both classes. */
static const char *passed_by(const own_scope *s, const rsdk_elf_dynsym *symbols, uint32_t index, const char *definer) {
    const ElfW(Sym) *symbol = &symbols->symbols[index], *own = NULL;
    const char *name = rsdk_elf_dynsym_name(symbols, index);
    const rsdk_elf_wanted wanted =
        rsdk_elf_dynsym_wanted(name, rsdk_elf_dynsym_version(symbols, index), RSDK_ELF_REFERENCE_CALL);
    const bool is_inline = symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
    const rsdk_node *holder = is_inline ? NULL : find_own(s, &wanted, &own);
    if (holder == NULL || ELF64_ST_BIND(own->st_info) == STB_GNU_UNIQUE) {
        return NULL;
    }
    const rsdk_global_definition global = rsdk_global_scope_find(name);
    const char *file = holder->mapped != NULL ? holder->mapped->path : definer;
    if (global.file == NULL || strcmp(global.file, file) == 0) {
        return NULL;
    }
    const bool is_pointer = holder->mapped != NULL && ELF64_ST_TYPE(own->st_info) == STT_OBJECT;
    return is_pointer && are_same_pointer(rsdk_global_scope_find_in(file, name), global) ? NULL : global.file;
}

rsdk_status rsdk_guard_find_passed_by(const rsdk_graph *graph, const rsdk_location *library,
                                      const rsdk_interposition *row, const char *definer, rsdk_passed_by *found,
                                      rsdk_error *error) {
    const char *linker = rsdk_global_scope_find("dlinfo").file; /* which sanitizers leave as it is */
    *found = (rsdk_passed_by){"dlopen", rsdk_global_scope_find("dlopen").file};
    if (found->file != NULL && linker != NULL && strcmp(found->file, linker) != 0) {
        return RSDK_OK;
    }
    size_t root = 0;
    own_scope s = {.inventory = rsdk_inventory_make(graph->inventory->sdk, graph->arena, false)};
    s.inventory.keeps_symbols = true;
    s.graph = (rsdk_graph){.arena = graph->arena,
                           .inventory = &s.inventory,
                           .map = graph->map,
                           .search = graph->search,
                           .asks_linker = true,
                           .has_all = true};
    RSDK_TRY(rsdk_graph_add(&s.graph, library, true, &root, error));
    RSDK_TRY(rsdk_graph_complete(&s.graph, error));
    found->file = NULL;
    for (size_t i = 0; i < s.graph.nodes.count; i++) {
        const rsdk_node *node = s.graph.nodes.items[i];
        const rsdk_elf_dynsym *symbols = node->mapped == NULL ? symbols_of(&s, node) : NULL;
        for (size_t j = 0; symbols != NULL && j < symbols->references.count && found->file == NULL; j++) {
            const uint32_t index = symbols->references.items[j].symbol;
            found->symbol = rsdk_elf_dynsym_name(symbols, index);
            if (!rsdk_elf_dynsym_begins_with(found->symbol, row->symbols)) {
                found->file = passed_by(&s, symbols, index, definer);
            }
        }
    }
    return RSDK_OK;
}
