/* The names that stand for several targets, one per row; which targets they are is said in the table of targets.
 * Sources: ROCm's build families, the packaging hierarchy. */
#include "gpu/tables.h"

/* clang-format off */
const rsdk_target_family rsdk_family_table[] = {
    /* name            alias      level */
    {"dgpu-all",       NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"dcgpu-all",      NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"igpu-all",       NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx900-dgpu",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx906-dgpu",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx908-dcgpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx90a-dcgpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx90c-igpu",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx94X-all",     NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx94X-dcgpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx950-all",     NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx950-dcgpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx101X-all",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx101X-dgpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx103X-all",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx103X-dgpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx103X-igpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx110X-all",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx110X-dgpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx110X-igpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx115X-all",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx115X-igpu",   NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx120X-all",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx125X-all",    NULL,      RSDK_FAMILY_OF_PACKAGES},
    {"gfx125X-dcgpu",  NULL,      RSDK_FAMILY_OF_PACKAGES},

    {"gfx9",           NULL,      RSDK_FAMILY_OF_HIERARCHY},
    {"gfx10",          NULL,      RSDK_FAMILY_OF_HIERARCHY},
    {"gfx11",          NULL,      RSDK_FAMILY_OF_HIERARCHY},
    {"gfx12",          NULL,      RSDK_FAMILY_OF_HIERARCHY},

    {"gfx9_0",         "gfx90x",  RSDK_SUB_FAMILY},
    {"gfx9_4",         "gfx94x",  RSDK_SUB_FAMILY},
    {"gfx9_5",         "gfx95x",  RSDK_SUB_FAMILY},
    {"gfx10_1",        "gfx101x", RSDK_SUB_FAMILY},
    {"gfx10_3",        "gfx103x", RSDK_SUB_FAMILY},
    {"gfx110x",        "gfx11_0", RSDK_SUB_FAMILY},
    {"gfx115x",        "gfx11_5", RSDK_SUB_FAMILY},
    {"gfx12_0",        "gfx120x", RSDK_SUB_FAMILY},
    {"gfx12_5",        "gfx125x", RSDK_SUB_FAMILY},
};
/* clang-format on */

const size_t rsdk_family_table_size = sizeof rsdk_family_table / sizeof *rsdk_family_table;
