"""The part of the GPU driver in a library that does not finish loading."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress

from rocm_sdk.base.files import open_file

_DEVICE = "/dev/kfd"
# Libraries of ROCm that call the driver when they are loaded, or that open libraries that do.
_ASKING = re.compile(
    r"lib(hsa-runtime64|hsakmt|amdhip64|rocprofiler-sdk|rocprofiler-register|amd_smi|rocm_smi64)\.so\b"
)
_LARGEST = 1 << 28  # bytes of a file that is searched
_CHUNK = 1 << 20


def facts_of_hang(files: Iterable[str], device: str | None) -> dict[str, str]:
    """Return facts for E-LIB-008: signs that a library waits for the driver; {} if there are none.

    files: the library and the libraries that it needs. device: the device that it was seen to wait for, or to look
    for, if any.
    """
    if device and os.path.exists(device):
        return {"intact": f"; it waits for {device}, in a call that does not return", "silent": device}
    if device:
        return {"intact": f"; it waits for {device}, which is not there", "driver": f"there is no {device} here"}
    if os.path.exists(_DEVICE) or not any(map(_asks_driver, files)):
        return {}
    lacks = f"there is no {_DEVICE} here"
    return {"intact": f"; {lacks}, which is the likely reason: nothing was seen of what it waits for", "driver": lacks}


def awaited_device(pid: int, thread: int) -> str | None:
    """Return the GPU's device that a thread's system call is about, according to proc(5); None if none is seen."""
    with suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/task/{thread}/syscall", encoding="ascii") as file:
            number, first, *_ = file.read().split()
        path = os.readlink(f"/proc/{pid}/fd/{int(first, 16)}") if int(number) >= 0 else ""
        return path if path.startswith((_DEVICE, "/dev/dri/", "/dev/dxg")) else None
    return None


def _asks_driver(path: str) -> bool:
    """Return whether a library calls the driver: it is known to, or the file names the device."""
    if _ASKING.match(os.path.basename(path)):
        return True
    wanted = _DEVICE.encode()
    with suppress(OSError), open_file(path) as file:
        size = min(os.fstat(file.fileno()).st_size, _LARGEST)
        return any(wanted in os.pread(file.fileno(), _CHUNK + len(wanted), start) for start in range(0, size, _CHUNK))
    return False
