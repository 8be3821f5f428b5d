/* AMD's PCI device ids by target, for kernels whose topology has no gfx_target_version (before Linux 5.16): nothing
 * newer than the GPUs of that time belongs here. Sources: the device table of the ROCm thunk, the amdgpu driver's. */
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
    {0x7420, 0x743F, "gfx1034"},
    {0x164D, 0x164D, "gfx1035"},
    {0x1681, 0x1681, "gfx1035"},
};
/* clang-format on */

const size_t rsdk_pci_device_table_size = sizeof rsdk_pci_device_table / sizeof *rsdk_pci_device_table;
