/* Each file is tried by itself, as the linker would take it (link_trial.c). Beside the linker's answers the needs say
 * where each library lies, for a reader who looks for a remedy. */
#include "binding/host_check.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "base/name_table.h"
#include "base/path.h"
#include "binding/host_objects.h"
#include "elf/elf_sections.h"
#include "elf/soname.h"
#include "loader/link_map.h"
#include "sdk/further_libraries.h"
#include "sdk/inventory.h"
#include "sdk/tables.h"

enum { NEEDS_LIMIT = 4096 };

static const char hip_name[] = "libamdhip64.so";

typedef struct check {
    const rsdk_host_check *asked;
    rsdk_arena *arena;
    rsdk_error *error;
    rsdk_host_objects objects;
    rsdk_host_places places;
    rsdk_link_map map;
    rsdk_linker_search search;
    rsdk_trial_process process;
} check;

/* ---- needs ---- */

static bool is_same_file(const rsdk_host_object *o, const char *path) {
    struct stat facts;
    return path != NULL && stat(path, &facts) == 0 && facts.st_dev == o->file.identity.device &&
           facts.st_ino == o->file.identity.inode;
}

/* Find the places of an object's needs. The linker's own answer counts, unless it is the system's: where all is
 * installed, a file of the SDK under the same name comes first. */
static rsdk_status place_needs(check *c, const rsdk_host_object *o, const rsdk_link_trial *trial,
                               rsdk_host_file *result) {
    const rsdk_load_chain *chain = trial->members.count > 0 ? &trial->members.items[0]->chain : NULL;
    for (size_t i = 0; o->is_read && i < o->file.needed.count && i < NEEDS_LIMIT; i++) {
        rsdk_host_need need = {.name = o->file.needed.items[i]};
        const rsdk_host_object *taken = rsdk_link_trial_named(trial, need.name);
        RSDK_TRY(rsdk_host_places_find(&c->places, chain, &need, c->error));
        if (taken != NULL && !taken->is_system && !is_same_file(taken, need.path)) {
            need.place = RSDK_PLACE_RPATH;
            need.path = taken->path;
        }
        RSDK_APPEND(c->arena, &result->needs, need, c->error);
    }
    return RSDK_OK;
}

/* Look for a library that is nowhere around the files of a trial, beside each and where its own paths lead: the linker
 * asks the file alone that needs it. */
static rsdk_status look_around(check *c, const rsdk_link_trial *trial, rsdk_host_need *need) {
    char path[PATH_MAX];
    for (size_t i = 0; strchr(need->name, '/') == NULL && i < trial->members.count; i++) {
        const rsdk_trial_member *member = trial->members.items[i];
        const rsdk_search_path *own = member->chain.runpath != NULL ? member->chain.runpath : member->chain.rpath;
        const char *parent = rsdk_path_parent(c->arena, member->object->path);
        RSDK_NEED(parent, c->error);
        for (size_t k = 0; !member->object->is_system && k <= (own != NULL ? own->list.count : 0); k++) {
            const char *directory = k == 0 ? parent : own->list.items[k - 1];
            if (directory != NULL && rsdk_directory_look(directory, need->name, path) &&
                !rsdk_host_objects_is_passed_over(&c->objects, path)) {
                need->place = RSDK_PLACE_BESIDE;
                need->path = rsdk_arena_copy(c->arena, path);
                return need->path != NULL ? RSDK_OK : rsdk_fail_no_memory(c->error);
            }
        }
    }
    return c->objects.is_out_of_memory ? rsdk_fail_no_memory(c->error) : RSDK_OK;
}

