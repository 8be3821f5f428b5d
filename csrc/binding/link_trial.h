/* The dynamic linker's treatment of a file, on paper: the files that it would bring in, in its order, and the names
 * that it would not find. Nothing is loaded and no program is started: libraries that a hostile file names for the
 * linker to run (DT_AUDIT) do not run. Source: _dl_map_object of glibc's elf/dl-load.c, elf/dl-deps.c,
 * elf/dl-version.c; the tests compare with the linker itself. */
#ifndef RSDK_BINDING_LINK_TRIAL_H
#define RSDK_BINDING_LINK_TRIAL_H

#include "binding/host_objects.h"
#include "loader/linker_search.h"

/* The process in which files are tried. */
typedef struct rsdk_trial_process {
    uint64_t number; /* among the processes of a check, from 1 on; it grows with the loaded libraries */
    rsdk_host_objects *objects;
    rsdk_linker_search *search;
    rsdk_strings program_rpath;                 /* the RPATH of the program that libraries are opened in */
    RSDK_LIST(rsdk_host_object *) loaded;       /* libraries that it has opened before, for all to see */
    rsdk_name_table loaded_names, loaded_files; /* SONAMEs and file identities -> places in `loaded` */
    rsdk_status (*load_first)(void *context, const char *name, rsdk_error *error); /* may load a library for a name that
                                                                                      is needed; NULL: nothing does */
    void *context;
} rsdk_trial_process;

/* A library that the linker does not find, or refuses. */
typedef struct rsdk_unfound {
    const char *needing; /* path of the file that needs it */
    const char *name;    /* the DT_NEEDED entry */
    const char *fault;   /* the reason why the linker refuses the file that it finds; NULL: it finds none */
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

/* Start another process, in which nothing was opened yet. `search` tells where it looks; `search` must outlive
 * *process, as `objects` must. */
void rsdk_trial_process_start(rsdk_trial_process *process, rsdk_host_objects *objects, rsdk_linker_search *search);

/* Add a library that the process has opened before, with RTLD_GLOBAL; a library that cannot be used is not added. The
 * library's needs have to be added by themselves. *added is NULL where the library was not added. */
rsdk_status rsdk_trial_process_load(rsdk_trial_process *process, const char *path, const rsdk_host_object **added,
                                    rsdk_error *error);

/* Try a file: a program is started, a library opened with dlopen(RTLD_NOW). The results live in the arena of
 * `objects`. */
rsdk_status rsdk_link_trial_run(rsdk_trial_process *process, rsdk_host_object *root, rsdk_link_trial *result,
                                rsdk_error *error);

/* Return the object that the linker takes for a DT_NEEDED entry of the members; NULL: none. */
const rsdk_host_object *rsdk_link_trial_named(const rsdk_link_trial *trial, const char *name);

#endif
