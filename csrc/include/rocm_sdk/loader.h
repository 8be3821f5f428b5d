/* Finding, ordering and preloading the libraries of an SDK.
 *
 *     const char *names[] = {"amdhip64", "hipsparse"};
 *     rsdk_load_options options = {.shortnames = names, .shortname_count = 2, .is_global = true};
 *     rsdk_loaded *loaded = NULL;
 *     if (rsdk_loader_preload(sdk, &options, &loaded, &error) != RSDK_OK) { puts(rsdk_error_message(&error)); }
 *     void *hip = rsdk_loaded_library(loaded, 0)->handle;
 *     rsdk_loaded_free(loaded);              // the libraries stay loaded, for good
 *
 * Libraries are loaded under one process-wide lock; the list of loaded libraries is read from the process's link map
 * each time. fork() in another thread waits for a running load, and for a moment while the link map is read. */
#ifndef ROCM_SDK_LOADER_H
#define ROCM_SDK_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "rocm_sdk/error.h"
#include "rocm_sdk/sdk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The way in which a library's file was found. */
typedef enum rsdk_found_via {
    RSDK_FOUND_BY_FILE_NAME, /* the file's name matches the catalog's pattern */
    RSDK_FOUND_BY_SONAME,    /* no name matches; a file with a matching SONAME was there: it has been renamed */
    RSDK_FOUND_BY_NEED,      /* a DT_NEEDED entry or a dlopen dependency leads to it */
    RSDK_FOUND_BY_OVERRIDE,  /* the caller names the file: rsdk_sdk_options.overrides */
    RSDK_FOUND_BY_FALLBACK,  /* by its name, in a ROCm that is not installed as packages */
    RSDK_ABSENT_OPTIONAL,    /* not there, and optional in the catalog */
    RSDK_ABSENT_DECLARED,    /* not there, and the SDK says that it was built without */
} rsdk_found_via;

/* Return the value as a word: "file name", "SONAME", "need", "override", "fallback", "absent (optional)", "absent
 * (declared)". */
const char *rsdk_loader_found_via_name(rsdk_found_via found_via);

/* The place of a library. */
typedef struct rsdk_location {
    const char *shortname; /* NULL: a file of the SDK without one */
    const char *path;      /* NULL: absent, see found_via */
    const char *soname;    /* NULL: absent, or a file without SONAME */
    rsdk_package_id package;
    rsdk_found_via found_via;
} rsdk_location;

/* Find one library; texts are borrowed from the SDK. RSDK_UNKNOWN_LIBRARY, RSDK_PACKAGE_NOT_INSTALLED or
 * RSDK_FILE_NOT_FOUND. */
rsdk_status rsdk_loader_locate(rsdk_sdk *sdk, const char *shortname, rsdk_location *location, rsdk_error *error);

/* Find several libraries: `locations` must hold `count`, and is empty after an error. The error names every package
 * that is missing. */
rsdk_status rsdk_loader_locate_all(rsdk_sdk *sdk, const char *const *shortnames, size_t count, rsdk_location *locations,
                                   rsdk_error *error);

/* The libraries that dlopen("libx.so") finds where they are loaded as libx.so.1. */
typedef enum rsdk_unversioned_names {
    RSDK_UNVERSIONED_KNOWN, /* libraries that programs are known to open by such a name */
    RSDK_UNVERSIONED_ALL,   /* libraries that are asked for, and libraries that these open at run time */
    RSDK_UNVERSIONED_NONE,
} rsdk_unversioned_names;

/* The reading ahead of a load: the pages that it will touch are asked of the disk or file server at once, before the
 * linker asks for one page after the other. A page list, which lies beside the SDK, names these pages:
 * rsdk_loader_record_pages. Without a page list they are the pages that the linker reads of each library, where a page
 * takes longer than disks need. */
