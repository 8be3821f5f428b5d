"""What a distribution says it is built for: HIP, CUDA, whose kernels no AMD GPU runs, or no GPU.

Sources: the local version labels of download.pytorch.org (+cu128, +cpu), the names of NVIDIA's packages on PyPI, the
file `version.py` of torch, torchvision and torchaudio, the SONAMEs of CUDA. One file for HIP is enough: wheels have
libraries for several makers, and open the one that fits.
"""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress

from rocm_sdk._native import device_code, inspect_library
from rocm_sdk.base.files import read_beginning
from rocm_sdk.base.named_tuple import NamedTuple
from rocm_sdk.base.value_text import without_passwords
from rocm_sdk.errors import RocmSdkError
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
LIBRARY_OF_HIP = re.compile(r"lib(?:torch_hip|c10_hip|amdhip64|amd_\w+|hsa-runtime64|hip\w+|roc\w+|rccl|MIOpen)\.so")
_WITH_GPU = ("torch", "torchvision", "torchaudio")  # a build of these without GPUs is one for the CPU


class Build(NamedTuple):
    """What a distribution is built for ("HIP", "CUDA", "CPU"), and what says so."""

    kind: str
    sign: str


def claimed_build(name: str, version: str, requires: Iterable[str], version_file: str = "") -> Build | None:
    """Return what the metadata of a distribution say; None if they say nothing.

    name, requires: normalised. version_file: the text of its `version.py`.
    """
    said = dict(_IN_VERSION_FILE.findall(version_file))
    if "hip" in said or "+rocm" in version:
        return Build("HIP", "")
    if "cuda" in said:
        return Build("CUDA", f"its version.py says CUDA {said['cuda']}")
    if _LABEL.search(version):
        return Build("CUDA", f"its version says it: {version}")
    if version.endswith("+cpu") and name in _WITH_GPU:
        return Build("CPU", f"its version says it: {version}")
    if version_file and _IS_WITHOUT.search(version_file):
        return Build("CPU", "its version.py names neither HIP nor CUDA") if name in _WITH_GPU else None
    package = next(filter(_PACKAGE.fullmatch, requires), None)
    return Build("CUDA", f"it requires {package}") if package is not None else None


def proved_build(claimed: Build | None, files: Iterable[str]) -> Build | None:
    """Return what a distribution is built for, judging by the libraries that its files need, or else by its claim."""
    paths = list(files)
    names = [name for path in paths for name in _needed(path)]
    if any(map(LIBRARY_OF_HIP.match, names)):
        return Build("HIP", "")
    library = next(filter(_LIBRARY.match, names), None)
    if library is not None and (claimed is None or claimed.kind == "CPU"):
        claimed = Build("CUDA", f"its libraries need {library}")
    return Build("HIP", "") if claimed is not None and any(map(_has_code, paths)) else claimed


def _has_code(path: str) -> bool:
    try:
        return bool(device_code(path).targets)
    except RocmSdkError:
        return False


def _needed(path: str) -> tuple[str, ...]:
    try:
        return inspect_library(path).needed
    except RocmSdkError:
        return ()


def version_file(site: str, name: str) -> str:
    """Return the text of the file `version.py` of a distribution in a directory; "" without one."""
    try:
        text = read_beginning(os.path.join(site, normalised(name).replace("-", "_"), "version.py"), _LIMIT)
    except OSError:
        return ""
    return text.decode("utf-8", errors="replace")


def problem_of_build(
    name: str, version: str, build: Build | None, came: str = "", *, is_sound: bool = False
) -> Problem | None:
    """Return the problem of a build for CUDA, or of one without GPUs; None for another build.

    name: normalised. came: words for how it was installed. is_sound: one without GPUs may be intended.
    """
    if build is None or build.kind == "HIP":
        return None
    product = next((row[0] for row in INSTALLABLES if row[1] == name), None)
    facts = {"distribution": name, "version": version, "detail": f"{build.sign}{came}", "product": product}
    if build.kind == "CUDA":
        return problem("E-PKG-026", None, None, **facts)
    return problem("W-PKG-028" if is_sound else "E-PKG-029", None, None, **facts)


def how_it_came(directory: str) -> str:
    """Return words for the installer, the time, and the address if that was given; "" if they are not known.

    directory: the `.dist-info` directory of a distribution.
    """
    installer, url = "an installer", ""
    with suppress(OSError):
        installer = read_beginning(f"{directory}/INSTALLER", 64).decode(errors="replace").strip()
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        url = str(json.loads(read_beginning(f"{directory}/direct_url.json", _LIMIT))["url"])
        url = f" from {without_passwords(url).partition('?')[0][:256]}"
    with suppress(OSError, OverflowError):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(os.stat(f"{directory}/RECORD").st_mtime))
        return f"; {installer} has installed it on {when}{url}" if (installer + url).isprintable() else ""
    return ""
