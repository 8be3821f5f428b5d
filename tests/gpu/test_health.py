"""The condition of GPUs: each row of the checks is a tree of files as the kernel shows it."""

from pathlib import Path

import pytest
from sample_machine import GIB, TOPOLOGY, Machine

from rocm_sdk._native import gpu_health
from rocm_sdk.problems import Problem


@pytest.fixture
def device(machine: Machine) -> Path:
    """Return the PCI device of a GPU of gfx1100 without a fault."""
    machine.gpu(1, "gfx1100", memory=24 * GIB)
    return add_device(machine, "0000:01:00.0")


def add_device(machine: Machine, address: str, **memory: int) -> Path:
    name = f"sys/bus/pci/devices/{address}"
    texts = {
        "vendor": "0x1002\n",
        "class": "0x030000\n",
        "power/runtime_status": "active\n",
        "mem_info_vram_total": f"{memory.get('total', 24 * GIB)}\n",
        "mem_info_vis_vram_total": f"{memory.get('visible', 24 * GIB)}\n",
        "ras/gfx_err_count": "ue: 0\nce: 2\n",
        "ras/umc_err_count": "ue: 0\nce: 1\nde: 4\n",
    }
    for attribute, text in texts.items():
        machine.write(f"{name}/{attribute}", text)
    machine.write("proc/sys/kernel/osrelease", "6.18.2-amd64\n")
    machine.write("proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet\n")
    return machine.root / name


def item(machine: Machine, check: str) -> tuple[str, str, Problem | None]:
    """Return state, text and problem of the only item of a check."""
    ((state, text, problem),) = [rest for name, _, *rest in gpu_health(root=machine.root) if name == check]
    assert (problem is not None) == (state == "bad")
    return state, text, problem


@pytest.mark.usefixtures("device")
def test_nothing_is_wrong(machine: Machine) -> None:
    found = gpu_health(root=machine.root)
    assert [(check, node, state, text) for check, node, state, text, _ in found] == [
        ("power", 1, "good", "awake"),
        ("kernel", 1, "fact", "Linux 6.18.2-amd64; no version is known that gfx1100 needs"),
        ("BAR", 1, "good", "the processor reaches 25.8 GB of 25.8 GB"),
        ("atomics", 1, "good", "its PCIe link has atomics"),
        ("errors", 1, "good", "no uncorrected error; 3 corrected, 4 deferred"),
        ("bus", None, "good", "KFD has every GPU of AMD that is on the PCI bus"),
        ("IOMMU", None, "fact", "no parameter of the kernel"),
    ]
    assert not any(problem for *_, problem in found)


@pytest.mark.parametrize("status", ["suspended", "suspending"])
def test_a_gpu_that_sleeps_is_asked_nothing_else(machine: Machine, device: Path, status: str) -> None:
    (device / "power/runtime_status").write_text(f"{status}\n")
    (device / "ras/gfx_err_count").write_text("ue: 9\nce: 0\n")
    (device / "mem_info_vram_total").unlink()
    found = [(check, state, text) for check, node, state, text, _ in gpu_health(root=machine.root) if node == 1]
    assert found == [("power", "fact", "asleep, rest not read")]


@pytest.mark.parametrize(
    ("status", "state"), [("resuming", "good"), ("error", "fact"), ("unsupported", "fact"), (None, "unknown")]
)
def test_other_states_of_power(machine: Machine, device: Path, status: str | None, state: str) -> None:
    path = device / "power/runtime_status"
    if status is None:
        path.unlink()
    else:
        path.write_text(f"{status}\n")
    assert item(machine, "power")[0] == state
    assert item(machine, "errors")[0] == "good", "the rest is read"