static rsdk_status place_unfound(check *c, const rsdk_link_trial *trial, rsdk_host_file *result) {
    for (size_t i = 0; i < trial->unfound.count; i++) {
        const rsdk_unfound *each = &trial->unfound.items[i];
        const rsdk_load_chain *chain = &each->by->chain;
        const rsdk_search_path *own = chain->runpath != NULL ? chain->runpath : chain->rpath;
        rsdk_host_unfound row = {each->by->object->path, {.name = each->name}, each->fault, each->fault_code, {0}};
        row.absent = own != NULL ? own->absent : row.absent;
        RSDK_TRY(rsdk_host_places_find(&c->places, NULL, &row.need, c->error));
        if (row.need.place == RSDK_PLACE_NOWHERE) {
            RSDK_TRY(look_around(c, trial, &row.need));
        }
        RSDK_APPEND(c->arena, &result->unfound, row, c->error);
    }
    return RSDK_OK;
}

/* ---- what they were built for ---- */

/* Add a need. Libraries among the files themselves say nothing of an SDK. */
static rsdk_status add_need(check *c, const char *needing, const rsdk_host_need *need, rsdk_other_release *found) {
    rsdk_release_need added = {.file = needing, .name = need->name};
    added.is_here = need->place == RSDK_PLACE_SDK || need->place == RSDK_PLACE_SYSTEM ||
                    need->place == RSDK_PLACE_RPATH || need->place == RSDK_PLACE_BESIDE;
    added.present = need->place == RSDK_PLACE_OTHER_VERSION ? rsdk_path_name(need->path) : NULL;
    return need->place == RSDK_PLACE_BUNDLED ? RSDK_OK : rsdk_other_release_add(found, c->arena, &added, c->error);
}

static void explain(const rsdk_other_release *release, rsdk_host_need *need) {
    if (need->place == RSDK_PLACE_NOWHERE && rsdk_other_release_explains(release, need->name)) {
        need->place = RSDK_PLACE_OTHER_RELEASE;
    }
}

/* Find which files are variants, and first which of them others need. */
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

