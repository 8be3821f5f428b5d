/* The data tables of this directory, each in a file of its own, one row per line. */
#ifndef RSDK_SDK_TABLES_H
#define RSDK_SDK_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "rocm_sdk/sdk.h"

extern const rsdk_catalog_entry rsdk_library_table[];
extern const size_t rsdk_library_count;

/* Return whether the library's file may have this name ("libamdhip64.so.7"). */
bool rsdk_catalog_fits(const rsdk_catalog_entry *entry, const char *name);

/* Return the library whose file may have this name; NULL: none. */
const rsdk_catalog_entry *rsdk_catalog_find_file(const char *name);

/* Return whether a library of this name is ROCm's, wherever it lies. LLVM and clang are not: distributions have their
 * own. */
bool rsdk_catalog_is_of_rocm(const char *name);

/* Return whether programs are known to open the library by this linker name. */
bool rsdk_catalog_is_opened_unversioned(const char *linker_name);

extern const rsdk_package_entry rsdk_package_table[RSDK_PACKAGE_COUNT];

/* {6, 4} for ROCm 6.4. */
typedef struct rsdk_release {
    unsigned major, minor;
} rsdk_release;

/* A library of the catalog that leaves the SDK. */
typedef struct rsdk_leaving_library {
    const char *shortname;
    rsdk_release since;    /* the first release that may lack it */
    const char *successor; /* "libamd_smi" */
} rsdk_leaving_library;

extern const rsdk_leaving_library rsdk_leaving_libraries[];
extern const size_t rsdk_leaving_library_count;

/* Return the row of a library that an SDK of this version ("10.1.0a20261120") may lack; NULL: the SDK must have the
 * library, or its version is not known. */
const rsdk_leaving_library *rsdk_catalog_leaving(const rsdk_catalog_entry *entry, const char *version);

/* A directory, within a platform directory, whose libraries belong to the SDK. */
typedef struct rsdk_library_place {
    const char *path;
    bool holds_host_libraries; /* the SDK's own copies: another copy in the process is not a conflict */
    const char *private_root;  /* the directory with it that is for the package's own; NULL: for any program */
} rsdk_library_place;

extern const rsdk_library_place rsdk_library_places[];
extern const size_t rsdk_library_place_count;

extern const rsdk_package_id rsdk_library_packages[];
extern const size_t rsdk_library_package_count;

/* The name that dlopen is called with. */
typedef enum rsdk_opened_name {
    RSDK_OPENED_BY_VERSION,  /* "libx.so.1" */
    RSDK_OPENED_UNVERSIONED, /* "libx.so", which no file of the packages has */
    RSDK_OPENED_AS_PLUG_IN,  /* by its path: it lies beside the opener, or below it ("plug-ins/lib*.so") */
} rsdk_opened_name;

/* `opener` opens `opened` with dlopen. Both are linker names; of a plug-in, `opened` is a pattern. */
typedef struct rsdk_dlopen_dependency {
    const char *opener, *opened;
    rsdk_opened_name name;
    rsdk_release first, last; /* of ROCm: {0, 0}: not known, and no end */
    bool is_required;         /* false: the opener does without */
    const char *only_if; /* a variable that is set, and not to 0, or a device that can be opened; NULL: in any case */
    const char *reason;
} rsdk_dlopen_dependency;

extern const rsdk_dlopen_dependency rsdk_dlopen_dependencies[];
extern const size_t rsdk_dlopen_dependency_count;

/* Return whether the libraries of a version of ROCm ("7.10.0") open the library. NULL, and a text that is not a
 * version: they may. */
bool rsdk_dlopen_dependency_is_of(const rsdk_dlopen_dependency *row, const char *version);

/* Return whether this process asks for the library, by only_if. Devices are looked for below ROCM_SDK_ROOTFS. */
bool rsdk_dlopen_dependency_is_asked_for(const rsdk_dlopen_dependency *row);

/* The measure that keeps the libraries of a group apart. */
typedef enum rsdk_measure {
    RSDK_MEASURE_LOCAL,        /* such a library is opened RTLD_LOCAL; one that needs it may be global */
    RSDK_MEASURE_NEVER_GLOBAL, /* so is each that brings it into the process, unless libamdhip64 does, too */
    RSDK_MEASURE_BOUND_FIRST,  /* all are opened RTLD_LOCAL before anything is global, and become global afterwards */
} rsdk_measure;

/* Libraries that take each other's place in the search for symbols. */
typedef struct rsdk_interposition {
    const char *libraries[5]; /* linker names, and beginnings of SONAMEs; up to a NULL */
    rsdk_measure measure;
    const char
        *symbols[3];   /* the row counts if a library names symbols of its own that begin like this; none: always */
    const char *probe; /* a function that each of them has; NULL: none is known */
    const char *reason;
} rsdk_interposition;

extern const rsdk_interposition rsdk_interpositions[];
extern const size_t rsdk_interposition_count;

/* Return whether a SONAME is of a library of the row. A linker name stands for itself; another text is the beginning of
 * a SONAME. */
bool rsdk_interposition_is_of(const rsdk_interposition *row, const char *soname);

/* Return whether the loader keeps a library local, so that no other finds its symbols. */
bool rsdk_interposition_keeps_local(const char *soname);

typedef struct rsdk_host_package {
    const char *soname, *debian, *fedora, *suse, *arch, *gentoo;
} rsdk_host_package;

extern const rsdk_host_package rsdk_host_packages[];
extern const size_t rsdk_host_package_count;

/* The release from which a distribution has no package with a library any more. */
typedef struct rsdk_host_end {
    const char *soname, *id, *version; /* ID and VERSION_ID of os-release(5) */
} rsdk_host_end;

extern const rsdk_host_end rsdk_host_ends[];
extern const size_t rsdk_host_end_count;

typedef struct rsdk_outside_package {
    const char *library, *package; /* a pattern of SONAMEs, and the package that has it */
} rsdk_outside_package;

extern const rsdk_outside_package rsdk_outside_packages[];
extern const size_t rsdk_outside_package_count;

/* A word in names of libraries of which only one is loaded. */
typedef struct rsdk_back_end {
    const char *word;
    bool is_rocm;
} rsdk_back_end;

extern const rsdk_back_end rsdk_back_ends[];
extern const size_t rsdk_back_end_count;

/* The releases of ROCm whose library has this SONAME. */
typedef struct rsdk_soname_release {
    const char *soname;
    rsdk_release first, last; /* first {0, 0}: not known; last {0, 0}: no end */
} rsdk_soname_release;

extern const rsdk_soname_release rsdk_soname_releases[];
extern const size_t rsdk_soname_release_count;

#endif
