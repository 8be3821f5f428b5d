/* The known facts of the libraries of an installation while its files are looked at. */
#ifndef RSDK_DEVICE_CODE_SURVEY_H
#define RSDK_DEVICE_CODE_SURVEY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/name_table.h"
#include "device_code/code_files.h"
#include "device_code/target_sums.h"
#include "rocm_sdk/compatibility.h"
#include "rocm_sdk/coverage.h"
#include "rocm_sdk/device_code.h"
#include "rocm_sdk/gpu.h"

/* The fit of one file's code for GPUs. A GPU whose mode is open counts as several, one in each mode. */

/* A GPU in one mode. */
typedef struct rsdk_gpu_mode {
    size_t gpu; /* index of the GPU */
    char id[RSDK_TARGET_ID_SIZE];
} rsdk_gpu_mode;

typedef RSDK_LIST(rsdk_gpu_mode) rsdk_gpu_modes;

/* Add the modes that the target id of a GPU leaves open: four for "gfx90a", one for "gfx1030". RSDK_BAD_ARGUMENT where
 * `id` is not a target id. */
rsdk_status rsdk_gpu_modes_add(rsdk_gpu_modes *modes, rsdk_arena *arena, size_t gpu, const char *id, rsdk_error *error);

/* The fit of code for each target in each mode, computed once for a target: thousands of files share a few. */
typedef struct rsdk_fit_table {
    rsdk_arena *arena;
    unsigned patches; /* patches of the runtime, RSDK_PATCHES_* */
    bool without_spirv;
    rsdk_gpu_modes modes;
    rsdk_name_table places; /* places of targets whose processor is among the modes */
    RSDK_LIST(rsdk_compatibility) cells;
    rsdk_compatibility *next; /* the row in hand */
    rsdk_compatibility *none; /* the row of all other targets */
} rsdk_fit_table;

/* Make the table. Call this when the modes are known. */
rsdk_status rsdk_fit_table_init(rsdk_fit_table *table, rsdk_error *error);

/* Return the row of a target, with a result for each mode; it holds until the next one is asked for. NULL when out of
 * memory. */
const rsdk_compatibility *rsdk_fit_table_row(rsdk_fit_table *table, const char *target);

/* A file in one mode of a GPU. */
typedef struct rsdk_file_fit {
    rsdk_code_fit worst;   /* over the bundles that have something for it */
    rsdk_code_fit best;    /* over all images */
    rsdk_misfit misfit;    /* the nearest reason why a bundle has nothing */
    size_t covered, total; /* bundles; images outside of bundles count as one */
} rsdk_file_fit;

/* Fill `fits`, one for each mode. Temporary data lives in `scratch`. */
rsdk_status rsdk_file_fits(const rsdk_device_code *code, rsdk_fit_table *table, rsdk_arena *scratch,
                           rsdk_file_fit *fits, rsdk_error *error);

/* The kpack archive from which HIP takes the kernels of a library. Source: rocm-kpack's runtime. */

/* An archive that was asked for. */
typedef struct rsdk_opened_archive {
    const char *path;
    bool is_there;           /* and can be read */
    rsdk_name_table kernels; /* "lib/libx.so.1#0\ngfx942" for each of its images, and "\ngfx942" for each target */
} rsdk_opened_archive;

/* The archives that have been read so far: each is read once, however many libraries name it. */
typedef struct rsdk_archive_search {
    rsdk_arena *arena;
    bool is_disabled;
    const char *only, *first; /* ROCM_KPACK_PATH and ROCM_KPACK_PATH_PREFIX; NULL: not set */
    RSDK_LIST(rsdk_opened_archive) opened;
    rsdk_name_table places; /* the places in `opened`, by path */
    rsdk_error *error;
} rsdk_archive_search;

