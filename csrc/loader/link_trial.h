/* What the dynamic linker would do with a file, on paper: the files that it would bring in, in its order, and what it
 * would not find. Nothing is loaded and no program is started: what a hostile file names for the linker to run
 * (DT_AUDIT) does not run. Source: _dl_map_object of glibc's elf/dl-load.c, elf/dl-deps.c, elf/dl-version.c; the tests
 * compare with the linker itself. */
#ifndef RSDK_LOADER_LINK_TRIAL_H
#define RSDK_LOADER_LINK_TRIAL_H

#include "loader/host_objects.h"
#include "loader/linker_search.h"

/* The process in which files are tried. */
typedef struct rsdk_trial_process {
    uint64_t number; /* among the processes of a check, from 1 on; it grows with what is loaded */
    rsdk_host_objects *objects;
    rsdk_linker_search *search;
    rsdk_strings program_rpath;                 /* of the program that libraries are opened in */
    RSDK_LIST(rsdk_host_object *) loaded;       /* what it has opened before, for all to see */
    rsdk_name_table loaded_names, loaded_files; /* SONAMEs and file identities -> places in `loaded` */
    rsdk_status (*load_first)(void *context, const char *name, rsdk_error *error); /* may load a library for a name that
                                                                                      is needed; NULL: nothing does */
    void *context;
} rsdk_trial_process;

/* A library that the linker does not find, or refuses. */
typedef struct rsdk_unfound {
    const char *needing; /* path of the file that needs it */
    const char *name;    /* its DT_NEEDED entry */
    const char *fault;   /* why the linker refuses the file that it finds; NULL: it finds none */
    rsdk_code fault_code;
} rsdk_unfound;

typedef struct rsdk_trial_member {
    rsdk_host_object *object;
    rsdk_load_chain chain;
} rsdk_trial_member;

typedef struct rsdk_link_trial {
    const rsdk_trial_process *process;
    RSDK_LIST(rsdk_trial_member *) members; /* the file that is tried, and all that the linker adds */
    RSDK_LIST(rsdk_unfound) unfound;
    rsdk_name_table names, files; /* names that the linker knows members by, file identities -> places in `members` */
    bool is_whole;                /* all of it is there and can be read */
} rsdk_link_trial;

/* Another process, in which nothing was opened yet. `search` tells where it looks; it must outlive *process, as
 * `objects` must. */
void rsdk_trial_process_start(rsdk_trial_process *process, rsdk_host_objects *objects, rsdk_linker_search *search);

/* Adds a library that the process has opened before, with RTLD_GLOBAL; one that cannot be used is not added. What it
 * needs has to be added by itself. *added is NULL where it was not added. */
rsdk_status rsdk_trial_process_load(rsdk_trial_process *process, const char *path, const rsdk_host_object **added,
                                    rsdk_error *error);

/* Tries a file: a program is started, a library opened with dlopen(RTLD_NOW). The results live in the arena of
 * `objects`. */
rsdk_status rsdk_link_trial_run(rsdk_trial_process *process, rsdk_host_object *root, rsdk_link_trial *result,
                                rsdk_error *error);

/* What the linker takes for a DT_NEEDED entry of the members; NULL: nothing. */
const rsdk_host_object *rsdk_link_trial_named(const rsdk_link_trial *trial, const char *name);

#endif