/* Return the SONAME of HIP in the SDK; NULL: the SDK has none. */
static const char *find_runtime(const check *c) {
    for (size_t i = 0; i < c->asked->library_count; i++) {
        const char *name = rsdk_path_name(c->asked->libraries[i]);
        if (rsdk_soname_has_linker_name(name, hip_name) && rsdk_built_for_knows(name)) {
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

/* Find the libraries that files may open. Python's bindings need no library of ROCm: they open them by name. */
static rsdk_status find_opened(check *c, rsdk_host_files *result) {
    rsdk_unique_strings names = {0};
    for (size_t i = 0; i < result->list.count; i++) {
        if (result->list.items[i].fault == NULL) {
            RSDK_TRY(rsdk_elf_library_names_of(result->list.items[i].path, c->arena, &names, c->error));
        }
    }
    for (size_t i = 0; i < names.list.count; i++) {
        rsdk_host_need need = {.name = names.list.items[i]};
        if (!rsdk_catalog_is_of_rocm(need.name)) {
            continue;
        }
        RSDK_TRY(rsdk_host_places_find(&c->places, NULL, &need, c->error));
        if (need.place != RSDK_PLACE_BUNDLED) {
            RSDK_APPEND(c->arena, &result->opened, need, c->error);
        }
    }
    return RSDK_OK;
}

/* ---- the check ---- */

/* Note the directories of LD_LIBRARY_PATH that a trial needs. The others change nothing: the linker finds nothing
 * there. */
static rsdk_status note_directories(check *c, const rsdk_link_trial *trial, rsdk_host_file *result) {
    const rsdk_strings *all = &c->search.library_path;
    for (size_t k = 0; k < all->count; k++) {
        bool is_needed = false;
        for (size_t i = 0; !is_needed && i < trial->members.count; i++) {
            const rsdk_trial_member *member = trial->members.items[i];
            is_needed =
                member->rule == RSDK_RULE_LIBRARY_PATH && rsdk_path_below(member->object->path, all->items[k]) != NULL;
        }
        if (is_needed) {
            RSDK_APPEND(c->arena, &result->directories, all->items[k], c->error);
        }
    }
    return RSDK_OK;
}

/* Find the HIP outside the SDK that a trial brings in. *path is NULL where there is none. */
static rsdk_status find_hip(check *c, const rsdk_link_trial *trial, const char **path) {
    *path = NULL;
    for (size_t i = 0; *path == NULL && i < trial->members.count; i++) {
        const rsdk_host_object *o = trial->members.items[i]->object;
        const char *name = o->file.soname != NULL ? o->file.soname : rsdk_path_name(o->path);
        const char *own = NULL;
        if (i > 0 && rsdk_soname_has_linker_name(name, hip_name)) {
            RSDK_TRY(rsdk_host_places_find_in_sdk(&c->places, name, &own, c->error));
            *path = is_same_file(o, own) ? NULL : o->path;
        }
    }
    return RSDK_OK;
}

/* Return whether Python imports the file by its name. Source: PEP 3149, PEP 489. */
static bool is_module(const rsdk_host_object *o) {
    const char *name = rsdk_path_name(o->path);
    char symbol[NAME_MAX + sizeof "PyInit_"];
    uint32_t unused = 0;
    (void)snprintf(symbol, sizeof symbol, "PyInit_%.*s", (int)strcspn(name, "."), name);
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(symbol, NULL, RSDK_ELF_REFERENCE_CALL);
    return o->has_symbols && rsdk_elf_dynsym_find(&o->symbols, &wanted, &unused);
}

/* Try a file in the process that c->process describes, and fill in the outcome. */
static rsdk_status try_file(check *c, rsdk_host_object *o, rsdk_host_file *result) {
    rsdk_link_trial trial;
    rsdk_code code = RSDK_NO_CODE;
    *result = (rsdk_host_file){.path = o->path,
                               .soname = o->file.soname,
                               .is_program = o->file.is_program,
                               .is_module = is_module(o),
                               .fault = rsdk_host_object_refusal(o, !o->file.is_program, &code)};
    result->fault_code = result->fault != NULL ? code : RSDK_NO_CODE;
    RSDK_TRY(rsdk_link_trial_run(&c->process, o, &trial, c->error));
    RSDK_TRY(place_needs(c, o, &trial, result));
    RSDK_TRY(place_unfound(c, &trial, result));
    RSDK_TRY(note_directories(c, &trial, result));
    RSDK_TRY(find_hip(c, &trial, &result->own_hip));
    for (size_t i = 0; i < trial.members.count && result->audit == NULL; i++) {
        result->audited = trial.members.items[i]->object->path;
        result->audit = trial.members.items[i]->object->file.audit;
    }
    return rsdk_host_symbols_find_absent(&c->process, &trial, &result->lacks, c->error);
}

static rsdk_status init(check *c) {
    RSDK_TRY(rsdk_link_map_read(c->arena, &c->map, c->error));
    RSDK_TRY(rsdk_linker_search_init(c->arena, &c->map, &c->search, c->error));
    c->search.is_passed_over = rsdk_host_objects_is_passed_over;
    c->search.context = &c->objects;
    c->search.unpacked = c->asked->unpacked;
    c->search.site = c->asked->site;
    c->objects.is_python = c->asked->is_python;
    c->places.objects = &c->objects;
    c->places.search = &c->search;
    for (size_t i = 0; i < c->asked->library_count; i++) {
        RSDK_TRY(rsdk_host_places_add_library(&c->places, c->asked->libraries[i], c->error));
    }
    for (size_t i = 0; i < c->asked->file_count; i++) {
        RSDK_TRY(rsdk_host_places_add_own(&c->places, c->asked->files[i], c->error));
    }
    for (size_t i = 0; i < c->asked->beside_count; i++) {
        RSDK_TRY(rsdk_host_places_add_own(&c->places, c->asked->beside[i], c->error));
    }
    return RSDK_OK;
}

/* Start a process with the libraries that all of them have opened. */
static rsdk_status start_process(check *c) {
    const rsdk_host_object *unused = NULL;
    rsdk_trial_process_start(&c->process, &c->objects, &c->search);
    for (size_t i = 0; i < c->asked->loaded_count; i++) {
        RSDK_TRY(rsdk_trial_process_load(&c->process, c->asked->loaded[i], &unused, c->error));
    }
    return RSDK_OK;
}

static rsdk_status measure(check *c, const rsdk_host_file *file, rsdk_host_outcome *result) {
    *result = (rsdk_host_outcome){.is_known = true, .unfound = file->unfound.count, .lacks = file->lacks.count};
    for (size_t i = 0; i < file->unfound.count; i++) {
        const char *path = NULL;
        RSDK_TRY(rsdk_host_places_find_in_sdk(&c->places, file->unfound.items[i].need.name, &path, c->error));
        result->of_sdk += path != NULL;
    }
    return RSDK_OK;
}

/* Compare two outcomes; below 0: less lacks in the first process. Symbols are looked for where all libraries are
 * there. */
static int compare(const rsdk_host_outcome *one, const rsdk_host_outcome *other) {
    const size_t pairs[][2] = {
        {one->of_sdk, other->of_sdk}, {one->unfound, other->unfound}, {one->lacks, other->lacks}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][0] != pairs[i][1]) {
            return pairs[i][0] < pairs[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static rsdk_status try_all_alone(check *c, rsdk_host_files *result) {
    RSDK_TRY(start_process(c));
    for (size_t i = 0; i < c->asked->file_count; i++) {
        rsdk_host_file row;
        rsdk_host_object *o = NULL;
        RSDK_TRY(rsdk_host_objects_find(&c->objects, c->asked->files[i], &o, c->error));
        if (o->is_other) {
            continue;
        }
        RSDK_TRY(try_file(c, o, &row));
        for (size_t k = 0; k < row.unfound.count; k++) {
            RSDK_APPEND(c->arena, &row.unfound_alone, row.unfound.items[k].need.name, c->error);
        }
        RSDK_TRY(measure(c, &row, &row.alone));
        RSDK_APPEND(c->arena, &result->list, row, c->error);
    }
    return RSDK_OK;
}

/* ---- with the SDK ---- */

/* Find the library of the SDK that the loader takes for a name. */
static rsdk_status find_to_load(check *c, const char *name, bool is_for_files, const char **path) {
    RSDK_TRY(rsdk_host_places_find_in_sdk(&c->places, name, path, c->error));
    *path = *path != NULL && rsdk_library_is_searched(*path, is_for_files) ? *path : NULL;
    return RSDK_OK;
}

/* Load a library of the SDK and its needs of the SDK, as the planner does. */
static rsdk_status load_of_sdk(check *c, const char *path, bool is_for_files) {
    rsdk_strings pending = {0};
    RSDK_APPEND(c->arena, &pending, path, c->error);
    for (size_t i = 0; i < pending.count; i++) {
        const rsdk_host_object *o = NULL;
        RSDK_TRY(rsdk_trial_process_load(&c->process, pending.items[i], &o, c->error));
        for (size_t k = 0; o != NULL && k < o->file.needed.count && k < NEEDS_LIMIT; k++) {
            const char *needed = NULL;
            RSDK_TRY(find_to_load(c, o->file.needed.items[k], is_for_files, &needed));
            if (needed != NULL) {
                RSDK_APPEND(c->arena, &pending, needed, c->error);
            }
        }
    }
    return RSDK_OK;
}

/* Find the library of the SDK with a shortname that defines a symbol, for all if the loader makes it global; *path is
 * NULL where none does. */
static rsdk_status find_definer(check *c, const char *symbol, bool is_for_all, const char **path) {
    const rsdk_elf_wanted wanted = rsdk_elf_dynsym_wanted(symbol, NULL, RSDK_ELF_REFERENCE_CALL);
    *path = NULL;
    for (size_t i = 0; *path == NULL && i < c->asked->library_count; i++) {
        const char *library = c->asked->libraries[i], *name = rsdk_path_name(library);
        rsdk_host_object *o = NULL;
        uint32_t unused = 0;
        if (rsdk_catalog_find_file(name) == NULL || !rsdk_library_is_searched(library, false) ||
            (is_for_all && rsdk_interposition_keeps_local(name))) {
            continue;
        }
        RSDK_TRY(rsdk_host_objects_find(&c->objects, library, &o, c->error));
        *path = o->has_symbols && rsdk_elf_dynsym_find(&o->symbols, &wanted, &unused) ? library : NULL;
    }
    return RSDK_OK;
}

/* Load a library of the SDK (path NULL: none); *is_more: something was loaded, which is noted in `loaded`. */
static rsdk_status load_noted(check *c, const char *path, rsdk_strings *loaded, bool *is_more) {
    const size_t before = c->process.loaded.count;
    RSDK_TRY(path != NULL ? load_of_sdk(c, path, false) : RSDK_OK);
    if (c->process.loaded.count > before) {
        *is_more = true;
        RSDK_APPEND(c->arena, loaded, path, c->error);
    }
    return RSDK_OK;
}

/* Load libraries that files do not find, and those with symbols that they lack. */
static rsdk_status load_unfound(check *c, const rsdk_host_file *file, rsdk_host_files *result, bool *is_more) {
    for (size_t i = 0; i < file->unfound.count; i++) {
        const char *path = NULL;
        RSDK_TRY(find_to_load(c, file->unfound.items[i].need.name, false, &path));
        RSDK_TRY(load_noted(c, path, &result->preloaded, is_more));
    }
    /* Load libraries with the symbols that a file lacks, and that no version binds to a library. */
    for (size_t i = 0; file->unfound.count == 0 && i < file->lacks.list.count; i++) {
        const rsdk_host_lack *lack = &file->lacks.list.items[i];
        const char *path = NULL;
        if (lack->name != NULL && lack->library == NULL) {
            RSDK_TRY(find_definer(c, lack->name, true, &path));
            RSDK_TRY(load_noted(c, path, &result->preloaded, is_more));
        }
    }
    return RSDK_OK;
}

/* The rows of files that do not load by themselves, in another process. */
typedef struct retried {
    size_t *rows; /* indexes of result->list */
    rsdk_host_file *files;
    size_t count;
} retried;

static rsdk_status list_failing(check *c, const rsdk_host_files *result, bool takes_programs, retried *again) {
    *again = (retried){.rows = rsdk_arena_alloc(c->arena, result->list.count + 1, sizeof *again->rows),
                       .files = rsdk_arena_alloc(c->arena, result->list.count + 1, sizeof *again->files)};
    if (again->rows == NULL || again->files == NULL) {
        return rsdk_fail_no_memory(c->error);
    }
    for (size_t i = 0; i < result->list.count; i++) {
        const rsdk_host_file *file = &result->list.items[i];
        bool fails = file->fault == NULL && (file->unfound.count > 0 || file->lacks.count > 0);
        if (fails && (takes_programs || !file->is_program)) {
            again->rows[again->count] = i;
            again->files[again->count++] = *file;
        }
    }
    return RSDK_OK;
}

static rsdk_status retry(check *c, retried *again) {
    for (size_t i = 0; i < again->count; i++) {
        rsdk_host_object *o = NULL;
        RSDK_TRY(rsdk_host_objects_find(&c->objects, again->files[i].path, &o, c->error));
        RSDK_TRY(try_file(c, o, &again->files[i]));
    }
    return RSDK_OK;
}

/* Return the best outcome of a file so far. */
static const rsdk_host_outcome *best_of(const rsdk_host_file *file) {
    const rsdk_host_outcome *best = &file->alone;
    for (size_t i = 0; i < RSDK_AID_COUNT; i++) {
        best = file->aided[i].is_known && compare(&file->aided[i], best) < 0 ? &file->aided[i] : best;
    }
    return best;
}

/* Take rows of another process where less lacks in it, or where, in a new process, the walk comes further by its
 * directories. */
static rsdk_status take(check *c, const retried *again, rsdk_aid aid, rsdk_host_files *result) {
    for (size_t i = 0; i < again->count; i++) {
        rsdk_host_file *row = &result->list.items[again->rows[i]], tried = again->files[i];
        rsdk_host_outcome outcome;
        RSDK_TRY(measure(c, &tried, &outcome));
        bool goes_on = aid == RSDK_AID_RUN && !c->asked->is_installed && tried.directories.count > 0;
        bool is_better = compare(&outcome, best_of(row)) < (goes_on ? 1 : 0);
        row->aided[aid] = outcome;
        if (is_better) {
            memcpy(tried.aided, row->aided, sizeof tried.aided);
            tried.unfound_alone = row->unfound_alone;
            tried.own_hip = row->own_hip;
            tried.alone = row->alone;
            *row = tried;
        }
    }
    return RSDK_OK;
}

/* Try the files in a process in which rocm_sdk has loaded the libraries that they do not find. The process is asked
 * again with further libraries of the SDK that are needed then. *is_possible: all of these have shortnames. */
static rsdk_status try_shortnames(check *c, rsdk_host_files *result, retried *again, bool *is_possible) {
    RSDK_TRY(start_process(c));
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (size_t i = 0; i < again->count; i++) {
            RSDK_TRY(load_unfound(c, &again->files[i], result, &is_more));
        }
        if (is_more) {
            RSDK_TRY(retry(c, again));
        }
    }
    *is_possible = true;
    for (size_t i = 0; i < result->preloaded.count; i++) {
        *is_possible = *is_possible && rsdk_catalog_find_file(rsdk_path_name(result->preloaded.items[i])) != NULL;
    }
    return RSDK_OK;
}

static rsdk_status load_needed(void *context, const char *name, rsdk_error *error) {
    check *c = context;
    const char *path = NULL;
    (void)error; /* c->error */
    RSDK_TRY(find_to_load(c, name, true, &path));
    return path != NULL ? load_of_sdk(c, path, true) : RSDK_OK;
}

/* Try the files in a process that was started with the directories of the SDK. */
static rsdk_status try_run(check *c, retried *again) {
    const rsdk_strings inherited = c->search.library_path;
    c->search.library_path = (rsdk_strings){0};
    for (size_t i = 0; i < c->asked->directory_count; i++) {
        RSDK_APPEND(c->arena, &c->search.library_path, c->asked->directories[i], c->error);
    }
    for (size_t i = 0; i < inherited.count; i++) {
        RSDK_APPEND(c->arena, &c->search.library_path, inherited.items[i], c->error);
    }
    RSDK_TRY(start_process(c));
    RSDK_TRY(retry(c, again));
    c->search.library_path = inherited;
    return RSDK_OK;
}

/* Find the files that bring in a HIP from outside the SDK although the process has the SDK's. */
static rsdk_status find_outside_hips(check *c, rsdk_host_files *result) {
    const char *runtime = NULL;
    bool is_loaded = false;
    for (size_t i = 0; c->asked->is_installed && i < result->list.count; i++) {
        rsdk_host_file *file = &result->list.items[i];
        rsdk_link_trial trial;
        rsdk_host_object *o = NULL;
        if (file->own_hip == NULL || file->is_program) {
            continue;
        }
        if (!is_loaded) {
            is_loaded = true;
            RSDK_TRY(start_process(c));
            RSDK_TRY(find_to_load(c, result->release.runtime != NULL ? result->release.runtime : "", false, &runtime));
            RSDK_TRY(runtime != NULL ? load_of_sdk(c, runtime, false) : RSDK_OK);
        }
        RSDK_TRY(rsdk_host_objects_find(&c->objects, file->path, &o, c->error));
        RSDK_TRY(rsdk_link_trial_run(&c->process, o, &trial, c->error));
        RSDK_TRY(runtime != NULL ? find_hip(c, &trial, &file->outside_hip) : RSDK_OK);
    }
    return RSDK_OK;
}

static rsdk_status try_with_sdk(check *c, rsdk_host_files *result) {
    retried by_shortnames = {0}, by_files = {0}, by_run = {0};
    bool is_possible = false;
    if (c->asked->library_count + c->asked->directory_count == 0) {
        return RSDK_OK;
    }
    RSDK_TRY(list_failing(c, result, false, &by_shortnames));
    RSDK_TRY(list_failing(c, result, true, &by_run));
    if (c->asked->is_installed && by_shortnames.count > 0) {
        RSDK_TRY(try_shortnames(c, result, &by_shortnames, &is_possible));
        RSDK_TRY(is_possible ? take(c, &by_shortnames, RSDK_AID_SHORTNAMES, result) : RSDK_OK);
        RSDK_TRY(list_failing(c, result, false, &by_files));
        /* Try the files in a process in which preload_for has loaded all libraries that the files need and the SDK has,
         * even if they find them. */
        RSDK_TRY(start_process(c));
        c->process.load_first = load_needed;
        c->process.context = c;
        RSDK_TRY(retry(c, &by_files));
        c->process.load_first = NULL;
        RSDK_TRY(retry(c, &by_files));
        RSDK_TRY(take(c, &by_files, RSDK_AID_FILES, result));
    }
    RSDK_TRY(try_run(c, &by_run));
    RSDK_TRY(take(c, &by_run, RSDK_AID_RUN, result));
    for (size_t i = 0; i < result->list.count; i++) {
        rsdk_host_file *file = &result->list.items[i];
        const rsdk_host_outcome best = *best_of(file);
        for (size_t k = 0; k < RSDK_AID_COUNT; k++) {
            file->is_served[k] =
                file->aided[k].is_known && compare(&file->aided[k], &best) == 0 && compare(&best, &file->alone) < 0;
        }
    }
    for (size_t i = 0; i < result->list.count; i++) {
        rsdk_host_lacks *lacks = &result->list.items[i].lacks;
        for (size_t k = 0; k < lacks->list.count; k++) {
            rsdk_host_lack *lack = &lacks->list.items[k];
            if (lack->name != NULL && lack->library == NULL) {
                RSDK_TRY(find_definer(c, lack->name, false, &lack->definer));
            }
        }
    }
    return RSDK_OK;
}

rsdk_status rsdk_host_check_run(const rsdk_host_check *asked, rsdk_arena *arena, rsdk_host_files *result,
                                rsdk_error *error) {
    check c = {.asked = asked, .arena = arena, .error = error, .objects.arena = arena};
    RSDK_TRY(init(&c));
    result->release.runtime = find_runtime(&c);
    RSDK_TRY(try_all_alone(&c, result));
    RSDK_TRY(try_with_sdk(&c, result));
    RSDK_TRY(find_outside_hips(&c, result));
    for (size_t i = 0; i < result->list.count; i++) {
        rsdk_host_object *o = NULL;
        RSDK_TRY(rsdk_host_objects_find(&c.objects, result->list.items[i].path, &o, error));
        /* Add the needs of a file. A file that brings a HIP of its own says nothing of the SDK. */
        const rsdk_host_file *file = &result->list.items[i];
        rsdk_other_release *found = &result->release;
        for (size_t j = 0; file->own_hip == NULL && j < file->needs.count; j++) {
            RSDK_TRY(add_need(&c, o->path, &file->needs.items[j], found));
        }
        for (size_t j = 0; file->own_hip == NULL && j < file->unfound.count; j++) {
            RSDK_TRY(add_need(&c, file->unfound.items[j].needing, &file->unfound.items[j].need, found));
        }
        if (o->has_symbols) {
            rsdk_other_release_add_versions(found, &o->symbols);
        }
    }
    /* A library that is missing because of the other release is no fault of its own. */
    for (size_t i = 0; rsdk_other_release_is(&result->release) && i < result->list.count; i++) {
        rsdk_host_file *file = &result->list.items[i];
        for (size_t k = 0; k < file->needs.count; k++) {
            explain(&result->release, &file->needs.items[k]);
        }
        for (size_t k = 0; k < file->unfound.count; k++) {
            explain(&result->release, &file->unfound.items[k].need);
        }
    }
    if (!needs_rocm(result)) {
        RSDK_TRY(find_opened(&c, result));
    }
    return find_variants(&c, result);
}
