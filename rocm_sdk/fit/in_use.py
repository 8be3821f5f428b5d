"""What uses the GPUs: the memory that is taken, and the processes that the compute driver (KFD) knows, from sysfs.

No GPU is asked, and none is woken.
"""

import os

from rocm_sdk.base.files import kernel_path, kernel_text, names_in
from rocm_sdk.base.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm_sdk._native import Gpu

_PROCESSES = "sys/class/kfd/kfd/proc"
_FIRST_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of Linux; KFD numbers processes as this one does


class GpuProcess(NamedTuple):
    """A process on a GPU: its bytes of the GPU's memory; its name, None if this process may not see it."""

    node: int
    process: int
    memory: int
    name: "str | None"


def used_memory(gpu: "Gpu") -> int | None:
    """Return the bytes of a GPU's memory that are taken; None if the driver does not say."""
    return _number(f"sys/bus/pci/devices/{gpu.pci_address}/mem_info_vram_used")


def gpu_processes(gpus: "Iterable[Gpu]") -> "list[GpuProcess]":
    """Return the processes that have memory or a queue of a GPU, in the order of the GPUs."""
    numbers = sorted(int(name) for name in names_in(kernel_path(_PROCESSES)) if name.isascii() and name.isdecimal())
    return [found for gpu in gpus for number in numbers for found in _on_gpu(gpu, number)]


def _on_gpu(gpu: "Gpu", number: int) -> "Iterator[GpuProcess]":
    place = f"{_PROCESSES}/{number}"
    memory = _number(f"{place}/vram_{gpu.gpu_id}") or 0
    queues = names_in(kernel_path(f"{place}/queues"))
    if memory or any(_number(f"{place}/queues/{queue}/gpuid") == gpu.gpu_id for queue in queues):
        yield GpuProcess(gpu.node, number, memory, _name_of(number))


def _name_of(number: int) -> str | None:
    root = os.environ.get("ROCM_SDK_ROOTFS", "")
    try:
        if not root and os.readlink("/proc/self/ns/pid") != _FIRST_NAMESPACE:
            return None  # a container, in which the number is another process's
    except OSError:
        return None
    return kernel_text(f"proc/{number}/comm")


def _number(name: str) -> int | None:
    text = (kernel_text(name) or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None
