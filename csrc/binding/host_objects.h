/* The parts of a check of files that are not loaded (host_check.h): the ELF files, each read once however many others
 * need it; what the linker would do with one; which symbols and places are found. */
#ifndef RSDK_BINDING_HOST_OBJECTS_H
#define RSDK_BINDING_HOST_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/name_table.h"
#include "elf/elf_dynsym.h"
#include "elf/elf_file.h"
#include "loader/linker_search.h"
#include "rocm_sdk/error.h"

typedef struct rsdk_host_object {
    const char *path;
    rsdk_elf_file file;
    rsdk_elf_dynsym symbols;
    bool is_read, has_symbols;
    bool is_other;     /* the file is not an ELF file */
    bool is_system;    /* the linker found it in its cache or its default directories */
    const char *fault; /* the reason why the file cannot be loaded; NULL: none */
    rsdk_code fault_code;
    uint64_t settled_in;           /* the process for which `undefined` is known; 0: none */
    RSDK_LIST(uint32_t) undefined; /* symbols that it wants, and that the files which it brings in do not define */
} rsdk_host_object;

typedef struct rsdk_host_objects {
    rsdk_arena *arena;
    RSDK_LIST(rsdk_host_object *) list;
    rsdk_name_table places;     /* by path */
    rsdk_name_table identities; /* the first object of each file, by the file's identity */
    bool is_out_of_memory;      /* while rsdk_host_objects_is_passed_over read a file */
    bool is_python;             /* an interpreter of Python opens the files that are tried */
    bool has_interpreter;       /* it is known: this process's program, and what that needs */
    RSDK_LIST(rsdk_host_object *) interpreter;
} rsdk_host_objects;

/* Find the object of a path (borrowed), which is read at first use. A file that cannot be used has a fault. */
rsdk_status rsdk_host_objects_find(rsdk_host_objects *objects, const char *path, rsdk_host_object **found,
                                   rsdk_error *error);

/* Return whether the linker goes on behind the file at a path, which is read: the file is of another class or for
 * another machine, or this user may not read it. `objects` is a rsdk_host_objects. */
bool rsdk_host_objects_is_passed_over(void *objects, const char *path);

/* Return whether a symbol has to be defined by another file: the symbol is undefined, and not weak. */
bool rsdk_host_object_wants(const rsdk_host_object *object, uint32_t symbol);

/* The dynamic linker's treatment of a file, on paper: the files that it would bring in, in its order, and the names
 * that it would not find. Nothing is loaded and no program is started: libraries that a hostile file names for the
 * linker to run (DT_AUDIT) do not run. Source: _dl_map_object of glibc's elf/dl-load.c, elf/dl-deps.c,
 * elf/dl-version.c; the tests compare with the linker itself. */

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

typedef struct rsdk_trial_member {
    rsdk_host_object *object;
    rsdk_load_chain chain;
    rsdk_search_rule rule; /* NONE: the file that is tried, or one that the process has loaded */
} rsdk_trial_member;

/* A library that the linker does not find, or refuses. */
typedef struct rsdk_unfound {
    const rsdk_trial_member *by; /* the file that needs it */
    const char *name;            /* the DT_NEEDED entry */
    const char *fault;           /* the reason why the linker refuses the file that it finds; NULL: it finds none */
    rsdk_code fault_code;
} rsdk_unfound;

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

/* Return why the linker refuses a file, whatever else is there, as a library of a program that is started, or
 * (is_opened) of one that runs; NULL: it takes the file. */
const char *rsdk_host_object_refusal(const rsdk_host_object *object, bool is_opened, rsdk_code *code);

/* Return the object that the linker takes for a DT_NEEDED entry of the members; NULL: none. */
const rsdk_host_object *rsdk_link_trial_named(const rsdk_link_trial *trial, const char *name);

/* The symbols and versions that are missing for a file that is tried on paper. */

/* A symbol that no library defines, or a version that a library does not have. */
typedef struct rsdk_host_lack {
    const char *needing; /* path of the file that lacks it: the file that is tried, or one that it brings in */
    const char *name, *version,
        *library;        /* name: NULL, the version lacks altogether. The others: NULL, none is named */
    const char *definer; /* a library of the SDK that has the symbol, and that is not named; NULL: none is known */
} rsdk_host_lack;

