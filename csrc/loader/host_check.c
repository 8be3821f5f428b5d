/* Each file is a root; its scope is what the linker would bring in for it, breadth first. A symbol is said to be absent
 * only if all of that scope is known: a plug-in whose host is not here would otherwise be blamed for what it expects of
 * its host. A version that a file needs of a library is asked of that library alone, as the linker does. */
#include "loader/host_check.h"

#include <string.h>

#include "base/name_table.h"
#include "base/path.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "elf/elf_header.h"
#include "elf/elf_library_names.h"
#include "elf/elf_machine.h"
#include "elf/soname.h"
#include "loader/link_map.h"
#include "loader/linker_search.h"
#include "sdk/tables.h"

enum { LACKS_SHOWN = 3, NEEDS_LIMIT = 4096 };

/* A file that was read, be it checked or found for one that is. */
typedef struct object {
    const char *path;
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    bool is_read, has_symbols;
    bool is_other;  /* it is no ELF file */
    bool is_system; /* what it needs is the system's, too */
    const char *fault;
    rsdk_code fault_code;
    RSDK_LIST(rsdk_host_need) needs;
    RSDK_LIST(size_t) needed; /* the objects of the needs that are somewhere */
    bool is_resolved, lacks_a_need;
    size_t walk; /* the last that visited it */
} object;

typedef struct check {
    const rsdk_host_check *asked;
    rsdk_arena *arena;
    rsdk_error *error;
    RSDK_LIST(object *) objects;
    rsdk_name_table places;                           /* of objects, by path */
    rsdk_name_table bundled, libraries, linker_names; /* names -> indexes of asked->files, asked->libraries */
    rsdk_link_map map;
    rsdk_linker_search search;
    size_t walk_count;
} check;

/* ---- objects ---- */

static rsdk_status note_fault(check *c, object *o, rsdk_error *why) {
    if (why->status == RSDK_NO_MEMORY) {
        return rsdk_fail_no_memory(c->error);
    }
    o->fault = rsdk_arena_copy(c->arena, rsdk_error_message(why));
    o->fault_code = why->code != RSDK_NO_CODE     ? why->code
                    : why->status == RSDK_BAD_ELF ? RSDK_E_LIB_006
                                                  : RSDK_E_FILE_007;
    RSDK_NEED(o->fault, c->error);
    return RSDK_OK;
}

/* Such a file is an ELF file but in rare cases, and opened once. */
static bool is_named_as_library(const char *path) {
    return strstr(rsdk_path_name(path), ".so") != NULL;
}

/* A file for another machine has needs, and no symbols that this process can read: that is what is wrong with it. */
static rsdk_status read_object(check *c, object *o) {
    rsdk_error why = RSDK_ERROR_INIT, machine = RSDK_ERROR_INIT;
    rsdk_elf_file again;
    o->is_other = !is_named_as_library(o->path) && !rsdk_elf_header_is_in(o->path);
    if (o->is_other) {
        return RSDK_OK;
    }
    rsdk_status status = rsdk_elf_file_read_with_symbols(o->path, false, c->arena, &o->file, &o->symbols, &why);
    o->is_read = status == RSDK_OK;
    o->has_symbols = o->is_read && o->symbols.is_known;
    if (status == RSDK_BAD_ELF && rsdk_elf_file_read(o->path, c->arena, &again, NULL) == RSDK_OK) {
        o->file = again;
        o->is_read = true;
    }
    o->is_other = !o->is_read && !rsdk_elf_header_is_in(o->path); /* a linker script */
    if (o->is_read && rsdk_elf_machine_check(&o->file, &machine) != RSDK_OK) {
        o->has_symbols = false;
        status = note_fault(c, o, &machine);
    } else if (status != RSDK_OK) {
        status = note_fault(c, o, &why);
    }
    rsdk_error_clear(&why);
    rsdk_error_clear(&machine);
    return status;
}

