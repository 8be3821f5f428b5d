/* AMD's PCI device ids by target, for kernels whose topology has no gfx_target_version (before Linux 5.16), and to
 * guess the target of a GPU without its driver. Sources: the device table of the ROCm thunk, the amdgpu driver's; of
 * GPUs after Linux 5.16, the products of amdgpu.ids of libdrm 2.4.134, and rocm-systems 4676. "By family": the chip has
 * the row's name in pci.ids of 22 August 2026, and nothing else confirms its target. */
#include "gpu/tables.h"

/* clang-format off */
const rsdk_pci_devices rsdk_pci_device_table[] = {
    /* first  last   target */
    {0x1304, 0x131D, "gfx700"},
    {0x67A0, 0x67BE, "gfx701"},
    {0x9870, 0x9877, "gfx801"},
    {0x6920, 0x693F, "gfx802"},
    {0x694C, 0x694F, "gfx803"},
    {0x6980, 0x699F, "gfx803"},
    {0x67C0, 0x67FF, "gfx803"},
    {0x6FDF, 0x6FDF, "gfx803"},
    {0x7300, 0x730F, "gfx803"},
    {0x6860, 0x687F, "gfx900"},
    {0x15D8, 0x15D8, "gfx902"},
    {0x15DD, 0x15DD, "gfx902"},
    {0x69A0, 0x69AF, "gfx904"},
    {0x66A0, 0x66AF, "gfx906"},
    {0x7388, 0x7390, "gfx908"},
    {0x7408, 0x7410, "gfx90a"},
    {0x15E7, 0x15E7, "gfx90c"},
    {0x1636, 0x1636, "gfx90c"},
    {0x1638, 0x1638, "gfx90c"},
    {0x164C, 0x164C, "gfx90c"},
    {0x7310, 0x731F, "gfx1010"},
    {0x7360, 0x7362, "gfx1011"},
    {0x7340, 0x734F, "gfx1012"},
    {0x13F9, 0x13FE, "gfx1013"},
    {0x143F, 0x143F, "gfx1013"},
    {0x73A0, 0x73BF, "gfx1030"},
    {0x73C0, 0x73DF, "gfx1031"},
    {0x73E0, 0x73FF, "gfx1032"},
    {0x163F, 0x163F, "gfx1033"},
    {0x1435, 0x1435, "gfx1033"}, /* by its name, which 0x163F has too: not confirmed */
    {0x7420, 0x743F, "gfx1034"},
    {0x164D, 0x164D, "gfx1035"},
    {0x1681, 0x1681, "gfx1035"},
    {0x164E, 0x164E, "gfx1036"},
    {0x1506, 0x1506, "gfx1036"},
    {0x744C, 0x744C, "gfx1100"},
    {0x7448, 0x744B, "gfx1100"},
    {0x745E, 0x745E, "gfx1100"},
    {0x7460, 0x7461, "gfx1101"},
    {0x7470, 0x7470, "gfx1101"},
    {0x747E, 0x747E, "gfx1101"},
    {0x7480, 0x7481, "gfx1102"},
    {0x7483, 0x7483, "gfx1102"},
    {0x7487, 0x7487, "gfx1102"}, /* by family */
    {0x7489, 0x7489, "gfx1102"},
    {0x748B, 0x748B, "gfx1102"}, /* by family */
    {0x7499, 0x7499, "gfx1102"},
    {0x749F, 0x749F, "gfx1102"}, /* by family */
    {0x15BF, 0x15BF, "gfx1103"},
    {0x15C8, 0x15C8, "gfx1103"},
    {0x1900, 0x1901, "gfx1103"},
    {0x74A0, 0x74A2, "gfx942"},
    {0x74A5, 0x74A5, "gfx942"},
    {0x74A8, 0x74A9, "gfx942"},
    {0x74B5, 0x74B6, "gfx942"},
    {0x74B9, 0x74B9, "gfx942"},
    {0x74BD, 0x74BD, "gfx942"},
    {0x75A0, 0x75A0, "gfx950"},
    {0x75A3, 0x75A3, "gfx950"},
    {0x75A8, 0x75A8, "gfx950"}, /* by family */
    {0x75B0, 0x75B0, "gfx950"},
    {0x75B3, 0x75B3, "gfx950"},
    {0x150E, 0x150E, "gfx1150"},
    {0x1586, 0x1586, "gfx1151"},
    {0x1114, 0x1114, "gfx1152"},
    {0x1902, 0x1902, "gfx1153"},
    {0x7590, 0x7590, "gfx1200"},
    {0x7550, 0x7551, "gfx1201"},
};
/* clang-format on */

const size_t rsdk_pci_device_table_size = sizeof rsdk_pci_device_table / sizeof *rsdk_pci_device_table;
