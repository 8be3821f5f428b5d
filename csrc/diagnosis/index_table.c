/* The addresses where AMD serves ROCm's wheels, one row for each range of releases and stream. The first row of a
 * stream is today's. If several rows serve a release, the first whose word is in the version counts. What is at the
 * older places was not copied; for builds of 10.0.0 that are neither final nor candidates no page names a place. */
#include "diagnosis/tables.h"

/* clang-format off */
const rsdk_index_row rsdk_indexes[] = {
    /* first   last     stream     in versions  address                                           what to ask for */
    {{10,  1}, {0,  0}, "bkc",     "bkc.",    "https://bkc.repo.amd.com/rocm/whl-next/",        "rocm[libraries]"},
    {{10,  1}, {0,  0}, "nightly", "a",       "https://nightly.repo.amd.com/rocm/whl-next/",    "rocm[libraries]"},
    {{10,  1}, {0,  0}, "rc",      "rc",      "https://rc.repo.amd.com/rocm/whl-next/",         "rocm[libraries]"},
    {{10,  1}, {0,  0}, "dev",     ".dev",    "https://dev.repo.amd.com/rocm/whl-next/",        "rocm[libraries]"},
    {{10,  0}, {0,  0}, "stable",  "",        "https://stable.repo.amd.com/rocm/whl-next/",     "rocm[libraries]"},
    {{10,  0}, {10, 0}, "rc",      ".0rc",    "https://rocm.prereleases.amd.com/whl-multi-arch/", "rocm[libraries]"},
    {{7,  10}, {7, 14}, "rc",      "rc",      "https://rocm.prereleases.amd.com/whl-multi-arch/", "rocm[libraries]"},
    {{7,  10}, {7, 14}, "nightly", "a",       "https://rocm.nightlies.amd.com/whl-multi-arch/", "rocm[libraries]"},
    {{7,  10}, {7, 14}, "stable",  "",        "https://repo.amd.com/rocm/whl-multi-arch/",      "rocm[libraries]"},
};
/* clang-format on */

const size_t rsdk_index_count = sizeof rsdk_indexes / sizeof *rsdk_indexes;
