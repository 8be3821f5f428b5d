/* Libraries whose kernels are compiled on the machine, one per row. Sources: MIOpen's and rocFFT's documentation.
 * MIOpen does without its libraries of composable_kernel, which exist for some targets only. */
#include "device_code/tables.h"

/* clang-format off */
const rsdk_compiling_library rsdk_compiling_library_table[] = {
    /* library               databases */
    {"MIOpen",               "/miopen/db"},
    {"MIOpenCKGroupedConv",  NULL},
    {"rocfft",               NULL},
};
/* clang-format on */

const size_t rsdk_compiling_library_table_size =
    sizeof rsdk_compiling_library_table / sizeof *rsdk_compiling_library_table;