typedef enum rsdk_read_ahead_wish {
    RSDK_READ_AHEAD_IF_COLD,        /* once a file has to be brought; threads ask beside the load */
    RSDK_READ_AHEAD_NEVER,          /* no */
    RSDK_READ_AHEAD_ALWAYS,         /* without a look at whether files are in memory */
    RSDK_READ_AHEAD_WITHOUT_THREAD, /* as RSDK_READ_AHEAD_IF_COLD; the caller's thread asks, before it loads */
} rsdk_read_ahead_wish;

/* The libraries to load, and how. Absent libraries (rsdk_found_via) are skipped. */
typedef struct rsdk_load_options {
    const char *const *shortnames;
    size_t shortname_count;
    /* ELF files, not of the SDK: the libraries of the SDK that they need, directly or through others, are loaded. */
    const char *const *files;
    size_t file_count;
    bool is_global;        /* RTLD_GLOBAL, except for libraries that must not be (rsdk_step.reason says why) */
    bool is_always_global; /* with is_global: also for these, with a warning, except for compiler libraries */
    rsdk_unversioned_names unversioned_names;
    const char *isolate; /* names to keep out of the global scope, with ',' between, or with ":deepbind" to open with
                            RTLD_DEEPBIND; NULL: none */
    /* NULL, or called before each dlopen, in the loading thread, lock held. */
    void (*report)(void *context, const char *line);
    void *report_context;
    double watch_seconds; /* > 0: a thread says on stderr which library has been loading for longer than that */
    bool is_new_process;  /* rsdk_plan_new: as if this process had loaded nothing */
    rsdk_read_ahead_wish read_ahead;
    const char *ld_preload; /* the value of LD_PRELOAD, by which a warning names it; NULL: not set */
} rsdk_load_options;

/* ---- the plan ---- */

typedef enum rsdk_step_method {
    RSDK_STEP_REUSE,  /* the library is in the process: its own handle is taken */
    RSDK_STEP_OPEN,   /* dlopen of the file: the linker finds everything that it needs by itself */
    RSDK_STEP_ANCHOR, /* the linker would not: dlopen of a generated object that needs all `members`, in the order in
                         which the linker would bring them in */
} rsdk_step_method;

/* A name without version by which programs, or libraries of the SDK, are known to open a library. */
typedef struct rsdk_unversioned_name {
    const char *name; /* "libamd_smi.so" */
    const char *path; /* the file that dlopen finds by it after the load */
} rsdk_unversioned_name;

/* A library that is opened, with all that comes with it. */
typedef struct rsdk_step {
    rsdk_location location;
    rsdk_step_method method;
    bool is_requested; /* false: another library opens it with dlopen, or it is opened first to bind to itself */
    bool is_global;
    const char *reason;         /* the reason, for the user, for this method, this scope, or this opening */
    const char *const *members; /* SDK files that this step brings into the process, the library itself first */
    size_t member_count;
    const char *const *needed; /* paths of the SDK files that its DT_NEEDED entries lead to */
    size_t needed_count;
    const char *const *outside; /* DT_NEEDED entries of the members that the system provides */
    size_t outside_count;
    const char *const *missing; /* DT_NEEDED entries that nobody provides */
    size_t missing_count;
    const rsdk_unversioned_name *names; /* names by which its members, or libraries that these open, are found from then
                                           on, unless RSDK_UNVERSIONED_NONE is asked for */
    size_t name_count;
    const char *const *brought_by; /* for each member, the path of the member that brings it in; "" for the first */
} rsdk_step;

/* A plan borrows texts from its SDK: free it first. */
typedef struct rsdk_plan rsdk_plan;

/* Make the plan of rsdk_loader_preload, without loading anything. The plan also says where the linker would find
 * libraries that are not the SDK's. */
rsdk_status rsdk_plan_new(rsdk_sdk *sdk, const rsdk_load_options *options, rsdk_plan **plan, rsdk_error *error);
void rsdk_plan_free(rsdk_plan *plan); /* NULL is allowed */
size_t rsdk_plan_step_count(const rsdk_plan *plan);
const rsdk_step *rsdk_plan_step(const rsdk_plan *plan, size_t index);

