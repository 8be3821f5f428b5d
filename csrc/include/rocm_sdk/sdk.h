/* The parts of an SDK: the catalog of library shortnames, and the installed packages that hold the libraries.
 *
 *     const char *site[] = {"/opt/venv/lib/python3.12/site-packages"};
 *     rsdk_sdk_options options = {.search_path = site, .search_path_count = 1};
 *     rsdk_sdk *sdk = NULL;
 *     rsdk_error error = RSDK_ERROR_INIT;
 *     if (rsdk_sdk_open(&options, &sdk, &error) != RSDK_OK) { puts(rsdk_error_message(&error)); }
 *     puts(rsdk_sdk_version(sdk));
 *     rsdk_sdk_free(sdk);
 *
 * All texts that these functions return are borrowed from the rsdk_sdk, or static. An rsdk_sdk is for one thread at a
 * time. */
#ifndef ROCM_SDK_SDK_H
#define ROCM_SDK_SDK_H

#include <stdbool.h>
#include <stddef.h>

#include "rocm_sdk/error.h"
#include "rocm_sdk/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the catalog: static tables ---- */

typedef enum rsdk_package_id {
    RSDK_META,
    RSDK_CORE,
    RSDK_LIBRARIES,
    RSDK_DEVICE,
    RSDK_DEVEL,
    RSDK_PROFILER,
    RSDK_PACKAGE_COUNT
} rsdk_package_id;

/* A package of the SDK, as the packager names it. */
typedef struct rsdk_package_entry {
    const char *name;               /* "core" */
    const char *dist_template;      /* distribution name, "{target_family}" in it where it is target specific */
    const char *pure_module;        /* the importable module beside the platform directory */
    const char *template_directory; /* the packager's name for it */
    bool is_required;
} rsdk_package_entry;

/* A library that callers name by a short name. The members have the order of the table's columns. */
typedef struct rsdk_catalog_entry { /* NOLINT(clang-analyzer-optin.performance.Padding) */
    const char *shortname;
    rsdk_package_id package;
    const char *so_pattern;  /* glob(7) pattern of its file name */
    const char *dll_pattern; /* the same on Windows, "" where there is none */
    const char *directory;   /* within the platform directory */
    bool is_optional;        /* absent: skipped without an error */
    /* The programs that are known to open it by its linker name ("libamd_smi.so"), which wheels do not have; NULL:
     * none. */
    const char *opened_unversioned_by;
} rsdk_catalog_entry;

const rsdk_package_entry *rsdk_package_get(rsdk_package_id id);

size_t rsdk_catalog_size(void);
const rsdk_catalog_entry *rsdk_catalog_get(size_t index);
const rsdk_catalog_entry *rsdk_catalog_find(const char *shortname); /* NULL: unknown */

/* Find the library whose shortname is `word` with '_' for characters that a variable's name cannot hold
 * ("rocprofiler_sdk"). No two libraries have the same word. NULL: none has it. */
const rsdk_catalog_entry *rsdk_catalog_find_word(const char *word);

/* Find up to `limit` catalog shortnames that resemble `name`, best first; return how many. */
size_t rsdk_catalog_nearest(const char *name, const char *nearest[], size_t limit);

/* ---- an installed SDK ---- */

/* The directory of a module that is found by other means than the search path (an editable installation). */
typedef struct rsdk_module_location {
    const char *module;
    const char *directory;
} rsdk_module_location;

/* A file to use in place of the SDK's own library, under every name by which that is requested or needed. */
typedef struct rsdk_library_override {
    const char *shortname;
    const char *path;   /* absolute */
    const char *source; /* the source of the wish, for messages: "ROCM_SDK_LIBRARY_amdhip64" */
} rsdk_library_override;

