/* The check whether files that are not loaded would find their needs, libraries, symbols and versions, in a process
 * that is described; and where these libraries are: in an SDK, among the files themselves, on this system. Nothing is
 * loaded. */
#ifndef RSDK_BINDING_HOST_CHECK_H
#define RSDK_BINDING_HOST_CHECK_H

#include "base/arena.h"
#include "binding/host_objects.h"
#include "loader/other_release.h"
#include "rocm_sdk/error.h"

/* A library that the linker would not find, or that it would refuse. */
typedef struct rsdk_host_unfound {
    const char *needing; /* path of the file that needs it: the one that is checked, or one that this brings in */
    rsdk_host_need need; /* with a place: where a library of this name lies, and the linker does not look */
    const char *fault;   /* the reason why the linker refuses the file that it finds; NULL: it finds none */
    rsdk_code fault_code;
    rsdk_strings absent; /* directories of the RPATH or RUNPATH of `needing` that do not exist */
} rsdk_host_unfound;

/* A process that an SDK serves. */
typedef enum rsdk_aid {
    RSDK_AID_SHORTNAMES, /* the process has loaded libraries of the SDK by their shortnames: initialize_process */
    RSDK_AID_FILES,      /* the process has loaded the file's needs of the SDK: preload_for */
    RSDK_AID_RUN,        /* the process was started with the SDK's directories: rocm-sdk run */
    RSDK_AID_COUNT,
} rsdk_aid;

/* The count of missing libraries, symbols and versions in a process. */
typedef struct rsdk_host_outcome {
    bool is_known;                 /* the process was tried */
    size_t of_sdk, unfound, lacks; /* libraries that the SDK has, all that are not found; symbols and versions */
} rsdk_host_outcome;

/* A file that was checked. */
typedef struct rsdk_host_file {
    const char *path, *soname;
    bool is_program, is_module; /* a module that Python imports by the file's name: the file defines PyInit_NAME */
    const char *fault;          /* the file cannot be read, or is for another machine; NULL: neither */
    rsdk_code fault_code;
    RSDK_LIST(rsdk_host_need) needs;
    RSDK_LIST(rsdk_host_unfound) unfound; /* libraries that it or its members need: with one it does not load */
    rsdk_strings unfound_alone;           /* names: the same where no SDK helps */
    rsdk_host_outcome alone, aided[RSDK_AID_COUNT];
    bool is_served[RSDK_AID_COUNT]; /* least lacks with this aid, and less than alone */
    rsdk_strings directories; /* of LD_LIBRARY_PATH, in its order: the linker finds a library there, the SDK's or not */
    const char *own_hip;      /* the path of the HIP that it brings in by itself, outside the SDK; NULL: none */
    const char *outside_hip;  /* the same in a process that has loaded the SDK's HIP: two HIPs; NULL: none */
    rsdk_host_lacks lacks;
    const char *audited, *audit; /* the file that names libraries for the linker to run (DT_AUDIT): it, or one that it
                                    brings in; and these. NULL: none does */
    rsdk_variant variant;
} rsdk_host_file;

typedef struct rsdk_host_files {
    RSDK_LIST(rsdk_host_file) list;
    rsdk_strings preloaded;     /* the libraries of the SDK that have to be loaded by shortnames */
    rsdk_other_release release; /* the needs of all files for a release of the SDK */
    RSDK_LIST(rsdk_host_need)
    opened; /* libraries of ROCm that are named in the files' constants, which they may open;
               none if a file has a DT_NEEDED entry for one of ROCm */
} rsdk_host_files;

typedef struct rsdk_host_check {
    const char *const *files; /* the files to check */
    size_t file_count;
    const char *const *beside; /* files of the same package, not to check */
    size_t beside_count;
    const char *const *libraries; /* all shared libraries of the SDK, by their paths, links among them */
    size_t library_count;
    bool is_installed;              /* the SDK is: rocm_sdk can load its libraries into a process */
    const char *const *directories; /* directories of the SDK, with which a program can be started: LD_LIBRARY_PATH */
    size_t directory_count;
    const char *const *loaded; /* libraries that each of the processes has opened before, with all their needs */
    size_t loaded_count;
    bool is_python;              /* an interpreter of Python opens the files: what it needs itself is in the process */
    const char *unpacked, *site; /* the files lie below `unpacked`, and will be installed in `site`; NULL: they stay */
} rsdk_host_check;

/* Fill `result`, a row for each file in their order, without files that are not ELF files. A file is tried by itself in
 * this process's surroundings, and if that fails in a process in which rocm_sdk has loaded the file's needs of the SDK,
 * and in a process that was started with the SDK's directories; the row is of the process where least lacks. Results
 * live in `arena`. */
rsdk_status rsdk_host_check_run(const rsdk_host_check *asked, rsdk_arena *arena, rsdk_host_files *result,
                                rsdk_error *error);

/* Names without version by which files open libraries of ROCm, and the files that a plain dlopen finds by them. */

typedef struct rsdk_seen_name {
    const char *opener; /* NULL: none of the files that were asked about */
    const char *name;   /* "libamd_smi.so" */
    const char *path;   /* the file that the linker finds for the opener; NULL: none */
} rsdk_seen_name;

typedef RSDK_LIST(rsdk_seen_name) rsdk_opened_names;

/* Add a row for each such name among the constants of files, except a file's own name, and for each of `names`, which
 * somebody opens. A file that is not an ELF file has no row. Nothing is loaded. */
rsdk_status rsdk_opened_names_find(const char *const *files, size_t file_count, const char *const *names,
                                   size_t name_count, rsdk_arena *arena, rsdk_opened_names *found, rsdk_error *error);

#endif
