"""Situations: GPUs, as the files of a kernel show them."""

import shutil
from collections.abc import Callable

from sample_machine import TOPOLOGY, Machine, machine_of
from sdk_environment import Environment
from situations import Situation, by_hand, set_variable

_INITSTATE = "sys/module/amdgpu/initstate"
_DEVICE = "sys/bus/pci/devices/0000:01:00.0"


def _machine(environment: Environment, *targets: str) -> Machine:
    machine = machine_of(environment.root / "machine", *targets)
    machine.write("proc/sys/kernel/osrelease", "6.18.0\n")
    return machine


def _of(
    *targets: str, change: Callable[[Machine], object] = lambda _: None, packages: tuple[str, ...] | None = None
) -> Callable[[Environment], object]:
    """Return a function that makes a machine with these GPUs.

    `packages` are the targets whose code is installed, by default all targets.
    """

    def build(environment: Environment) -> None:
        for target in dict.fromkeys(targets if packages is None else packages):
            environment.install(f"rocm-sdk-device-{target}==7.10.0")
        change(_machine(environment, *targets))

    return build


def _remove(*names: str) -> Callable[[Machine], object]:
    return lambda machine: [(machine.root / name).unlink() for name in names]


_HERE = ("export ROCM_SDK_ROOTFS={root}/machine SEEN_BY_HIP=1",)


def _here(name: str, value: str) -> tuple[str, ...]:
    """Return the lines that are typed on the machine, with a variable."""
    return (*_HERE, *set_variable(name, value))


_NODES = tuple(f"dev/dri/renderD{128 + node}" for node in range(1, 9))


def _on_the_bus(environment: Environment, state: str | None = None, *, has_topology: bool = False) -> None:
    """Make a GPU that the bus has; `state` is the state of the driver."""
    machine = Machine(environment.root / "machine")
    if not has_topology:
        shutil.rmtree(machine.root / "sys/class")
        (machine.root / "dev/kfd").unlink()
    shutil.rmtree(machine.root / "sys/module")
    machine.write(f"{_DEVICE}/vendor", "0x1002\n")
    machine.write(f"{_DEVICE}/class", "0x038000\n")
    if state is not None:
        machine.write(_INITSTATE, f"{state}\n")


def _second_gpu(machine: Machine) -> None:
    other = "sys/bus/pci/devices/0000:41:00.0"
    machine.write(f"{other}/vendor", "0x1002\n")
    machine.write(f"{other}/class", "0x038000\n")


# fmt: off
ROWS = (
    by_hand("8 GPUs without device files", "W-GPU-016", "", _of(*["gfx1030"] * 8, change=_remove("dev/kfd", *_NODES)), _HERE),
    by_hand("8 GPUs without device files, and a choice", "W-GPU-016", "", _of(*["gfx1030"] * 8, change=_remove("dev/kfd", *_NODES)), _here("ROCR_VISIBLE_DEVICES", "0")),
    by_hand("8 GPUs without render nodes", "W-GPU-018", "", _of(*["gfx1030"] * 8, change=_remove(*_NODES)), _HERE),
    by_hand("a container was started without --device", "W-GPU-016", "--device", _of("gfx1030", change=_remove("dev/kfd", _NODES[0])), _here("container", "docker")),
    Situation("no code for the GPU", "E-GPU-002", "the GPU gfx1100 has no packages", _of("gfx1100", packages=("gfx1030",)), _HERE),
    Situation("a GPU is chosen that is not there", "W-GPU-024", "HIP_VISIBLE_DEVICES", _of("gfx1030"), _here("HIP_VISIBLE_DEVICES", "3")),
    Situation("no GPU is chosen for ROCr", "W-ENV-005", "ROCR_VISIBLE_DEVICES", _of("gfx1030"), _here("ROCR_VISIBLE_DEVICES", "")),
    Situation("no GPU is chosen", "W-ENV-005", "HIP_VISIBLE_DEVICES", _of("gfx1030"), _here("HIP_VISIBLE_DEVICES", "")),
    Situation("HSA_OVERRIDE_GFX_VERSION is one number", "W-GPU-025", "HSA_OVERRIDE_GFX_VERSION", _of("gfx1030"), _here("HSA_OVERRIDE_GFX_VERSION", "11")),
    Situation("HSA_OVERRIDE_GFX_VERSION is not needed", "W-ENV-003", "HSA_OVERRIDE_GFX_VERSION", _of("gfx1030"), _here("HSA_OVERRIDE_GFX_VERSION", "10.3.0")),
    Situation("HSA_OVERRIDE_GFX_VERSION names what no package supports", "E-ENV-004", "gfx1031", _of("gfx1030"), _here("HSA_OVERRIDE_GFX_VERSION", "10.3.1")),
    Situation("an empty entry in ROCR_VISIBLE_DEVICES", "W-GPU-033", "ROCR_VISIBLE_DEVICES", _of("gfx1030"), _here("ROCR_VISIBLE_DEVICES", ",0")),
    Situation("a version of another generation", "W-GPU-033", "HSA_OVERRIDE_GFX_VERSION_2=8.0.3", _of("gfx1100", "gfx1100"), ("export ROCM_SDK_ROOTFS={root}/machine SEEN_BY_HIP=2", *set_variable("HSA_OVERRIDE_GFX_VERSION_2", "8.0.3")), words="--only W-GPU-033"),
    by_hand("HIP sees fewer GPUs than there are", "E-GPU-003", "", _of("gfx1030"), ("export ROCM_SDK_ROOTFS={root}/machine SEEN_BY_HIP=0",)),
    Situation("HIP sees fewer GPUs by a variable", "E-ENV-010", "HSA_HIDES_GPUS", _of("gfx1030"), _here("HSA_HIDES_GPUS", "1")),
    by_hand("a kernel is too old", "W-GPU-029", "", _of("gfx1030", "gfx1151", change=lambda m: m.write("proc/sys/kernel/osrelease", "6.14.0\n")), ("export ROCM_SDK_ROOTFS={root}/machine SEEN_BY_HIP=2",)),
    by_hand("a GPU has counted errors", "W-GPU-032", "", _of("gfx1030", change=lambda m: m.write(f"{_DEVICE}/ras/umc_err_count", "ue: 1\nce: 0\nde: 0\n")), _HERE),
    by_hand("a GPU is on the bus that the compute driver has not", "W-GPU-027", "", _of("gfx1030", change=_second_gpu), _HERE),
    by_hand("a firmware does harm", "W-GPU-028", "", _of("gfx1151", change=lambda m: m.write(f"{_DEVICE}/fw_version/mes_fw_version", "0x00000083\n")), _HERE),
    by_hand("no PCIe atomics", "W-GPU-031", "", _of("gfx1030", change=lambda m: m.write(f"{TOPOLOGY}/nodes/1/io_links/0/properties", "type 2\nflags 13\n")), _HERE),
    Situation("the driver is not loaded", "W-GPU-010", "modprobe", _on_the_bus, _HERE, is_tried=False),
    by_hand("the driver is being loaded", "W-GPU-012", "", lambda e: _on_the_bus(e, "coming"), _HERE),
    by_hand("the driver has no compute part", "W-GPU-013", "", lambda e: _on_the_bus(e, "live"), _HERE),
    by_hand("the compute driver knows no GPU", "W-GPU-014", "", lambda e: _on_the_bus(e, "live", has_topology=True), _HERE),
    by_hand("the topology is damaged", "E-GPU-004", "", _of("gfx1030", change=lambda m: m.write(f"{TOPOLOGY}/nodes/1/properties", "x")), _HERE),
)
# fmt: on
