/* Breadth first, entry by entry, as the linker maps files: a name that something mapped answers to is not looked for
 * again, so the order decides which of two files of one SONAME counts. */
#include "binding/host_objects.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

enum { NEEDS_LIMIT = 4096, MEMBER_LIMIT = 1024 };

/* Identities are compared byte by byte in the table of names. */
_Static_assert(sizeof(rsdk_file_identity) == sizeof(dev_t) + sizeof(ino_t), "no padding");

/* ---- the process ---- */

void rsdk_trial_process_start(rsdk_trial_process *process, rsdk_host_objects *objects, rsdk_linker_search *search) {
    bool is_first = process->number == 0;
    const rsdk_strings program_rpath = is_first ? search->program_rpath : process->program_rpath;
    *process = (rsdk_trial_process){
        .number = process->number + 1, .objects = objects, .search = search, .program_rpath = program_rpath};
}

static rsdk_status add_file(rsdk_name_table *files, const rsdk_host_object *o, rsdk_arena *arena, size_t place,
                            rsdk_error *error) {
    return rsdk_name_table_set(files, arena, &o->file.identity, sizeof o->file.identity, place, error);
}

static rsdk_status add_name(rsdk_name_table *names, const char *name, rsdk_arena *arena, size_t place,
                            rsdk_error *error) {
    size_t known = 0;
    if (name == NULL || rsdk_name_table_find(names, name, strlen(name), &known)) {
        return RSDK_OK; /* the one that was mapped first answers */
    }
    return rsdk_name_table_set(names, arena, name, strlen(name), place, error);
}

