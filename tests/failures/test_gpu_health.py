"""GPUs in a condition in which they hang, crash or are slow: the report names it before a program meets it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sample_machine import GIB, TOPOLOGY, Machine, machine_of
from sample_report import install, run_test
from sample_site import Site

DEVICE = "sys/bus/pci/devices/0000:01:00.0"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Strix Halo, and nothing wrong with it."""
    machine = machine_of(tmp_path / "machine")
    machine.gpu(1, "gfx1151", device_id=0x1586)
    machine.write(f"{DEVICE}/power/runtime_status", "active\n")
    machine.write(f"{DEVICE}/fw_version/mes_fw_version", "0x00000080\n")
    machine.write(f"{DEVICE}/ras/umc_err_count", "ue: 0\nce: 0\nde: 0\n")
    machine.write("proc/sys/kernel/osrelease", "6.18.0\n")
    return machine


def second_gpu(machine: Machine) -> None:
    other = "sys/bus/pci/devices/0000:41:00.0"
    machine.write(f"{other}/vendor", "0x1002\n")
    machine.write(f"{other}/class", "0x038000\n")


def old_kernel(machine: Machine) -> None:
    machine.write("proc/sys/kernel/osrelease", "6.14.0-37-generic\n")


def bad_firmware(machine: Machine) -> None:
    machine.write(f"{DEVICE}/fw_version/mes_fw_version", "0x00000083\n")


def small_bar(machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    machine.write(f"{DEVICE}/mem_info_vram_total", f"{16 * GIB}\n")
    machine.write(f"{DEVICE}/mem_info_vis_vram_total", f"{GIB // 4}\n")


def no_atomics(machine: Machine) -> None:
    machine.write(f"{TOPOLOGY}/nodes/1/io_links/0/properties", "type 2\nflags 13\n")


def errors(machine: Machine) -> None:
    machine.write(f"{DEVICE}/ras/umc_err_count", "ue: 1\nce: 0\nde: 0\n")


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (second_gpu, "W-GPU-027"),
        (bad_firmware, "W-GPU-028"),
        (old_kernel, "W-GPU-029"),
        (small_bar, "N-GPU-030"),
        (no_atomics, "W-GPU-031"),
        (errors, "W-GPU-032"),
    ],
)
def test_each_is_named_with_a_fix(
    linked_site: Site, machine: Machine, damage: Callable[[Machine], None], code: str
) -> None:
    install(linked_site)
    variables = {"ROCM_SDK_ROOTFS": str(machine.root)}
    sound = {found["code"] for found in run_test(linked_site.path, "--only", "gpus", **variables).problems}
    damage(machine)
    report = run_test(linked_site.path, "--only", "gpus", **variables)
    assert {found["code"] for found in report.problems} - sound == {code}
    assert report.only(code)["fix"]


def test_a_gpu_that_sleeps_has_no_problem(linked_site: Site, machine: Machine) -> None:
    install(linked_site)
    errors(machine)
    bad_firmware(machine)
    machine.write(f"{DEVICE}/power/runtime_status", "suspended\n")
    report = run_test(linked_site.path, "--only", "gpus", ROCM_SDK_ROOTFS=str(machine.root))
    assert not {"W-GPU-028", "W-GPU-032"} & {found["code"] for found in report.problems}
