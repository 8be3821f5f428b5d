/* The rules. A library is built to find itself and its needs; the rest is chance. If a reference binds elsewhere by
 * chance, only a strong definition is a fault: each library has the same weak C++ code. */
#include "binding/linker_state.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "elf/soname.h"

static const char *const verdict_names[RSDK_BINDING_VERDICT_COUNT] = {
    [RSDK_BINDING_MEANT] = "meant",
    [RSDK_BINDING_NOTHING] = "nothing",
    [RSDK_BINDING_MISSING] = "missing",
    [RSDK_BINDING_LAZY] = "lazy",
    [RSDK_BINDING_UNKNOWN] = "unknown",
    [RSDK_BINDING_VAGUE] = "vague",
    [RSDK_BINDING_WEAK] = "weak",
    [RSDK_BINDING_CXX_RUNTIME] = "c++-runtime",
    [RSDK_BINDING_C_LIBRARY] = "c-library",
    [RSDK_BINDING_SAME_SOURCE] = "same-source",
    [RSDK_BINDING_TAKEN_OVER] = "taken-over",
    [RSDK_BINDING_OTHER_FUNCTION] = "other-function",
    [RSDK_BINDING_OTHER_OBJECT] = "other-object",
};

const char *rsdk_binding_verdict_name(rsdk_binding_verdict verdict) {
    return (size_t)verdict < RSDK_BINDING_VERDICT_COUNT ? verdict_names[verdict] : NULL;
}

/* ---- names ---- */

static bool is_one_of(const char *text, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_with_one_of(const char *text, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strncmp(text, list[i], strlen(list[i])) == 0) {
            return true;
        }
    }
    return false;
}

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* The libraries of a system whose names are shared on purpose. */
static const char *const c_libraries[] = {
    "libc.so",      "libm.so",   "libpthread.so", "libdl.so", "librt.so", "ld-linux-x86-64.so", "ld-linux-aarch64.so",
    "libresolv.so", "libutil.so"};
static const char *const cxx_runtimes[] = {"libstdc++.so", "libgcc_s.so", "libc++.so", "libc++abi.so", "libsupc++.so"};

/* Names of the C++ runtime: std, __cxxabiv1, __gnu_cxx, and their C functions. Source: the Itanium C++ ABI. */
static const char *const cxx_names[] = {"__cxa_",
                                        "_Unwind_",
                                        "__gxx_",
                                        "__dynamic_cast",
                                        "__once_proxy",
                                        "_ZSt",
                                        "_ZNSt",
                                        "_ZNKSt",
                                        "_ZNVSt",
                                        "_ZN9__gnu_cxx",
                                        "_ZNK9__gnu_cxx",
                                        "_ZN10__cxxabiv1",
                                        "_ZNK10__cxxabiv1",
                                        "_ZTISt",
                                        "_ZTSSt",
                                        "_ZTVSt",
                                        "_ZTTSt",
                                        "_ZTINSt",
                                        "_ZTSNSt",
                                        "_ZTVNSt",
                                        "_ZTTNSt",
                                        "_ZTIN10__cxxabiv1",
                                        "_ZTVN10__cxxabiv1",
                                        "_ZTSN10__cxxabiv1",
                                        "_ZTIN9__gnu_cxx",
                                        "_ZTVN9__gnu_cxx",
                                        "_ZTSN9__gnu_cxx",
                                        "_ZGVNSt",
                                        "_ZThn",
                                        "_ZTv0_n",
                                        "_ZTC"};

/* The functions that an allocator replaces. Source: the GNU C Library manual, Replacing malloc; [new.delete] of C++. */
static const char *const allocator_names[] = {"malloc",       "free",     "calloc",        "realloc",
                                              "reallocarray", "memalign", "aligned_alloc", "posix_memalign",
                                              "valloc",       "pvalloc",  "cfree",         "malloc_usable_size"};
static const char *const allocator_prefixes[] = {"_Znw", "_Zna", "_Zdl", "_Zda"};