rsdk_status rsdk_trial_process_load(rsdk_trial_process *process, const char *path, const rsdk_host_object **added,
                                    rsdk_error *error) {
    rsdk_host_object *o = NULL;
    rsdk_arena *arena = process->objects->arena;
    size_t place = 0;
    *added = NULL;
    RSDK_TRY(rsdk_host_objects_find(process->objects, path, &o, error));
    if (!o->is_read || o->fault != NULL ||
        rsdk_name_table_find(&process->loaded_files, &o->file.identity, sizeof o->file.identity, &place)) {
        return RSDK_OK;
    }
    *added = o;
    process->number++;
    RSDK_TRY(add_name(&process->loaded_names, o->file.soname, arena, process->loaded.count, error));
    RSDK_TRY(add_file(&process->loaded_files, o, arena, process->loaded.count, error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(arena, &process->loaded, o, error);
    return RSDK_OK;
}

/* ---- members ---- */

const rsdk_host_object *rsdk_link_trial_named(const rsdk_link_trial *trial, const char *name) {
    size_t place = 0, length = strlen(name);
    if (rsdk_name_table_find(&trial->process->loaded_names, name, length, &place)) {
        return trial->process->loaded.items[place];
    }
    return rsdk_name_table_find(&trial->names, name, length, &place) ? trial->members.items[place]->object : NULL;
}

static rsdk_status add_member(rsdk_link_trial *trial, rsdk_host_object *o, const char *name, rsdk_search_rule rule,
                              const rsdk_load_chain *above, rsdk_error *error) {
    rsdk_arena *arena = trial->process->objects->arena;
    size_t place = trial->members.count;
    rsdk_trial_member *made = rsdk_arena_alloc(arena, 1, sizeof *made);
    RSDK_NEED(made, error);
    made->object = o;
    made->rule = rule;
    RSDK_TRY(rsdk_linker_search_start_chain(trial->process->search, &o->file, &made->chain, error));
    rsdk_load_chain_attach(&made->chain, above);
    trial->is_whole = trial->is_whole && o->has_symbols;
    RSDK_TRY(add_name(&trial->names, name, arena, place, error));
    RSDK_TRY(add_name(&trial->names, o->file.soname, arena, place, error));
    RSDK_TRY(add_file(&trial->files, o, arena, place, error));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    RSDK_APPEND(arena, &trial->members, made, error);
    return RSDK_OK;
}

/* Return whether glibc makes the stack executable for a library that is opened. It does not from 2.41 on, and has a
 * tunable for it from 2.42 on. */
static bool is_stack_made_executable(void) {
    const char *tunables = secure_getenv("GLIBC_TUNABLES");
    return strverscmp(gnu_get_libc_version(), "2.41") < 0 ||
           (tunables != NULL && strstr(tunables, "glibc.rtld.execstack=2") != NULL);
}

const char *rsdk_host_object_refusal(const rsdk_host_object *object, bool is_opened, rsdk_code *code) {
    const rsdk_elf_file *file = &object->file;
    *code = object->fault != NULL ? object->fault_code : RSDK_E_LIB_006;
    if (object->fault != NULL || object->is_other) {
        return object->fault != NULL ? object->fault : "no ELF file";
    }
    if (is_opened && file->wants_executable_stack && !is_stack_made_executable()) {
        *code = RSDK_E_LIB_015;
        return "cannot enable executable stack as shared object requires";
    }
    return is_opened && file->forbids_dlopen ? "shared object cannot be dlopen()ed" : NULL;
}

static rsdk_status add_unfound(rsdk_link_trial *trial, const rsdk_trial_member *by, const char *name, const char *fault,
                               rsdk_code code, rsdk_error *error) {
    const rsdk_unfound lack = {.by = by, .name = name, .fault = fault, .fault_code = code};
    trial->is_whole = false;
    RSDK_APPEND(trial->process->objects->arena, &trial->unfound, lack, error);
    return RSDK_OK;
}

/* Follow an object that the process has loaded, which is walked, too: if one of its needs lacked, it could not have
 * been loaded. */
static rsdk_status add_loaded(rsdk_link_trial *trial, size_t loaded, const char *name, rsdk_error *error) {
    rsdk_host_object *o = trial->process->loaded.items[loaded];
    size_t place = 0;
    return rsdk_name_table_find(&trial->files, &o->file.identity, sizeof o->file.identity, &place)
               ? add_name(&trial->names, name, trial->process->objects->arena, place, error)
               : add_member(trial, o, name, RSDK_RULE_NONE, NULL, error);
}

/* A file that the linker found for a name. */
typedef struct found {
    const char *path; /* NULL: none */
    rsdk_search_rule rule;
    bool is_system;
} found;

/* Take the file that the linker found for a name. A file that is mapped already gets a further name. An optional one is
 * left that is no ELF file, or may not be opened; a damaged one could end the process. */
static rsdk_status take_file(rsdk_link_trial *trial, const rsdk_trial_member *by, const char *name, const found *file,
                             bool is_optional, rsdk_error *error) {
    rsdk_arena *arena = trial->process->objects->arena;
    rsdk_host_object *o = NULL;
    size_t place = 0;
    RSDK_TRY(rsdk_host_objects_find(trial->process->objects, file->path, &o, error));
    const bool is_opened = !trial->members.items[0]->object->file.is_program;
    rsdk_code code = RSDK_NO_CODE;
    const char *fault = rsdk_host_object_refusal(o, is_opened, &code);
    fault = fault == NULL && o->file.is_program ? "cannot dynamically load executable" : fault;
    if (fault != NULL && is_optional && (o->fault == NULL || o->is_other)) {
        return RSDK_OK;
    }
    if (fault != NULL) {
        return add_unfound(trial, by, name, fault, code, error);
    }
    if (rsdk_name_table_find(&trial->process->loaded_files, &o->file.identity, sizeof o->file.identity, &place)) {
        return add_loaded(trial, place, name, error);
    }
    if (rsdk_name_table_find(&trial->files, &o->file.identity, sizeof o->file.identity, &place)) {
        return add_name(&trial->names, name, arena, place, error);
    }
    if (trial->members.count >= MEMBER_LIMIT) {
        return rsdk_fail(error, RSDK_BAD_ELF, file->path, "%s: needs more than %d libraries",
                         trial->members.items[0]->object->path, MEMBER_LIMIT);
    }
    o->is_system = o->is_system || file->is_system;
    return add_member(trial, o, name, file->rule, &by->chain, error);
}

/* Look where the linker looks for an entry of a member. */
static rsdk_status look(rsdk_link_trial *trial, const rsdk_trial_member *by, const char *name, found *file,
                        rsdk_error *error) {
    rsdk_linker_search *search = trial->process->search;
    const char *of_system = NULL;
    *file = (found){.is_system = by->object->is_system};
    if (strchr(name, '/') != NULL) {
        RSDK_TRY(rsdk_linker_search_fill_in(search->arena, name, by->object->path, &name, error));
    }
    if (name == NULL) {
        return RSDK_OK; /* a token whose value only the linker knows */
    }
    RSDK_TRY(rsdk_linker_search_find_by_rule(search, &by->chain, name, &file->path, &file->rule, error));
    if (trial->process->objects->is_out_of_memory) {
        return rsdk_fail_no_memory(error);
    }
    if (file->path != NULL && strchr(name, '/') == NULL) {
        RSDK_TRY(rsdk_linker_search_find_in_system(search, name, &of_system, error));
        file->is_system = file->is_system || (of_system != NULL && strcmp(file->path, of_system) == 0);
    }
    return RSDK_OK;
}

static rsdk_status follow(rsdk_link_trial *trial, const rsdk_trial_member *by, const char *name, bool is_optional,
                          rsdk_error *error) {
    found file;
    size_t place = 0;
    if (trial->process->load_first != NULL) {
        RSDK_TRY(trial->process->load_first(trial->process->context, name, error));
    }
    if (rsdk_name_table_find(&trial->process->loaded_names, name, strlen(name), &place)) {
        return add_loaded(trial, place, name, error);
    }
    if (rsdk_link_trial_named(trial, name) != NULL) {
        return RSDK_OK;
    }
    RSDK_TRY(look(trial, by, name, &file, error));
    if (file.path != NULL) {
        return take_file(trial, by, name, &file, is_optional, error);
    }
    return is_optional ? RSDK_OK : add_unfound(trial, by, name, NULL, RSDK_NO_CODE, error);
}

rsdk_status rsdk_link_trial_run(rsdk_trial_process *process, rsdk_host_object *root, rsdk_link_trial *result,
                                rsdk_error *error) {
    const rsdk_strings none = {0};
    *result = (rsdk_link_trial){.process = process, .is_whole = root->is_read};
    if (!root->is_read) {
        return RSDK_OK;
    }
    process->search->program_rpath = root->file.is_program ? none : process->program_rpath;
    RSDK_TRY(add_member(result, root, NULL, RSDK_RULE_NONE, NULL, error));
    for (size_t i = 0; i < result->members.count; i++) {
        const rsdk_trial_member *by = result->members.items[i];
        const rsdk_elf_file *file = &by->object->file;
        for (size_t k = 0; k < file->filtees.count; k++) {
            RSDK_TRY(follow(result, by, file->filtees.items[k].name, file->filtees.items[k].is_optional, error));
        }
        for (size_t k = 0; k < file->needed.count && k < NEEDS_LIMIT; k++) {
            RSDK_TRY(follow(result, by, file->needed.items[k], false, error));
        }
    }
    return RSDK_OK;
}
