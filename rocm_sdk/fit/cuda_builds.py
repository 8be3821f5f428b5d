"""The signs that a distribution is built for CUDA, by what it says of itself: AMD's GPUs run none of its kernels.

Sources: the local version labels of download.pytorch.org (+cu128), the names of NVIDIA's packages on PyPI, the file
`version.py` of torch, torchvision and torchaudio, the SONAMEs of CUDA. A distribution that also has a build for HIP is
not built for CUDA in this sense.
"""

from __future__ import annotations

import os
import re

from rocm_sdk.base.files import read_beginning
from rocm_sdk.installed.distributions import normalised
from rocm_sdk.installed.installable_table import INSTALLABLES
from rocm_sdk.problems import problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm_sdk.problems import Problem

_LIMIT = 1 << 20  # bytes of a text
_LABEL = re.compile(r"\+(?:cu|cuda)\d+")
_PACKAGE = re.compile(
    r"nvidia-(?:cublas|cuda-\w+|cudnn|cufft|curand|cusolver|cusparse\w*|nccl|nvjitlink|nvshmem)"
    r"|nvidia-[\w-]+-cu\d+|cuda-toolkit"
)
_IN_VERSION_FILE = re.compile(r"""^(cuda|hip)\b[^=\n]*=\s*["']([\w.+-]+)["']""", re.MULTILINE)
_IS_WITHOUT = re.compile(r"^cuda\b[^=\n]*=\s*None\b", re.MULTILINE)
_LIBRARY = re.compile(
    r"lib(?:cudart|cuda|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc|torch_cuda|c10_cuda)\.so"
)
_LIBRARY_OF_HIP = re.compile(r"lib(?:amdhip64|torch_hip|c10_hip|hsa-runtime64)\.so")


def sign_of_cuda(
    version: str, requires: Iterable[str], version_file: str = "", needed: Iterable[str] = ()
) -> str | None:
    """Return what says that a distribution is built for CUDA; None if nothing does, or something says HIP.

    requires: normalised names. version_file: the text of its `version.py`. needed: SONAMEs that its libraries need.
    """
    said = dict(_IN_VERSION_FILE.findall(version_file))
    names = list(needed)
    if "hip" in said or "+rocm" in version or any(map(_LIBRARY_OF_HIP.match, names)):
        return None
    if "cuda" in said:
        return f"its version.py says CUDA {said['cuda']}"
    if _LABEL.search(version):
        return f"its version says it: {version}"
    if version_file and _IS_WITHOUT.search(version_file):
        return None
    if (name := next(filter(_PACKAGE.fullmatch, requires), None)) is not None:
        return f"it requires {name}"
    if (name := next(filter(_LIBRARY.match, names), None)) is not None:
        return f"its libraries need {name}"
    return None


def version_file(site: str, name: str) -> str:
    """Return the text of the file `version.py` of a distribution in a directory; "" without one."""
    try:
        text = read_beginning(os.path.join(site, normalised(name).replace("-", "_"), "version.py"), _LIMIT)
    except OSError:
        return ""
    return text.decode("utf-8", errors="replace")


def problem_of_cuda(name: str, version: str, sign: str) -> Problem:
    """Return the problem that a distribution is built for CUDA. name: normalised."""
    product = next((row[0] for row in INSTALLABLES if row[1] == name), None)
    return problem("E-PKG-026", None, None, distribution=name, version=version, detail=sign, product=product)
