/* Symbols are looked for in all that the process has, as the linker does; a version that a file needs of a library is
 * asked of that library alone. */
#include "binding/host_objects.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LACKS_SHOWN = 3 };

/* The files that define symbols for the members of a trial. */
typedef struct scope {
    const rsdk_link_trial *trial;
    const rsdk_host_objects *interpreter; /* which the files of Python do not name; NULL: no such file */
} scope;

static bool has_symbol(const rsdk_host_object *o, const rsdk_elf_wanted *wanted) {
    uint32_t unused = 0;
    return o != NULL && o->has_symbols && rsdk_elf_dynsym_find(&o->symbols, wanted, &unused);
}

/* Return whether something defines a symbol; *borrowed becomes the library of the interpreter that alone does. */
static bool is_defined(const scope *in, const char *name, const rsdk_elf_version *version, const char **borrowed) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, version, RSDK_ELF_REFERENCE_CALL);
    const rsdk_trial_process *process = in->trial->process;
    bool result = false;
    for (size_t i = 0; !result && i < in->trial->members.count; i++) {
        result = has_symbol(in->trial->members.items[i]->object, &wanted);
    }
    for (size_t i = 0; !result && i < process->loaded.count; i++) {
        result = has_symbol(process->loaded.items[i], &wanted);
    }
    for (size_t i = 0; !result && in->interpreter != NULL && i < in->interpreter->interpreter.count; i++) {
        const rsdk_host_object *o = in->interpreter->interpreter.items[i];
        result = has_symbol(o, &wanted);
        *borrowed = result && !o->file.is_program ? o->file.soname : *borrowed;
    }
    return result;
}

/* ---- extensions of Python ---- */

static bool is_extension(const rsdk_host_object *o) {
    static const char prefix[] = "PyInit_";
    for (uint32_t i = 1; o->has_symbols && i < o->symbols.count; i++) {
        const char *name = o->symbols.symbols[i].st_shndx != SHN_UNDEF ? rsdk_elf_dynsym_name(&o->symbols, i) : NULL;
        if (name != NULL && strncmp(name, prefix, sizeof prefix - 1) == 0) {
            return true;
        }
    }
    return false;
}

/* Find the interpreter: this process's program and its libraries. Files that it opens may call these without a
 * DT_NEEDED entry; most of them call libm. */
static rsdk_status find_interpreter(rsdk_trial_process *process, const rsdk_link_trial *trial, scope *made,
                                    rsdk_error *error) {
    rsdk_host_objects *objects = process->objects;
    const rsdk_host_object *root = trial->members.items[0]->object;
    rsdk_host_object *program = NULL;
    rsdk_link_trial own = {0};
    char path[PATH_MAX];
    *made = (scope){.trial = trial};
    if (root->file.is_program || !(objects->is_python || is_extension(root))) {
        return RSDK_OK;
    }
    made->interpreter = objects;
    if (!objects->has_interpreter) {
        objects->has_interpreter = true;
        const char *real = realpath("/proc/self/exe", path); /* its RPATH counts from where it lies */
        RSDK_TRY(rsdk_host_objects_find(objects, real != NULL ? real : "/proc/self/exe", &program, error));
        RSDK_TRY(rsdk_link_trial_run(process, program, &own, error));
    }
    for (size_t i = 0; i < own.members.count; i++) {
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        RSDK_APPEND(objects->arena, &objects->interpreter, own.members.items[i]->object, error);
    }
    return RSDK_OK;
}

/* Return whether a name is of Python: the interpreter has such names, whichever program it is. */
static bool is_of_python(const char *name) {
    return strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0;
}

/* ---- lacks ---- */

static rsdk_status add_lack(const rsdk_trial_process *process, rsdk_host_lacks *lacks, rsdk_host_lack lack,
                            rsdk_error *error) {
    if (lacks->count++ < LACKS_SHOWN) {
        RSDK_APPEND(process->objects->arena, &lacks->list, lack, error);
    }
    return RSDK_OK;
}

/* Return whether an object has a version. A library without versions answers any, as before versions there were
 * none. */
static bool has_version(const rsdk_host_object *o, const char *name) {
    bool has_any = false;
    for (size_t i = 0; i < o->symbols.versions.count; i++) {
        const rsdk_elf_version *each = &o->symbols.versions.items[i];
        if (each->name != NULL && each->file == NULL) {
            has_any = true;
            if (strcmp(each->name, name) == 0) {
                return true;
            }
        }
    }
    return !has_any;
}

