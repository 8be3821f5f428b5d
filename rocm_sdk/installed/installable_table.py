"""The packages that `rocm-sdk install` installs by their own names.

Sources: AMD's pages on installing ROCm, PyTorch and JAX with pip. The packages for single targets of torch and
torchvision are extras of these two, torchaudio, apex and JAX have none, and the packages of JAX require no ROCm.
"""

# (name, distribution, extras that are always asked for, the beginning of the names of packages for single targets or
# "", distributions or other names here that belong to it with "," between: {major} is the major release of ROCm)
INSTALLABLES = (
    ("sdk", "rocm", "libraries", "rocm-sdk-device-", ""),
    ("torch", "torch", "", "amd-torch-device-", ""),
    ("torchvision", "torchvision", "", "amd-torchvision-device-", ""),
    ("torchaudio", "torchaudio", "", "", ""),
    ("apex", "apex", "", "", "torch"),
    ("jax", "jax", "", "", "jax-rocm{major}-plugin,jax-rocm{major}-pjrt"),
)

# Major release of ROCm -> the first jaxlib that knows its plug-in.
FIRST_JAXLIB = {"10": "0.11.1"}