static rsdk_status find_object(check *c, const char *path, bool is_system, size_t *index) {
    if (rsdk_name_table_find(&c->places, path, strlen(path), index)) {
        return RSDK_OK;
    }
    object *made = rsdk_arena_alloc(c->arena, 1, sizeof *made);
    RSDK_NEED(made, c->error);
    made->path = path;
    made->is_system = is_system;
    *index = c->objects.count;
    RSDK_TRY(rsdk_name_table_set(&c->places, c->arena, path, strlen(path), *index, c->error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(c->arena, &c->objects, made, c->error);
    return read_object(c, made);
}

/* ---- needs ---- */

static rsdk_status find_in_system(check *c, const char *name, const char **path) {
    const rsdk_load_chain nothing = {.rpath = NULL};
    return rsdk_linker_search_find(&c->search, &nothing, name, path, c->error);
}

/* Where the linker would look without the SDK: where the RPATH or RUNPATH of the object leads, and in the system. */
static rsdk_status find_outside(check *c, const object *o, rsdk_host_need *need) {
    rsdk_load_chain own;
    const char *of_system = NULL;
    if (strchr(need->name, '/') != NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(rsdk_linker_search_start_chain(&c->search, &o->file, &own, c->error));
    RSDK_TRY(rsdk_linker_search_find(&c->search, &own, need->name, &need->path, c->error));
    RSDK_TRY(find_in_system(c, need->name, &of_system));
    if (need->path != NULL) {
        bool is_system = o->is_system || (of_system != NULL && strcmp(need->path, of_system) == 0);
        need->place = is_system ? RSDK_PLACE_SYSTEM : RSDK_PLACE_RPATH;
    }
    return RSDK_OK;
}

/* What lies among the files or in the SDK comes first: there RPATHs lead when all is installed. A library of ROCm that
 * the SDK has in another version is not taken from the system: two ROCms do not mix. */
static rsdk_status place_need(check *c, const object *o, rsdk_host_need *need) {
    size_t index = 0, length = strlen(need->name);
    if (!o->is_system && rsdk_name_table_find(&c->bundled, need->name, length, &index)) {
        need->place = RSDK_PLACE_BUNDLED;
        need->path = c->asked->files[index];
        return RSDK_OK;
    }
    if (!o->is_system && rsdk_name_table_find(&c->libraries, need->name, length, &index)) {
        need->place = RSDK_PLACE_SDK;
        need->path = c->asked->libraries[index];
        return RSDK_OK;
    }
    bool is_of_rocm = rsdk_catalog_is_of_rocm(need->name);
    bool has_other =
        rsdk_name_table_find(&c->linker_names, need->name, rsdk_soname_linker_name_length(need->name), &index);
    if (!is_of_rocm || !has_other || o->is_system) {
        RSDK_TRY(find_outside(c, o, need));
    }
    if (need->place == RSDK_PLACE_NOWHERE && has_other && is_of_rocm) {
        need->place = RSDK_PLACE_OTHER_VERSION;
        need->path = c->asked->libraries[index];
    }
    return RSDK_OK;
}

static rsdk_status resolve(check *c, object *o) {
    if (o->is_resolved || !o->is_read || o->file.needed.count > NEEDS_LIMIT) {
        return RSDK_OK;
    }
    o->is_resolved = true;
    for (size_t i = 0; i < o->file.needed.count; i++) {
        rsdk_host_need need = {.name = o->file.needed.items[i], .place = RSDK_PLACE_NOWHERE};
        size_t index = 0;
        RSDK_TRY(place_need(c, o, &need));
        RSDK_APPEND(c->arena, &o->needs, need, c->error);
        if (need.place == RSDK_PLACE_NOWHERE || need.place == RSDK_PLACE_OTHER_VERSION) {
            o->lacks_a_need = true;
            continue;
        }
        RSDK_TRY(find_object(c, need.path, need.place == RSDK_PLACE_SYSTEM, &index));
        RSDK_APPEND(c->arena, &o->needed, index, c->error);
    }
    return RSDK_OK;
}

/* ---- symbols ---- */

typedef struct scope {
    RSDK_LIST(object *) objects;
    bool is_whole; /* all of it is there and can be read */
} scope;

static rsdk_status make_scope(check *c, object *root, scope *made) {
    size_t walk = ++c->walk_count;
    made->is_whole = true;
    root->walk = walk;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(c->arena, &made->objects, root, c->error);
    for (size_t i = 0; i < made->objects.count; i++) {
        object *o = made->objects.items[i];
        RSDK_TRY(resolve(c, o));
        made->is_whole = made->is_whole && o->has_symbols && !o->lacks_a_need;
        for (size_t k = 0; k < o->needed.count; k++) {
            object *next = c->objects.items[o->needed.items[k]];
            if (next->walk != walk) {
                next->walk = walk;
                /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
                RSDK_APPEND(c->arena, &made->objects, next, c->error);
            }
        }
    }
    return RSDK_OK;
}

static bool is_extension(const object *o) {
    static const char prefix[] = "PyInit_";
    for (uint32_t i = 1; o->has_symbols && i < o->symbols.count; i++) {
        const char *name = o->symbols.symbols[i].st_shndx != SHN_UNDEF ? rsdk_elf_dynsym_name(&o->symbols, i) : NULL;
        if (name != NULL && strncmp(name, prefix, sizeof prefix - 1) == 0) {
            return true;
        }
    }
    return false;
}

/* CPython is linked with libm (LIBM of its configure.ac), so its extensions may call that without a DT_NEEDED entry. */
static rsdk_status add_interpreter(check *c, scope *made) {
    const char *path = NULL;
    size_t index = 0;
    RSDK_TRY(find_in_system(c, "libm.so.6", &path));
    if (path != NULL) {
        RSDK_TRY(find_object(c, path, true, &index));
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        RSDK_APPEND(c->arena, &made->objects, c->objects.items[index], c->error);
    }
    return RSDK_OK;
}

static bool is_defined(const scope *in, const char *name, const rsdk_elf_version *version) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(name, version, RSDK_ELF_REFERENCE_CALL);
    for (size_t i = 0; i < in->objects.count; i++) {
        uint32_t unused = 0;
        if (in->objects.items[i]->has_symbols &&
            rsdk_elf_dynsym_find(&in->objects.items[i]->symbols, &wanted, &unused)) {
            return true;
        }
    }
    return false;
}

/* The object of the scope that a need of a version names; NULL: it is not there. */
static const object *find_named(const object *of, const check *c, const char *soname) {
    size_t next = 0;
    for (size_t i = 0; i < of->needs.count; i++) {
        bool is_there =
            of->needs.items[i].place != RSDK_PLACE_NOWHERE && of->needs.items[i].place != RSDK_PLACE_OTHER_VERSION;
        if (is_there && strcmp(of->needs.items[i].name, soname) == 0) {
            return c->objects.items[of->needed.items[next]];
        }
        next += is_there;
    }
    return NULL;
}

/* A library without versions answers any, as before versions there were none. */
static bool has_version(const object *o, const char *name) {
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

static rsdk_status add_lack(check *c, rsdk_host_file *result, rsdk_host_lack lack) {
    if (result->lack_count++ < LACKS_SHOWN) {
        RSDK_APPEND(c->arena, &result->lacks, lack, c->error);
    }
    return RSDK_OK;
}

static rsdk_status find_absent_versions(check *c, const object *o, rsdk_host_file *result) {
    for (size_t i = 0; i < o->symbols.versions.count; i++) {
        const rsdk_elf_version *version = &o->symbols.versions.items[i];
        const object *named = version->name != NULL && version->file != NULL ? find_named(o, c, version->file) : NULL;
        if (named != NULL && named->has_symbols && !has_version(named, version->name)) {
            RSDK_TRY(add_lack(c, result, (rsdk_host_lack){NULL, version->name, version->file}));
        }
    }
    return RSDK_OK;
}

/* The interpreter has these, whichever program that is. */
static bool is_of_python(const char *name) {
    return strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0;
}

static bool is_wanted(const ElfW(Sym) * symbol) {
    return symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
}

static rsdk_status find_absent_symbols(check *c, const object *o, const scope *in, rsdk_host_file *result) {
    for (uint32_t i = 1; i < o->symbols.count; i++) {
        const char *name = is_wanted(&o->symbols.symbols[i]) ? rsdk_elf_dynsym_name(&o->symbols, i) : NULL;
        if (name == NULL || name[0] == '\0' || is_of_python(name)) {
            continue;
        }
        const rsdk_elf_version *version = rsdk_elf_dynsym_version(&o->symbols, i);
        const object *named = version != NULL && version->file != NULL ? find_named(o, c, version->file) : NULL;
        bool can_tell = in->is_whole || (named != NULL && named->has_symbols);
        if (can_tell && !is_defined(in, name, version)) {
            const char *library = version != NULL ? version->file : NULL;
            RSDK_TRY(add_lack(c, result, (rsdk_host_lack){name, version != NULL ? version->name : NULL, library}));
        }
    }
    return RSDK_OK;
}

/* ---- what they were built for ---- */

/* What is among the files themselves says nothing of an SDK. */
static rsdk_status add_release(check *c, const object *o, rsdk_other_release *found) {
    for (size_t i = 0; i < o->needs.count; i++) {
        const rsdk_host_need *need = &o->needs.items[i];
        rsdk_release_need added = {.file = o->path, .name = need->name};
        added.is_here = need->place == RSDK_PLACE_SDK || need->place == RSDK_PLACE_SYSTEM;
        added.present = need->place == RSDK_PLACE_OTHER_VERSION ? rsdk_path_name(need->path) : NULL;
        if (need->place != RSDK_PLACE_BUNDLED) {
            RSDK_TRY(rsdk_other_release_add(found, c->arena, &added, c->error));
        }
    }
    if (o->has_symbols) {
        rsdk_other_release_add_versions(found, &o->symbols);
    }
    return RSDK_OK;
}

/* What is nowhere for this reason is no fault of its own. */
static void explain_needs(rsdk_host_files *result) {
    for (size_t i = 0; rsdk_other_release_is(&result->release) && i < result->list.count; i++) {
        rsdk_host_file *file = &result->list.items[i];
        for (size_t k = 0; k < file->needs.count; k++) {
            rsdk_host_need *need = &file->needs.items[k];
            if (need->place == RSDK_PLACE_NOWHERE && rsdk_other_release_explains(&result->release, need->name)) {
                need->place = RSDK_PLACE_OTHER_RELEASE;
            }
        }
    }
}

/* Which files are variants, and first which of them others need. */
static rsdk_status find_variants(check *c, rsdk_host_files *result) {
    rsdk_name_table places = {0};
    RSDK_LIST(rsdk_variant *) variants = {0};
    for (size_t i = 0; i < result->list.count; i++) {
        rsdk_host_file *file = &result->list.items[i];
        file->variant.path = file->path;
        RSDK_TRY(rsdk_name_table_set(&places, c->arena, file->path, strlen(file->path), i, c->error));
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        RSDK_APPEND(c->arena, &variants, &file->variant, c->error);
    }
    for (size_t i = 0; i < result->list.count; i++) {
        const rsdk_host_file *file = &result->list.items[i];
        for (size_t k = 0; k < file->needs.count; k++) {
            const char *path = file->needs.items[k].path;
            size_t place = 0;
            if (path != NULL && rsdk_name_table_find(&places, path, strlen(path), &place)) {
                variants.items[place]->is_needed = true;
            }
        }
    }
    return rsdk_variants_find(variants.items, variants.count, c->arena, c->error);
}

/* The SONAME of HIP in the SDK; NULL: it has none. */
static const char *find_runtime(const check *c) {
    static const char hip[] = "libamdhip64.so";
    for (size_t i = 0; i < c->asked->library_count; i++) {
        const char *name = rsdk_path_name(c->asked->libraries[i]);
        if (rsdk_soname_has_linker_name(name, hip) && rsdk_built_for_knows(name)) {
            return name;
        }
    }
    return NULL;
}

/* ---- what they may open by name ---- */

static bool needs_rocm(const rsdk_host_files *result) {
    for (size_t i = 0; i < result->list.count; i++) {
        for (size_t k = 0; k < result->list.items[i].needs.count; k++) {
            if (rsdk_catalog_is_of_rocm(result->list.items[i].needs.items[k].name)) {
                return true;
            }
        }
    }
    return false;
}

/* Python's bindings need no library of ROCm: they open them by name. */
static rsdk_status find_opened(check *c, rsdk_host_files *result) {
    rsdk_unique_strings names = {0};
    for (size_t i = 0; i < result->list.count; i++) {
        if (result->list.items[i].fault == NULL) {
            RSDK_TRY(rsdk_elf_library_names_of(result->list.items[i].path, c->arena, &names, c->error));
        }
    }
    const object outside = {.path = ""};
    for (size_t i = 0; i < names.list.count; i++) {
        rsdk_host_need need = {.name = names.list.items[i], .place = RSDK_PLACE_NOWHERE};
        if (!rsdk_catalog_is_of_rocm(need.name)) {
            continue;
        }
        RSDK_TRY(place_need(c, &outside, &need));
        if (need.place != RSDK_PLACE_BUNDLED) {
            RSDK_APPEND(c->arena, &result->opened, need, c->error);
        }
    }
    return RSDK_OK;
}

/* ---- the check ---- */

static rsdk_status check_file(check *c, object *o, rsdk_host_file *result) {
    scope in = {.is_whole = false};
    *result = (rsdk_host_file){.path = o->path,
                               .soname = o->file.soname,
                               .is_program = o->file.is_program,
                               .fault = o->fault,
                               .fault_code = o->fault_code};
    RSDK_TRY(make_scope(c, o, &in));
    memcpy(&result->needs, &o->needs, sizeof result->needs);
    if (is_extension(o)) {
        RSDK_TRY(add_interpreter(c, &in));
    }
    if (o->has_symbols) {
        RSDK_TRY(find_absent_versions(c, o, result));
    }
    return o->has_symbols && result->lack_count == 0 ? find_absent_symbols(c, o, &in, result) : RSDK_OK;
}

/* A file is found by its name, and one that is checked also by its SONAME: pip installs it under some name. */
static rsdk_status list_names(check *c) {
    for (size_t i = 0; i < c->asked->library_count; i++) {
        const char *name = rsdk_path_name(c->asked->libraries[i]);
        RSDK_TRY(rsdk_name_table_set(&c->libraries, c->arena, name, strlen(name), i, c->error));
        RSDK_TRY(
            rsdk_name_table_set(&c->linker_names, c->arena, name, rsdk_soname_linker_name_length(name), i, c->error));
    }
    for (size_t i = 0; i < c->asked->file_count; i++) {
        const char *path = c->asked->files[i], *name = rsdk_path_name(path);
        size_t index = 0;
        RSDK_TRY(find_object(c, path, false, &index));
        if (c->objects.items[index]->is_other) {
            continue;
        }
        const char *soname = c->objects.items[index]->is_read ? c->objects.items[index]->file.soname : NULL;
        RSDK_TRY(rsdk_name_table_set(&c->bundled, c->arena, name, strlen(name), i, c->error));
        if (soname != NULL) {
            RSDK_TRY(rsdk_name_table_set(&c->bundled, c->arena, soname, strlen(soname), i, c->error));
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_host_check_run(const rsdk_host_check *asked, rsdk_arena *arena, rsdk_host_files *result,
                                rsdk_error *error) {
    check c = {.asked = asked, .arena = arena, .error = error};
    RSDK_TRY(rsdk_link_map_read(arena, &c.map, error));
    RSDK_TRY(rsdk_linker_search_init(arena, &c.map, &c.search, error));
    RSDK_TRY(list_names(&c));
    result->release.runtime = find_runtime(&c);
    for (size_t i = 0; i < asked->file_count; i++) {
        rsdk_host_file row;
        size_t index = 0;
        RSDK_TRY(find_object(&c, asked->files[i], false, &index));
        if (!c.objects.items[index]->is_other) {
            RSDK_TRY(check_file(&c, c.objects.items[index], &row));
            RSDK_TRY(add_release(&c, c.objects.items[index], &result->release));
            RSDK_APPEND(arena, &result->list, row, error);
        }
    }
    explain_needs(result);
    if (!needs_rocm(result)) {
        RSDK_TRY(find_opened(&c, result));
    }
    return find_variants(&c, result);
}

const char *rsdk_need_place_name(rsdk_need_place place) {
    static const char *const names[] = {
        [RSDK_PLACE_BUNDLED] = "bundled", [RSDK_PLACE_SDK] = "SDK",       [RSDK_PLACE_OTHER_VERSION] = "other version",
        [RSDK_PLACE_RPATH] = "RPATH",     [RSDK_PLACE_SYSTEM] = "system", [RSDK_PLACE_OTHER_RELEASE] = "other release",
        [RSDK_PLACE_NOWHERE] = "nowhere"};
    return names[place];
}