/* ---- loading ---- */

/* A library that is in the process now. */
typedef struct rsdk_loaded_entry {
    rsdk_location location;     /* the file that really is loaded: elsewhere than in the SDK after a conflict */
    void *handle;               /* dlopen's, for dlsym; never closed by us */
    bool is_requested;          /* false: as in rsdk_step */
    bool was_loaded;            /* the library was there before this call */
    const char *const *members; /* SDK files that came with it, the library itself first; none if it was there */
    size_t member_count;
    double seconds; /* spent in dlopen, with all libraries that it brought in, and that it opens itself */
} rsdk_loaded_entry;

typedef enum rsdk_warning_kind {
    RSDK_WARNING_GENERAL,
    RSDK_WARNING_CONFLICT, /* this library is already loaded from outside the SDK, or in another version */
} rsdk_warning_kind;

typedef struct rsdk_warning {
    rsdk_warning_kind kind;
    const char *text;
} rsdk_warning;

/* The result of loading. The result borrows texts from its SDK: free the result first. */
typedef struct rsdk_loaded rsdk_loaded;

/* Load the libraries that `options` ask for, with all their needs. On RSDK_LOAD_FAILED *loaded is set too: libraries
 * that were loaded before stay usable. For other errors *loaded is NULL, and nothing was loaded unless memory ran out
 * on the way. */
rsdk_status rsdk_loader_preload(rsdk_sdk *sdk, const rsdk_load_options *options, rsdk_loaded **loaded,
                                rsdk_error *error);

/* Load the libraries of the SDK that ELF files, an extension module say, need, directly or through others, with
 * RTLD_GLOBAL. The files themselves are not loaded: dlopen does it after this. Errors and *loaded are as with
 * rsdk_loader_preload; RSDK_BAD_ELF too where a file was built for another release, whose libraries the SDK has in
 * other versions; RSDK_PACKAGE_NOT_INSTALLED where no SDK is installed, and the system lacks a library of ROCm that
 * they need. Any other library that neither the SDK nor the system has becomes a warning of *loaded. */
rsdk_status rsdk_loader_preload_for(rsdk_sdk *sdk, const char *const *files, size_t count, rsdk_loaded **loaded,
                                    rsdk_error *error);

/* Write a page list: the pages of the SDK's libraries that are in the memory of this process, for later loads to read
 * ahead (rsdk_load_options.read_ahead). Call this after a load, before the libraries are used. `path` is the list;
 * NULL: the list of the SDK, which takes the place of an earlier one. RSDK_IO_ERROR; RSDK_BAD_ARGUMENT if no library of
 * the SDK is loaded. */
rsdk_status rsdk_loader_record_pages(rsdk_sdk *sdk, const char *path, rsdk_error *error);

void rsdk_loaded_free(rsdk_loaded *loaded); /* NULL is allowed; unloads nothing */

/* Return the number of requested libraries, or one library by its index in the order asked. */
size_t rsdk_loaded_count(const rsdk_loaded *loaded);
const rsdk_loaded_entry *rsdk_loaded_library(const rsdk_loaded *loaded, size_t index);

/* Return the number of all libraries that were opened, or one by its index in the order of opening: libraries that are
 * opened first, then each requested library with the libraries behind it that it opens with dlopen. */
size_t rsdk_loaded_opened_count(const rsdk_loaded *loaded);
const rsdk_loaded_entry *rsdk_loaded_opened(const rsdk_loaded *loaded, size_t index);

/* Return the number of warnings for the user after loading, or one warning by its index. */
size_t rsdk_loaded_warning_count(const rsdk_loaded *loaded);
const rsdk_warning *rsdk_loaded_warning(const rsdk_loaded *loaded, size_t index);

#ifdef __cplusplus
}
#endif
#endif
