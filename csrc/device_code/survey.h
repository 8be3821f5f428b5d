/* The known facts of the libraries of an installation while its files are looked at. */
#ifndef RSDK_DEVICE_CODE_SURVEY_H
#define RSDK_DEVICE_CODE_SURVEY_H

#include <stdbool.h>

#include "device_code/archive_search.h"
#include "device_code/fits.h"
#include "device_code/target_sums.h"
#include "rocm_sdk/coverage.h"

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

#endif
