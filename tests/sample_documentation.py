"""The machine and the SDK of the documentation: its examples run on them, in tests and when its pages are built."""

import sysconfig
from pathlib import Path

from sample_machine import GIB, Machine, machine_of
from sample_site import clean_environment

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.demo.sample import write_sample_site


def write_machine(root: Path) -> Path:
    """Write the machine of the page about GPUs, an MI300X and an APU, and return the root of its file system."""
    machine = machine_of(root)
    machine.gpu(1, "gfx942", memory=192 * GIB, location_id=0xC100, device_id=0x74A1, capability=1 << 26)
    machine.gpu(2, "gfx1036", memory=GIB // 2, location_id=0x0F00, device_id=0x164E)
    names = "1.0.0\n164E,\t00,\tAMD Radeon Graphics\n74A1,\t00,\tAMD Instinct MI300X\n"
    machine.write("usr/share/libdrm/amdgpu.ids", names)
    for address in ("0000:c1:00.0", "0000:0f:00.0"):
        machine.write(f"sys/bus/pci/devices/{address}/revision", "0x00\n")
    _write_condition(machine)
    return machine.root


def _write_condition(machine: Machine) -> None:
    """Write the kernel's files about the condition of the GPUs: the second GPU sleeps."""
    device = "sys/bus/pci/devices/0000:c1:00.0"
    machine.write(f"{device}/power/runtime_status", "active\n")
    machine.write(f"{device}/mem_info_vram_used", "1300000000\n")
    machine.write("sys/bus/pci/devices/0000:0f:00.0/mem_info_vram_used", "8400000\n")
    machine.write("sys/bus/pci/devices/0000:0f:00.0/power/runtime_status", "suspended\n")
    for name in ("mem_info_vram_total", "mem_info_vis_vram_total"):
        machine.write(f"{device}/{name}", f"{192 * GIB}\n")
    machine.write(f"{device}/ras/umc_err_count", "ue: 1\nce: 12\nde: 0\n")
    machine.write("proc/sys/kernel/osrelease", "6.18.2\n")
    machine.write("proc/cmdline", "quiet iommu=pt\n")


def write_site(directory: Path) -> Path:
    """Write the sample SDK as a site-packages directory of this name."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    write_sample_site(Shape("none"), directory)
    return directory


def environment(site: Path, machine: Path) -> dict[str, str]:
    """Return the variables of an example's run, without the configuration of pip and uv, which fixes would name."""
    own = {name: value for name, value in clean_environment().items() if not name.startswith(("PIP_", "UV_"))}
    variables = own | {"PYTHONPATH": str(site), "ROCM_SDK_ROOTFS": str(machine)}
    variables["PATH"] = f"{sysconfig.get_path('scripts')}:{variables['PATH']}"
    return variables
