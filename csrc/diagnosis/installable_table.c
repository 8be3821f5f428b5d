/* The distributions that can be installed by name, one per row. Sources: AMD's pages on installing ROCm, PyTorch and
 * JAX with pip: the packages for single targets of torch and torchvision are extras of these two, torchaudio and JAX
 * have none, and the packages of JAX require no ROCm. */
#include "diagnosis/tables.h"

/* clang-format off */
const rsdk_installable rsdk_installables[] = {
    /* name        distribution   extras       packages for targets       companions */
    {"sdk",         "rocm",        "libraries", "rocm-sdk-device-",        ""},
    {"torch",       "torch",       "",          "amd-torch-device-",       ""},
    {"torchvision", "torchvision", "",          "amd-torchvision-device-", ""},
    {"torchaudio",  "torchaudio",  "",          NULL,                      ""},
    {"jax",         "jax",         "",          NULL,                      "jax-rocm{major}-plugin,jax-rocm{major}-pjrt"},
};
/* clang-format on */

const size_t rsdk_installable_count = sizeof rsdk_installables / sizeof *rsdk_installables;