typedef struct rsdk_found_kernels {
    const char *target;    /* the kernels' target, the one that is sought last; NULL: there are none */
    size_t covered, total; /* bundles that have kernels, of all; 1 where their number is not known */
    size_t late;           /* bundles that only an archive has which is opened after another one for the target */
    rsdk_coverage_lack lack;
    const char *path; /* the archive that is not there, or has no kernels of the library */
} rsdk_found_kernels;

/* Look for the kernels of a library, which lies at `path`, as HIP does for a GPU, bundle by bundle. */
rsdk_status rsdk_archive_search_find(rsdk_archive_search *search, const char *path,
                                     const rsdk_kernel_reference *kernels, const char *gpu, rsdk_found_kernels *found);

/* A library in one mode of a GPU. */
typedef struct rsdk_tally {
    rsdk_code_fit worst; /* the worst fit of the files that every GPU needs; 0 while `covered` is */
    size_t covered, total;
    rsdk_code_fit best;        /* the best fit of the files that are for one target each */
    bool has_index;            /* a list of kernels has some for the processor */
    rsdk_kernel_tables tables; /* the kernels of the list for the processor */
    size_t listed, lists;      /* the further tables that name the processor, of all */
    const char *list;          /* a table that does not name the processor */
    const char *missing_table;
    size_t late; /* bundles that only a later archive has */
    rsdk_coverage_lack lack;
    const char *detail;
} rsdk_tally;

typedef struct rsdk_surveyed_library {
    rsdk_library_coverage shown;
    rsdk_strings files;
    rsdk_target_sums sums;
    bool has_loose, has_index;
    bool has_library, has_target; /* a shared library; a name, of a file or its directory, that says for which GPU */
    rsdk_tally *tallies;          /* a tally for each mode */
    bool *databases;              /* for each GPU: there is a performance database */
} rsdk_surveyed_library;

typedef struct rsdk_survey {
    const rsdk_coverage_options *options;
    rsdk_arena *arena;
    rsdk_arena scratch;   /* cleared after each file */
    rsdk_fit_table table; /* and the modes of the GPUs */
    rsdk_file_fit *fits;  /* the fits of the file in hand */
    RSDK_LIST(rsdk_surveyed_library) libraries;
    rsdk_name_table places;
    rsdk_name_table kernel_tables; /* paths of the files that indexes lead to, up to the last "." */
    rsdk_target_sums sums;
    RSDK_LIST(rsdk_coverage_fault) faults;
    rsdk_archive_search archives;
    bool has_named_code; /* there is more than loose files whose names say nothing of GPUs */
    rsdk_error *error;
} rsdk_survey;

/* Return the library of this name, which is added if there is none. The pointer is valid until the next library is
 * added. NULL when out of memory. */
rsdk_surveyed_library *rsdk_survey_library(rsdk_survey *s, const char *name);

/* Note a file that cannot be read. */
rsdk_status rsdk_survey_add_fault(rsdk_survey *s, const char *path, const rsdk_error *why);

/* Note a lack of a library, unless the library lacks something worse. */
void rsdk_tally_add_lack(rsdk_tally *t, rsdk_coverage_lack lack, const char *detail);

/* Take a file with code: a library, a loose file, an archive. */
rsdk_status rsdk_survey_take_code(rsdk_survey *s, const rsdk_code_file *file);

/* Take a table of kernels: an index, or a list of targets. Note the tables that indexes lead to before. */
rsdk_status rsdk_survey_take_tables(rsdk_survey *s, const rsdk_code_file *file);
rsdk_status rsdk_survey_note_table(rsdk_survey *s, const rsdk_code_file *file);

/* Take a database of performance, of which only the name counts. */
rsdk_status rsdk_survey_take_database(rsdk_survey *s, const rsdk_code_file *file);

/* Return whether a library is nothing but loose files whose names say nothing of GPUs, as kernels that were compiled
 * ahead: what a package has for one of its GPUs. */
bool rsdk_survey_is_unnamed(const rsdk_surveyed_library *of);

/* Fill in the shown facts of a library. */
rsdk_status rsdk_survey_judge(rsdk_survey *s, rsdk_surveyed_library *of);

#endif