typedef struct rsdk_host_lacks {
    RSDK_LIST(rsdk_host_lack) list; /* the first few */
    size_t count;
    const char *borrowed; /* a library of the interpreter that alone has a symbol which is wanted; NULL: none */
} rsdk_host_lacks;

/* Add the symbols and versions that the members of a trial lack. A symbol is said to be absent only if all files that
 * could have it are known: a plug-in whose host is not here would otherwise be blamed for the symbols of its host. */
rsdk_status rsdk_host_symbols_find_absent(rsdk_trial_process *process, const rsdk_link_trial *trial,
                                          rsdk_host_lacks *lacks, rsdk_error *error);

/* The places of the libraries that files need: among the files, in an SDK, on this system. A trial (link_trial.c)
 * answers another question, whether the linker gets there: a name may be a file's own, and no RPATH lead to it. */

typedef enum rsdk_need_place {
    RSDK_PLACE_BUNDLED,       /* among the files that are checked */
    RSDK_PLACE_SDK,           /* in the SDK */
    RSDK_PLACE_OTHER_VERSION, /* in the SDK under another SONAME */
    RSDK_PLACE_RPATH,         /* elsewhere, where the RPATH or RUNPATH of the file leads */
    RSDK_PLACE_SYSTEM,
    RSDK_PLACE_BESIDE,        /* beside a file that is loaded with it, or where the paths of such a file lead */
    RSDK_PLACE_OTHER_RELEASE, /* nowhere, as the SDK is of another release than the files are for */
    RSDK_PLACE_NOWHERE,
} rsdk_need_place;

/* A needed library. */
typedef struct rsdk_host_need {
    const char *name; /* the DT_NEEDED entry */
    rsdk_need_place place;
    const char *path; /* NULL: nowhere */
} rsdk_host_need;

/* Return the value as a word, in lower case but for abbreviations: "bundled", "SDK". */
const char *rsdk_need_place_name(rsdk_need_place place);

typedef struct rsdk_host_places {
    rsdk_host_objects *objects;
    rsdk_linker_search *search;
    rsdk_strings own, libraries; /* files of the package that is checked, of the SDK: paths, borrowed */
    rsdk_name_table own_names, library_names, linker_names; /* names -> places in `own`, in `libraries` */
} rsdk_host_places;

/* Add a file of the package: the file is told by its name, and by its SONAME, which the linker knows where the file is
 * opened. */
rsdk_status rsdk_host_places_add_own(rsdk_host_places *places, const char *path, rsdk_error *error);

/* Add a library of the SDK, or a link to one. */
rsdk_status rsdk_host_places_add_library(rsdk_host_places *places, const char *path, rsdk_error *error);

/* Find the library of the SDK that answers to a name in a process that has opened it: by its file name, or by its
 * SONAME where the file has another version of the name or none. *path is NULL where there is none. */
rsdk_status rsdk_host_places_find_in_sdk(rsdk_host_places *places, const char *name, const char **path,
                                         rsdk_error *error);

/* Fill in the place of a library that the file of a chain needs (NULL: an unknown file does). */
rsdk_status rsdk_host_places_find(rsdk_host_places *places, const rsdk_load_chain *chain, rsdk_host_need *need,
                                  rsdk_error *error);

/* Libraries of which a package carries one for each back end (CUDA, HIP, ...), to load one of them. */

/* A file of a package. The caller sets the first two. */
typedef struct rsdk_variant {
    const char *path;
    bool is_needed;       /* another file of the package needs it */
    const char *back_end; /* the word in its name, "cuda"; NULL: it is no variant */
    bool is_for_rocm;
    int group; /* the number of the files of which one is loaded; -1: it is no variant */
} rsdk_variant;

/* Find the variants. The files of one group are in one directory, have one name when the word of the back end and the
 * digits behind it are cut out, and none of them is needed: a needed file is loaded together with others. A group has
 * at least two files, and one for ROCm. */
rsdk_status rsdk_variants_find(rsdk_variant *const *files, size_t count, rsdk_arena *arena, rsdk_error *error);

#endif