@pytest.mark.parametrize(
    ("release", "state"),
    [
        ("6.17.8-2-generic\n", "bad"),
        ("6.9.12\n", "bad"),
        ("6.17.9\n", "good"),
        ("6.18-rc1\n", "good"),
        ("7.0.0-rc3+\n", "good"),
        ("99999999999999999999.1\n", "good"),
        ("unknown\n", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_kernel(machine: Machine, release: str, state: str) -> None:
    machine.gpu(1, "gfx1151", device_id=0x1586)
    add_device(machine, "0000:01:00.0")
    machine.write("proc/sys/kernel/osrelease", release)
    found = item(machine, "kernel")
    assert found[0] == state
    if found[2] is not None:
        assert found[2].code == "W-GPU-029"
        assert "Linux 6.17.9" in found[2].fix
        assert "distribution" in found[2].fix


@pytest.mark.parametrize(
    ("version", "state"),
    [("0x00000083\n", "bad"), ("0x00000080\n", "good"), ("junk\n", "unknown"), ("\n", "unknown"), (None, "unknown")],
)
@pytest.mark.parametrize("processor", ["gfx1150", "gfx1151"])
def test_firmware_that_is_known_to_do_harm(machine: Machine, processor: str, version: str | None, state: str) -> None:
    machine.gpu(1, processor, device_id=0x1586, fw_version=0x83)
    device = add_device(machine, "0000:01:00.0")
    if version is not None:
        machine.write(f"{device.relative_to(machine.root)}/fw_version/mes_fw_version", version)
    found = item(machine, "firmware")
    assert found[0] == state
    if found[2] is not None:
        assert found[2].code == "W-GPU-028"
        assert "MES 0x83" in found[2].cause
        assert "0x80" in found[2].fix


def test_the_same_version_means_nothing_on_another_gpu(machine: Machine, device: Path) -> None:
    machine.write(f"{device.relative_to(machine.root)}/fw_version/mes_fw_version", "0x00000083\n")
    assert "firmware" not in [check for check, *_ in gpu_health(root=machine.root)]


def test_the_memory_of_an_integrated_gpu(machine: Machine) -> None:
    machine.gpu(1, "gfx1151", memory=64 * GIB)
    device = add_device(machine, "0000:01:00.0", total=GIB // 2)
    assert item(machine, "memory")[0] == "unknown"
    machine.write(f"{device.relative_to(machine.root)}/mem_info_gtt_total", f"{64 * GIB}\n")
    state, text, _ = item(machine, "memory")
    assert state == "fact"
    assert "HIP sees 68.7 GB. The firmware reserves 0.5 GB. " in text
    assert "The GPU may take 68.7 GB more of system memory (GTT), " in text
    assert "ttm.pages_limit, which cannot be read" in text
    machine.write("sys/module/ttm/parameters/pages_limit", "16777216\n")
    assert "ttm.pages_limit=16777216 (" in item(machine, "memory")[1]
    assert "BAR" not in [check for check, *_ in gpu_health(root=machine.root)]


def test_a_small_bar(machine: Machine, device: Path) -> None:
    (device / "mem_info_vis_vram_total").write_text(f"{GIB // 4}\n")
    state, text, problem = item(machine, "BAR")
    assert (state, text) == ("bad", "the processor reaches 0.3 GB of 25.8 GB")
    assert problem is not None
    assert (problem.code, problem.severity) == ("N-GPU-030", "note")
    for content in ("", "-1\n", "999999999999999999999999\n", "4 GB\n"):
        (device / "mem_info_vis_vram_total").write_text(content)
        assert item(machine, "BAR")[0] == "unknown"


@pytest.mark.parametrize(
    ("links", "state", "bits"),
    [
        (["type 2\nflags 13\n"], "bad", "32 and 64 bits"),
        (["type 2\nflags 9\n"], "bad", " 64 bits"),
        (["type 2\nflags 5\n"], "bad", " 32 bits"),
        (["type 2\nflags 1\n", "type 2\nflags 4\n"], "bad", " 32 bits"),
        (["type 11\nflags 13\n"], "unknown", ""),
        (["type 11\nflags 13\n", "type 2\nflags 3\n"], "good", ""),
        (["type 2\nflags many\n"], "unknown", ""),
        (["type 2\nflags 13"], "unknown", ""),
        ([], "unknown", ""),
    ],
)
def test_atomics(machine: Machine, device: Path, links: list[str], state: str, bits: str) -> None:
    directory = machine.root / TOPOLOGY / "nodes/1/io_links"
    (directory / "0/properties").unlink()
    for number, text in enumerate(links):
        machine.write(f"{directory.relative_to(machine.root)}/{number}/properties", text)
    assert device.is_dir()
    found = item(machine, "atomics")
    assert found[0] == state
    assert bits in found[1]
    assert found[2] is None or found[2].code == "W-GPU-031"


def test_errors_of_the_memory(machine: Machine, device: Path) -> None:
    (device / "ras/umc_err_count").write_text("ue: 3\nce: 1\nde: 0\n")
    (device / "ras/aca_sdma").write_text("ue: 2\nce: 0\nde: 0\n")
    (device / "ras/features").write_text("feature mask: 0x4\n")
    state, text, problem = item(machine, "errors")
    assert (state, text) == ("bad", "5 uncorrected (aca_sdma, umc_err_count), 3 corrected, 0 deferred")
    assert problem is not None
    assert problem.code == "W-GPU-032"


def test_counters_that_cannot_be_read(machine: Machine, device: Path) -> None:
    for name in ("gfx_err_count", "umc_err_count"):
        (device / "ras" / name).write_text("")
    assert item(machine, "errors")[:2] == ("unknown", "its error counters cannot be read")
    (device / "ras/gfx_err_count").write_text("ue: 18446744073709551615\nce: 0\n")
    (device / "ras/aca_gfx").write_text("ue: 18446744073709551615\nce: 0\n")
    assert item(machine, "errors")[1].startswith("18446744073709551615 uncorrected")
    for path in (device / "ras").iterdir():
        path.unlink()
    assert item(machine, "errors")[:2] == ("fact", "it has no error counters")


def test_a_gpu_that_the_compute_driver_has_not(machine: Machine, device: Path) -> None:
    add_device(machine, "0000:41:00.0")
    state, text, problem = item(machine, "bus")
    assert (state, text) == ("bad", "0000:41:00.0: perhaps PCIe atomics or firmware")
    assert problem is not None
    assert problem.code == "W-GPU-027"
    assert "dmesg" in problem.fix
    other = machine.root / "sys/bus/pci/devices/0000:41:00.0"
    (other / "driver").symlink_to("../../../drivers/vfio-pci")
    assert item(machine, "bus")[0] == "good", "it is passed on to a virtual machine"
    (other / "driver").unlink()
    (other / "vendor").write_text("0x10de\n")
    assert item(machine, "bus")[0] == "good"
    device.rename(device.with_name("0000:01:00.1"))
    assert item(machine, "bus")[0] == "good", "a partition is a function of the same device"


def test_no_bus_to_look_at(machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    (machine.root / TOPOLOGY / "nodes/1/io_links/0/properties").unlink()
    assert {check: state for check, _, state, *_ in gpu_health(root=machine.root)} == {
        **dict.fromkeys(("power", "kernel", "BAR", "atomics", "bus", "IOMMU"), "unknown"),
        "errors": "fact",
    }


@pytest.mark.usefixtures("device")
def test_facts_about_the_iommu(machine: Machine) -> None:
    machine.write("proc/cmdline", "quiet amd_iommu=off iommu=pt root=/dev/x\n")
    assert item(machine, "IOMMU")[:2] == ("fact", "parameters of the kernel: amd_iommu=off iommu=pt")


def test_no_gpu_no_items(machine: Machine) -> None:
    assert gpu_health(root=machine.root) == ()
