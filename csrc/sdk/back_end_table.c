/* Words in names of libraries of which a package has one for each kind of GPU, or for none, and loads one. */
#include "sdk/tables.h"

/* clang-format off */
const rsdk_back_end rsdk_back_ends[] = {
    /* word    of ROCm */
    {"cann",   false},
    {"cpu",    false},
    {"cuda",   false},
    {"hip",    true},
    {"hpu",    false},
    {"metal",  false},
    {"mps",    false},
    {"musa",   false},
    {"opencl", false},
    {"rocm",   true},
    {"sycl",   false},
    {"vulkan", false},
    {"xpu",    false},
};
/* clang-format on */

const size_t rsdk_back_end_count = sizeof rsdk_back_ends / sizeof *rsdk_back_ends;
