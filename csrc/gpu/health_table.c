/* Firmware and kernels that are known to do harm, by target: only harm that a source states, one row per line. */
#include "gpu/tables.h"

/* clang-format off */
const rsdk_bad_firmware rsdk_bad_firmware_table[] = {
    /* github.com/ROCm/legacy-rocm-build/issues/5724: came with linux-firmware of November 2025, taken back on 1 December */
    {"gfx115x", "MES", "mes_fw_version", 0x83, "GPU hangs and memory access faults are reported with it on gfx1151", "0x80 does not have them"},
};

const rsdk_needed_kernel rsdk_needed_kernel_table[] = {
    /* github.com/ROCm/rocm-systems/pull/2268: the size of the saved registers; github.com/ROCm/TheRock/issues/2991 */
    {"gfx1151", {6, 17, 9}, "an older driver may refuse the queues of ROCm 7.2 and later, or kernels crash"},
};
/* clang-format on */

const size_t rsdk_bad_firmware_table_size = sizeof rsdk_bad_firmware_table / sizeof *rsdk_bad_firmware_table;
const size_t rsdk_needed_kernel_table_size = sizeof rsdk_needed_kernel_table / sizeof *rsdk_needed_kernel_table;
