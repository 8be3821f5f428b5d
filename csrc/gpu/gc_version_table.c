/* The versions of the graphics and compute block (GC) that the amdgpu driver finds in a GPU, by target: for GPUs that
 * have the driver and are not in KFD's topology. The numbers of a target are mostly others. Source: the targets that
 * the kernel's amdkfd gives KFD for each version (kfd_device.c); for 11.5.6, 11.7.0 and 11.7.1 patches of the kernel's
 * mailing list of autumn 2026. A version that is not here is not known to be a
 * target. */
#include "gpu/tables.h"

/* clang-format off */
const rsdk_gc_version rsdk_gc_version_table[] = {
    /* major minor revision target */
    {9,  0,  1,  "gfx900"},
    {9,  1,  0,  "gfx902"},
    {9,  2,  1,  "gfx904"},
    {9,  2,  2,  "gfx902"},
    {9,  3,  0,  "gfx90c"},
    {9,  4,  0,  "gfx906"},
    {9,  4,  1,  "gfx908"},
    {9,  4,  2,  "gfx90a"},
    {9,  4,  3,  "gfx942"},
    {9,  4,  4,  "gfx942"},
    {9,  5,  0,  "gfx950"},
    {10, 1,  10, "gfx1010"},
    {10, 1,  2,  "gfx1011"},
    {10, 1,  1,  "gfx1012"},
    {10, 1,  3,  "gfx1013"},
    {10, 1,  4,  "gfx1013"},
    {10, 3,  0,  "gfx1030"},
    {10, 3,  2,  "gfx1031"},
    {10, 3,  4,  "gfx1032"},
    {10, 3,  1,  "gfx1033"},
    {10, 3,  5,  "gfx1034"},
    {10, 3,  3,  "gfx1035"},
    {10, 3,  6,  "gfx1036"},
    {10, 3,  7,  "gfx1036"},
    {11, 0,  0,  "gfx1100"},
    {11, 0,  3,  "gfx1101"},
    {11, 0,  2,  "gfx1102"},
    {11, 0,  1,  "gfx1103"},
    {11, 0,  4,  "gfx1103"},
    {11, 5,  0,  "gfx1150"},
    {11, 5,  1,  "gfx1151"},
    {11, 5,  2,  "gfx1152"},
    {11, 5,  3,  "gfx1153"},
    {11, 5,  4,  "gfx1154"},
    {11, 5,  6,  "gfx1154"},
    {11, 7,  0,  "gfx1170"},
    {11, 7,  1,  "gfx1171"},
    {12, 0,  0,  "gfx1200"},
    {12, 0,  1,  "gfx1201"},
    {12, 1,  0,  "gfx1250"},
};
/* clang-format on */

const size_t rsdk_gc_version_table_size = sizeof rsdk_gc_version_table / sizeof *rsdk_gc_version_table;