typedef struct rsdk_sdk_options {
    const char *const *search_path; /* directories in the order of sys.path; "" is the current directory */
    size_t search_path_count;
    const rsdk_module_location *modules; /* asked after the search path */
    size_t module_count;
    const char *target_family;              /* the requested family (ROCM_SDK_TARGET_FAMILY); NULL or "": choose */
    const rsdk_gpu_options *gpus;           /* the machine to choose for, borrowed until rsdk_sdk_free; NULL: none */
    const rsdk_library_override *overrides; /* the first of several for one library counts */
    size_t override_count;
    /* Places, in order, to take a whole SDK from where the search path has no core package: "prefix:/opt/rocm",
     * "conda", "system", with ',' between. NULL or "": none. */
    const char *fallback;
    const char *fallback_source; /* the name in messages, ROCM_SDK_FALLBACK for instance; NULL: fallback */
    const char *conda_prefix;    /* the environment that "conda" means; NULL: none */
    /* The absolute path of a directory, laid out as site-packages, whose SDK is to be used whole: it takes the place of
     * `search_path`, `modules` and `fallback`. NULL or "": none. */
    const char *root;
    const char *root_source; /* the name in messages, ROCM_SDK_ROOT for instance; NULL: root */
} rsdk_sdk_options;

typedef struct rsdk_sdk rsdk_sdk;

/* Look for an SDK. Finding none is not an error: then there is no version, and no package has a directory.
 * RSDK_BAD_METADATA: its `_dist_info.py` is damaged; RSDK_IO_ERROR: `_dist_info.py` cannot be read;
 * RSDK_UNKNOWN_LIBRARY, RSDK_BAD_ARGUMENT: an override is for no library, or its path is not absolute; `root` has no
 * SDK. */
rsdk_status rsdk_sdk_open(const rsdk_sdk_options *options, rsdk_sdk **sdk, rsdk_error *error);
void rsdk_sdk_free(rsdk_sdk *sdk); /* NULL is allowed */

const char *rsdk_sdk_version(const rsdk_sdk *sdk);        /* NULL: no SDK */
const char *rsdk_sdk_fallback(const rsdk_sdk *sdk);       /* the place it was taken from; NULL: it is installed */
const char *rsdk_sdk_root(const rsdk_sdk *sdk);           /* `root` without a '/' at its end; NULL: none */
const char *rsdk_sdk_nonce(const rsdk_sdk *sdk);          /* suffix of the platform directories, mostly "" */
const char *rsdk_sdk_default_family(const rsdk_sdk *sdk); /* NULL: none */
bool rsdk_sdk_is_kpack_split(const rsdk_sdk *sdk);        /* one neutral libraries package instead of one per family */

typedef enum rsdk_family_list {
    RSDK_FAMILIES_AVAILABLE,
    RSDK_FAMILIES_LINUX,
    RSDK_FAMILIES_WINDOWS,
    RSDK_FAMILY_LIST_COUNT
} rsdk_family_list;

/* Return the target families of one list of `_dist_info.py`; `*count` of them. */
const char *const *rsdk_sdk_families(const rsdk_sdk *sdk, rsdk_family_list list, size_t *count);

/* Return the platform directory of a package ("/.../site-packages/_rocm_sdk_core"), looked for at first use.
 * RSDK_PACKAGE_NOT_INSTALLED with the pip line as its fix where the directory is not there. */
rsdk_status rsdk_sdk_package_directory(rsdk_sdk *sdk, rsdk_package_id package, const char **directory,
                                       rsdk_error *error);

/* Return the name of the platform directory as an importable module ("_rocm_sdk_core"), which is not necessarily
 * installed; NULL for packages without such a module. */
const char *rsdk_sdk_package_module(rsdk_sdk *sdk, rsdk_package_id package);

/* Return the targets that the SDK was built for, from `share/therock/dist_info.json`, `;`-joined; "" where the file
 * does not say. */
rsdk_status rsdk_sdk_built_targets(rsdk_sdk *sdk, const char **targets, rsdk_error *error);

/* Return whether the SDK declares that it was built without this library: in `share/therock/dist_info.json` of core, or
 * in `libraries_dist_info.json` beside it in the package of libraries. */
rsdk_status rsdk_sdk_is_declared_absent(rsdk_sdk *sdk, const char *shortname, bool *is_absent, rsdk_error *error);

/* Return the number of warnings, such as two SDKs on the search path, or one warning by its index: a sentence for the
 * user. */
size_t rsdk_sdk_warning_count(const rsdk_sdk *sdk);
const char *rsdk_sdk_warning(const rsdk_sdk *sdk, size_t index);

#ifdef __cplusplus
}
#endif
#endif