static rsdk_status find_absent_versions(const rsdk_link_trial *trial, const rsdk_host_object *o, rsdk_host_lacks *lacks,
                                        rsdk_error *error) {
    for (size_t i = 0; i < o->symbols.versions.count; i++) {
        const rsdk_elf_version *version = &o->symbols.versions.items[i];
        const rsdk_host_object *named =
            version->name != NULL && version->file != NULL ? rsdk_link_trial_named(trial, version->file) : NULL;
        if (named != NULL && named->has_symbols && !has_version(named, version->name)) {
            RSDK_TRY(add_lack(trial->process, lacks,
                              (rsdk_host_lack){o->path, NULL, version->name, version->file, NULL}, error));
        }
    }
    return RSDK_OK;
}

/* Return whether an object wants a symbol that nothing in the scope defines; *borrowed as of is_defined. */
static bool is_undefined(const scope *in, const rsdk_host_object *o, uint32_t symbol, const char **borrowed) {
    const char *name = rsdk_host_object_wants(o, symbol) ? rsdk_elf_dynsym_name(&o->symbols, symbol) : NULL;
    return name != NULL && name[0] != '\0' && !is_of_python(name) &&
           !is_defined(in, name, rsdk_elf_dynsym_version(&o->symbols, symbol), borrowed);
}

/* Return whether a symbol is absent: nothing in the scope defines it, and the scope has all files that could. */
static bool is_absent(const scope *in, const rsdk_host_object *o, uint32_t symbol, const char **borrowed) {
    const rsdk_elf_version *version = rsdk_elf_dynsym_version(&o->symbols, symbol);
    const rsdk_host_object *named =
        version != NULL && version->file != NULL ? rsdk_link_trial_named(in->trial, version->file) : NULL;
    bool can_tell = in->trial->is_whole || (named != NULL && named->has_symbols);
    return can_tell && is_undefined(in, o, symbol, borrowed);
}

static rsdk_status add_symbol(const rsdk_link_trial *trial, const rsdk_host_object *o, uint32_t symbol,
                              rsdk_host_lacks *lacks, rsdk_error *error) {
    const rsdk_elf_version *version = rsdk_elf_dynsym_version(&o->symbols, symbol);
    const char *library = version != NULL ? version->file : NULL;
    const char *name = rsdk_elf_dynsym_name(&o->symbols, symbol);
    return add_lack(trial->process, lacks,
                    (rsdk_host_lack){o->path, name, version != NULL ? version->name : NULL, library, NULL}, error);
}

/* Find, once for each object, the symbols that nothing defines of the files that the object brings in by itself. More
 * files are there where another one brings the object in, so only these symbols have to be looked for then. */
static rsdk_status settle(rsdk_trial_process *process, rsdk_host_object *o, rsdk_error *error) {
    rsdk_link_trial own;
    if (o->settled_in == process->number) {
        return RSDK_OK;
    }
    o->settled_in = process->number;
    o->undefined.count = 0;
    RSDK_TRY(rsdk_link_trial_run(process, o, &own, error));
    const scope in = {.trial = &own};
    const char *unused = NULL;
    for (uint32_t i = 1; i < o->symbols.count; i++) {
        if (is_undefined(&in, o, i, &unused)) {
            RSDK_APPEND(process->objects->arena, &o->undefined, i, error);
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_host_symbols_find_absent(rsdk_trial_process *process, const rsdk_link_trial *trial,
                                          rsdk_host_lacks *lacks, rsdk_error *error) {
    scope in;
    if (trial->members.count == 0) {
        return RSDK_OK;
    }
    RSDK_TRY(find_interpreter(process, trial, &in, error));
    for (size_t i = 0; i < trial->members.count; i++) {
        const rsdk_host_object *o = trial->members.items[i]->object;
        if (o->has_symbols && !o->is_system) {
            RSDK_TRY(find_absent_versions(trial, o, lacks, error));
        }
    }
    const rsdk_host_object *root = trial->members.items[0]->object;
    bool has_versions = lacks->count == 0; /* else the missing versions tell the missing symbols */
    for (uint32_t i = 1; has_versions && root->has_symbols && i < root->symbols.count; i++) {
        if (is_absent(&in, root, i, &lacks->borrowed)) {
            RSDK_TRY(add_symbol(trial, root, i, lacks, error));
        }
    }
    if (has_versions && trial->is_whole) {
        for (size_t i = 1; i < in.trial->members.count; i++) {
            rsdk_host_object *o = in.trial->members.items[i]->object;
            if (!o->is_system) {
                RSDK_TRY(settle(process, o, error));
                for (size_t k = 0; k < o->undefined.count; k++) {
                    if (is_absent(&in, o, o->undefined.items[k], &lacks->borrowed)) {
                        RSDK_TRY(add_symbol(in.trial, o, o->undefined.items[k], lacks, error));
                    }
                }
            }
        }
    }
    return RSDK_OK;
}
