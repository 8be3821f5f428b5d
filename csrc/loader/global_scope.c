/* The questions to the linker: dlsym of the program's handle searches the global scope, whoever made the handle. */
#include "loader/link_map.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Find the file that has an address; return whether the address is an entry of the program's own procedure linkage
 * table: a program at a fixed address gives such an entry out for the address of a function that it does not define. */
static bool is_entry(void *address, rsdk_global_definition *definition) {
    Dl_info info = {.dli_fname = NULL};
    const ElfW(Sym) *symbol = NULL;
    *definition = (rsdk_global_definition){.file = NULL};
    if (address == NULL || dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0) {
        return false;
    }
    *definition = (rsdk_global_definition){info.dli_fname, address, symbol != NULL ? symbol->st_size : 0};
    return symbol != NULL && symbol->st_shndx == SHN_UNDEF;
}

rsdk_global_definition rsdk_global_scope_find_in(const char *file, const char *name) {
    rsdk_global_definition found = {.file = NULL};
    void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL &&
        (is_entry(dlsym(handle, name), &found) || found.file == NULL || strcmp(found.file, file) != 0)) {
        found.file = NULL;
    }
    if (handle != NULL) {
        (void)dlclose(handle);
    }
    return found;
}

/* Find the first definition after the program's. Preloaded files come before the C library. */
static rsdk_global_definition find_behind_program(void *program, const char *name) {
    rsdk_global_definition found = {.file = NULL};
    struct link_map *object = NULL;
    if (dlinfo(program, RTLD_DI_LINKMAP, &object) != 0) {
        return found;
    }
    for (object = object->l_next; object != NULL && found.file == NULL; object = object->l_next) {
        if (object->l_name[0] != '\0') {
            found = rsdk_global_scope_find_in(object->l_name, name);
        }
    }
    return found;
}

rsdk_global_definition rsdk_global_scope_find(const char *name) {
    void *global = dlopen(NULL, RTLD_LAZY);
    rsdk_global_definition found = {.file = NULL};
    if (global != NULL && is_entry(dlsym(global, name), &found)) {
        found = find_behind_program(global, name);
    }
    if (global != NULL) {
        (void)dlclose(global); /* the program itself stays */
    }
    return found;
}
