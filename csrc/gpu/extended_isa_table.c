/* The code for other processors that patched runtimes try, one row per group. The rows are unofficial: AMD's runtimes
 * have none of them. Sources: Debian's patches of rocr-runtime and rocm-hipamd (2022; where the two differ, the code
 * that both accept), patches of Solus, which nixpkgs takes (2024). */
#include "gpu/tables.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

#define GFX103X NAMES("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036")

/* clang-format off */
const rsdk_extended_isa rsdk_extended_isa_table[] = {
    /* patches             code for                                         on                                                         */
    {RSDK_PATCHES_DEBIAN, NAMES("gfx900", "gfx902", "gfx909", "gfx90c"), NAMES("gfx900", "gfx902", "gfx909", "gfx90c")},
    {RSDK_PATCHES_DEBIAN, NAMES("gfx1010", "gfx1011", "gfx1012"),        NAMES("gfx1010", "gfx1011", "gfx1012")},
    {RSDK_PATCHES_DEBIAN, GFX103X,                                       GFX103X},
    {RSDK_PATCHES_SOLUS,  NAMES("gfx900", "gfx902", "gfx909", "gfx90c"), NAMES("gfx900", "gfx902", "gfx906", "gfx909", "gfx90c")},
    {RSDK_PATCHES_SOLUS,  NAMES("gfx1010"),                              NAMES("gfx1010", "gfx1011", "gfx1012", "gfx1013")},
    {RSDK_PATCHES_SOLUS,  GFX103X,                                       GFX103X},
};
/* clang-format on */

const size_t rsdk_extended_isa_table_size = sizeof rsdk_extended_isa_table / sizeof *rsdk_extended_isa_table;