static bool is_of(const rsdk_linker_object *object, const char *const *libraries, size_t count) {
    const char *name = object->file.soname != NULL ? object->file.soname : rsdk_path_name(object->path);
    size_t length = rsdk_soname_linker_name_length(name);
    for (size_t i = 0; i < count; i++) {
        if (strlen(libraries[i]) == length && strncmp(name, libraries[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_mangled(const char *name) {
    return name[0] == '_' && name[1] == 'Z';
}

/* ---- definitions ---- */

static const ElfW(Sym) * symbol_of(const rsdk_binding_judge *judge, rsdk_definition definition) {
    return &rsdk_linker_state_at(judge->state, definition.object)->symbols.symbols[definition.symbol];
}

static bool has(const rsdk_object_list *list, size_t object) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == object) {
            return true;
        }
    }
    return false;
}

/* Return whether an object of a library has moved into the program, by a copy relocation: the program's object is the
 * library's. */
static bool has_moved_into(const rsdk_linker_object *program, const char *name) {
    for (size_t i = 0; i < program->symbols.references.count; i++) {
        const rsdk_elf_reference *reference = &program->symbols.references.items[i];
        if (reference->kind == RSDK_ELF_REFERENCE_COPY &&
            strcmp(rsdk_elf_dynsym_name(&program->symbols, reference->symbol), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool defines(const rsdk_linker_object *object, const char *name) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, NULL, RSDK_ELF_REFERENCE_CALL);
    uint32_t symbol = 0;
    return object->symbols.is_known && rsdk_elf_dynsym_find(&object->symbols, &wanted, &symbol);
}

/* ---- the judgement ---- */

/* Libraries that are built together and have functions of one source, and how the names of these begin. Seen in
 * Debian's HIP 6.4: libhiprtc calls hiprtcGetErrorString, which libamdhip64 has, too. */
static const struct {
    const char *first, *second, *prefix;
} same_sources[] = {{"libamdhip64.so", "libhiprtc.so", "hiprtc"}};

static bool are_of_one_source(const rsdk_linker_object *a, const rsdk_linker_object *b, const char *name) {
    size_t directory = (size_t)(rsdk_path_name(a->path) - a->path);
    for (size_t i = 0; i < COUNT_OF(same_sources); i++) {
        const char *const pair[] = {same_sources[i].first, same_sources[i].second};
        if (strncmp(name, same_sources[i].prefix, strlen(same_sources[i].prefix)) == 0 && is_of(a, pair, 2) &&
            is_of(b, pair, 2) && rsdk_path_name(b->path) - b->path == (ptrdiff_t)directory &&
            strncmp(a->path, b->path, directory) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_taken_over(const rsdk_binding_judge *judge, const rsdk_linker_object *to, const char *name) {
    bool is_preloaded = judge->ld_preload != NULL && strstr(judge->ld_preload, rsdk_path_name(to->path)) != NULL;
    bool is_program = to->mapped == &judge->state->map->objects.items[0];
    bool is_allocators = is_one_of(name, allocator_names, COUNT_OF(allocator_names)) ||
                         begins_with_one_of(name, allocator_prefixes, COUNT_OF(allocator_prefixes));
    return is_preloaded || (is_program && is_allocators);
}

static bool is_between(const rsdk_linker_object *a, const rsdk_linker_object *b, const char *const *libraries,
                       size_t count, bool both) {
    bool first = is_of(a, libraries, count), second = is_of(b, libraries, count);
    return both ? first && second : first || second;
}

/* Return whether a variable that is constructed at its first use comes from a file that has not its guard: then the
 * guard of another file says whether the variable is constructed. Names: the Itanium C++ ABI, 5.1.4.4. */
static bool is_without_guard(const rsdk_binding_judge *judge, const char *name, rsdk_definition to,
                             rsdk_definition instead) {
    static const char prefix[] = "_ZGV";
    enum { GUARD_SIZE = 1024 };
    char guard[GUARD_SIZE];
    const rsdk_linker_object *answers = rsdk_linker_state_at(judge->state, to.object);
    const rsdk_linker_object *meant = rsdk_linker_state_at(judge->state, instead.object);
    int length = is_mangled(name) ? snprintf(guard, sizeof guard, "%s%s", prefix, name + 2) : -1;
    return length > 0 && (size_t)length < sizeof guard &&
           rsdk_elf_dynsym_is_writable(&meant->symbols, instead.symbol) && defines(meant, guard) &&
           !defines(answers, guard);
}

static rsdk_binding_verdict judge_elsewhere(const rsdk_binding_judge *judge, const char *name, rsdk_definition to,
                                            rsdk_definition instead) {
    const rsdk_linker_object *answers = rsdk_linker_state_at(judge->state, to.object);
    const rsdk_linker_object *meant = rsdk_linker_state_at(judge->state, instead.object);
    unsigned binding = ELF64_ST_BIND(symbol_of(judge, instead)->st_info); /* the same in both classes */
    if (is_taken_over(judge, answers, name)) {
        return RSDK_BINDING_TAKEN_OVER;
    }
    if (are_of_one_source(answers, meant, name)) {
        return RSDK_BINDING_SAME_SOURCE;
    }
    if (is_between(answers, meant, c_libraries, COUNT_OF(c_libraries), true)) {
        return RSDK_BINDING_C_LIBRARY;
    }
    if (is_between(answers, meant, cxx_runtimes, COUNT_OF(cxx_runtimes), false) &&
        (begins_with_one_of(name, cxx_names, COUNT_OF(cxx_names)) || binding != STB_GLOBAL)) {
        return RSDK_BINDING_CXX_RUNTIME;
    }
    if (is_without_guard(judge, name, to, instead)) {
        return RSDK_BINDING_OTHER_OBJECT;
    }
    if (binding != STB_GLOBAL) {
        return is_mangled(name) ? RSDK_BINDING_VAGUE : RSDK_BINDING_WEAK;
    }
    return rsdk_elf_dynsym_is_writable(&meant->symbols, instead.symbol) ? RSDK_BINDING_OTHER_OBJECT
                                                                        : RSDK_BINDING_OTHER_FUNCTION;
}

rsdk_status rsdk_binding_judge_init(rsdk_linker_state *state, const char *ld_preload, rsdk_binding_judge *judge,
                                    rsdk_error *error) {
    *judge = (rsdk_binding_judge){.state = state, .ld_preload = ld_preload};
    judge->closures = rsdk_arena_alloc(state->arena, state->objects.count + 1, sizeof *judge->closures);
    RSDK_NEED(judge->closures, error);
    return RSDK_OK;
}

rsdk_status rsdk_binding_judge_reference(rsdk_binding_judge *judge, size_t from, uint32_t symbol,
                                         rsdk_elf_reference_kind kind, rsdk_definition to, rsdk_definition *instead,
                                         rsdk_binding_verdict *verdict, rsdk_error *error) {
    const rsdk_linker_object *object = rsdk_linker_state_at(judge->state, from);
    const char *name = rsdk_elf_dynsym_name(&object->symbols, symbol);
    const rsdk_object_list *closure = NULL;
    *instead = (rsdk_definition){.object = RSDK_NO_OBJECT};
    if (to.object == RSDK_NO_OBJECT) {
        bool is_weak = ELF64_ST_BIND(object->symbols.symbols[symbol].st_info) == STB_WEAK;
        *verdict = is_weak ? RSDK_BINDING_NOTHING : RSDK_BINDING_MISSING;
        return RSDK_OK;
    }
    *verdict = RSDK_BINDING_MEANT;
    if (to.object == from || kind == RSDK_ELF_REFERENCE_COPY) {
        return RSDK_OK;
    }
    if (object->symbols.symbols[symbol].st_shndx != SHN_UNDEF) {
        *instead = (rsdk_definition){.object = from, .symbol = symbol};
    } else {
        closure = &judge->closures[from];
        RSDK_TRY(closure->count > 0 ? RSDK_OK
                                    : rsdk_linker_state_closure(judge->state, from, &judge->closures[from], error));
        const rsdk_elf_wanted wanted =
            rsdk_elf_dynsym_wanted(name, rsdk_elf_dynsym_version(&object->symbols, symbol), kind);
        if (has(closure, to.object) || !rsdk_symbol_lookup_in(judge->state, closure, &wanted, instead)) {
            return RSDK_OK;
        }
    }
    const rsdk_linker_object *answers = rsdk_linker_state_at(judge->state, to.object);
    if (has_moved_into(answers, name) ||
        !defines(answers, name)) { /* a program stands for the functions that it calls */
        instead->object = RSDK_NO_OBJECT;
        return RSDK_OK;
    }
    *verdict = judge_elsewhere(judge, name, to, *instead);
    return RSDK_OK;
}
