/* The questions to the linker: dlsym of the program's handle searches the global scope, whoever made the handle. */
#include "loader/link_map.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/path.h"
#include "elf/soname.h"

/* Return the file that has the address of a function; *is_entry says whether the address is an entry of the program's
 * own procedure linkage table: a program at a fixed address gives such an entry out for the address of a function that
 * it does not define. */
static const char *file_of(void *address, bool *is_entry) {
    Dl_info info = {.dli_fname = NULL};
    const ElfW(Sym) *symbol = NULL;
    bool is_known = dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0;
    *is_entry = is_known && symbol != NULL && symbol->st_shndx == SHN_UNDEF;
    return is_known ? info.dli_fname : NULL;
}

/* Return whether a loaded file itself defines a function. */
static bool defines(const struct link_map *object, const char *function) {
    void *handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void *address = handle != NULL ? dlsym(handle, function) : NULL;
    bool is_entry = false;
    const char *file = address != NULL ? file_of(address, &is_entry) : NULL;
    if (handle != NULL) {
        (void)dlclose(handle);
    }
    return file != NULL && !is_entry && strcmp(file, object->l_name) == 0;
}

/* Return the first file behind the program that defines a function. Preloaded files stand before the C library. */
static const char *definer_behind_program(void *program, const char *function) {
    struct link_map *object = NULL;
    if (dlinfo(program, RTLD_DI_LINKMAP, &object) != 0) {
        return NULL;
    }
    for (object = object->l_next; object != NULL; object = object->l_next) {
        if (object->l_name[0] != '\0' && defines(object, function)) {
            return object->l_name;
        }
    }
    return NULL;
}

const char *rsdk_global_scope_definer(const char *function) {
    void *global = dlopen(NULL, RTLD_LAZY);
    void *address = global != NULL ? dlsym(global, function) : NULL;
    bool is_entry = false;
    const char *result = address != NULL ? file_of(address, &is_entry) : NULL;
    if (is_entry) {
        result = definer_behind_program(global, function);
    }
    if (global != NULL) {
        (void)dlclose(global); /* the program itself stays */
    }
    return result;
}

/* ---- RTLD_DEEPBIND ---- */

/* A function of each sanitizer's runtime that refuses RTLD_DEEPBIND. Source: CheckNoDeepBind of LLVM's compiler-rt,
 * which GCC has, too. */
static const char *const sanitizers[] = {"__asan_init", "__msan_init", "__tsan_init", "__hwasan_init"};
static const char *const c_allocators[] = {"malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"};
static const char *const cxx_allocators[] = {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv"};
static const char *const cxx_runtimes[] = {"libstdc++.so", "libc++.so", "libc++abi.so"};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static bool is_cxx_runtime(const char *file) {
    for (size_t i = 0; i < COUNT_OF(cxx_runtimes); i++) {
        if (rsdk_soname_has_linker_name(rsdk_path_name(file), cxx_runtimes[i])) {
            return true;
        }
    }
    return false;
}

/* Return the file that answers for an allocator although it is not the C library's or the C++ runtime's; NULL: none. */
static const char *foreign_allocator(void) {
    const char *libc = rsdk_global_scope_definer("gnu_get_libc_version");
    for (size_t i = 0; i < COUNT_OF(c_allocators); i++) {
        const char *definer = rsdk_global_scope_definer(c_allocators[i]);
        if (definer != NULL && (libc == NULL || strcmp(definer, libc) != 0)) {
            return definer;
        }
    }
    for (size_t i = 0; i < COUNT_OF(cxx_allocators); i++) {
        const char *definer = rsdk_global_scope_definer(cxx_allocators[i]);
        if (definer != NULL && !is_cxx_runtime(definer)) {
            return definer;
        }
    }
    return NULL;
}

rsdk_deep_obstacle rsdk_global_scope_deep_obstacle(const char **file) {
    for (size_t i = 0; i < COUNT_OF(sanitizers); i++) {
        *file = rsdk_global_scope_definer(sanitizers[i]);
        if (*file != NULL) {
            return RSDK_DEEP_SANITIZER;
        }
    }
    *file = foreign_allocator();
    return *file != NULL ? RSDK_DEEP_ALLOCATOR : RSDK_DEEP_NO_OBSTACLE;
}
