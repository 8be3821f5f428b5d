/* Targets that compute wrongly without an error, by public reports, one row per target and cause. Sources: unsloth
 * (studio/ROCM_RDNA2_APU.md, 8412) of gfx1033; legacy-rocm-build 6595 of gfx1201. A report of a single reporter on one
 * machine is no row, nor is one that was withdrawn. */
#include "gpu/tables.h"

/* clang-format off */
const rsdk_known_fault rsdk_known_fault_table[] = {
    /* target    first    last     what is wrong, and who says it */
    {"gfx1033",  {0, 0},  {0, 0},  "training diverges: gradients differ from the gradients of the CPU and from run to run, losses become NaN, queues hang",    "unsloth 8412, tried with 7.1, 7.2 and 7.15"},
    {"gfx1201",  {7, 2},  {7, 2},  "fp32 matrix products with more than 2^19 rows are wrong without an error; fp16 and bf16 are right",                 "legacy-rocm-build 6595, tried with 7.2.1"},
};
/* clang-format on */

const size_t rsdk_known_fault_table_size = sizeof rsdk_known_fault_table / sizeof *rsdk_known_fault_table;
