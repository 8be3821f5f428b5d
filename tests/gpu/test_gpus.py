"""rocm_sdk.gpus() and check_gpu_access() on trees of files as the kernel makes them."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from other_user import OtherUser, program_with_rights, variables_of_program
from programs import completed
from sample_machine import GIB, TOPOLOGY, Machine, machine_of
from sample_site import Site, clean_environment

import rocm_sdk
from rocm_sdk import _native


def test_all_that_is_said_of_a_gpu(machine: Machine) -> None:
    machine.gpu(
        2,
        "gfx942",
        memory=192 * GIB,
        location_id=0xC100,
        device_id=0x74A1,
        unique_id=0xABCDEF0123456789,
        capability=1 << 26,
        hive_id=77,
        simd_count=1216,
        simd_per_cu=4,
        num_xcc=8,
    )
    machine.cpu(1)
    (gpu,) = rocm_sdk.gpus(root=machine.root)
    assert gpu.target == "gfx942:sramecc+:xnack-"
    assert (gpu.processor, gpu.node, gpu.hsa_node, gpu.hip_index) == ("gfx942", 2, 2, 0)
    assert (gpu.pci_address, gpu.render_node) == ("0000:c1:00.0", "/dev/dri/renderD130")
    assert (gpu.uuid, gpu.unique_id, gpu.hive_id) == ("GPU-abcdef0123456789", 0xABCDEF0123456789, 77)
    assert (gpu.compute_units, gpu.xcc_count, gpu.memory) == (304, 8, 192 * GIB)
    assert (gpu.hip_processors, gpu.marketing_name) == (304, None), "amdgpu.ids does not name it"
    assert (gpu.gpu_class, gpu.gpu_id, gpu.vendor_id, gpu.device_id) == ("data centre", 40002, 0x1002, 0x74A1)
    assert (gpu.partition, gpu.partition_count, gpu.usable, gpu.why_not) == (0, 1, True, None)
    assert rocm_sdk.check_gpu_access(root=machine.root) == ()


def test_what_hip_and_rocminfo_print(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """HIP counts pairs of compute units on what it takes for RDNA, and both name a GPU as amdgpu.ids does."""
    machine.gpu(1, "gfx1100")
    machine.write("usr/share/libdrm/amdgpu.ids", "1.0.0\n744C,\tC8,\tAMD Radeon RX 7900 XTX\n")
    machine.write("sys/bus/pci/devices/0000:01:00.0/revision", "0xc8\n")
    (gpu,) = rocm_sdk.gpus(root=machine.root)
    assert (gpu.marketing_name, gpu.compute_units, gpu.hip_processors) == ("AMD Radeon RX 7900 XTX", 96, 48)
    machine.write("usr/share/libdrm/amdgpu.ids", "1.0.0\n")
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "9.0.10")
    (gpu,) = rocm_sdk.gpus(root=machine.root)
    assert (gpu.marketing_name, gpu.compute_units, gpu.hip_processors) == (None, 96, 96)
    assert gpu.name.startswith("AMD Radeon RX 7900 XTX"), "of our own table"


def test_no_driver_and_no_gpu(tmp_path: Path, machine: Machine) -> None:
    assert rocm_sdk.gpus(root=tmp_path / "nothing") == ()
    (found,) = rocm_sdk.check_gpu_access(root=tmp_path / "nothing")
    assert (found.code, found.severity, found.facts.get("node")) == ("N-GPU-011", "note", None)
    assert found.title == "this machine has no AMD GPU"
    assert found.cause.startswith("the kernel shows no PCI bus; ")
    (tmp_path / "nothing/sys/bus/pci/devices").mkdir(parents=True)
    (found,) = rocm_sdk.check_gpu_access(root=tmp_path / "nothing")
    assert found.cause.startswith("none is on the PCI bus; ")
    assert rocm_sdk.gpus(root=machine.root) == ()
    assert [found.code for found in rocm_sdk.check_gpu_access(root=machine.root)] == ["W-GPU-014"]


def test_a_device_of_wsl_that_cannot_be_opened(other_user: OtherUser, open_directory: Path) -> None:
    device = open_directory / "machine/dev/dxg"
    device.parent.mkdir(parents=True)
    device.touch(mode=0o600)
    program = "import rocm_sdk, sys; print(*(each.code for each in rocm_sdk.check_gpu_access(root=sys.argv[1])))"
    result = other_user.run("-c", program, open_directory / "machine", check=True)
    assert result.stdout.split() == ["W-GPU-020", "W-GPU-021", "W-GPU-022", "W-GPU-023"]


def test_overrides(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.gpu(1, "gfx1031")
    machine.gpu(2, "gfx90a")
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "10.3.0")
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION_2", "9.0.8")
    first, second = rocm_sdk.gpus(root=machine.root)
    assert (first.real_processor, first.processor, first.overridden) == ("gfx1031", "gfx1030", True)
    assert (second.real_processor, second.processor, second.overridden) == ("gfx90a", "gfx908", True)
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0 ")
    assert [gpu.usable for gpu in rocm_sdk.gpus(root=machine.root)] == [False, False]
    assert "W-GPU-025" in [found.code for found in rocm_sdk.check_gpu_access(root=machine.root)]


def test_the_root_of_the_whole_process(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.gpu(1, "gfx1100")
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(machine.root))
    assert [gpu.processor for gpu in rocm_sdk.gpus()] == ["gfx1100"]
    assert [gpu.processor for gpu in rocm_sdk.gpus(root=os.fsencode(machine.root))] == ["gfx1100"]


def test_a_program_with_the_rights_of_another_looks_at_the_real_one(
    site: Site, other_user: OtherUser, tmp_path: Path
) -> None:
    """AT_SECURE is set where a program is set-user-ID: who starts it must not choose files that it reads."""
    machine = machine_of(site.path / "machine")
    machine.gpu(1, "gfx1100", unique_id=0xABCD)
    code = "import rocm_sdk; print([gpu.unique_id for gpu in rocm_sdk.gpus()])"
    variables = variables_of_program(other_user, site.path)
    with program_with_rights(other_user, tmp_path, site.path) as (user, program):
        here = user.run("-B", "-c", code, check=True, **variables).stdout
        variables |= {"ROCM_SDK_ROOTFS": str(machine.root)}
        assert user.run("-B", "-c", code, check=True, **variables).stdout == here
        program.chmod(0o755)
        assert user.run("-B", "-c", code, check=True, **variables).stdout == f"[{0xABCD}]\n" != here


@pytest.mark.parametrize("root", [3, "a\0b"])
def test_a_root_that_is_no_path(root: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        rocm_sdk.gpus(root=root)  # type: ignore[arg-type]


def test_a_gpu_that_vanishes_while_it_is_read(machine: Machine) -> None:
    """The topology changes all the time: each answer is one state of it, or an error that says so."""
    machine.gpu(1, "gfx942")
    machine.gpu(2, "gfx1100")
    node, away = machine.root / TOPOLOGY / "nodes/2", machine.root / "away"
    generation = machine.root / TOPOLOGY / "generation_id"
    stop = threading.Event()

    def plug_and_unplug() -> None:
        number = 3
        while not stop.is_set():
            for source, goal in ((node, away), (away, node)):
                (generation.with_name("new")).write_text(f"{number}\n")
                source.rename(goal)
                generation.with_name("new").rename(generation)
                number += 1

    thread = threading.Thread(target=plug_and_unplug)
    thread.start()
    answers = set()
    try:
        for _ in range(2000):
            answers.add(processors_or_error(machine))
    finally:
        stop.set()
        thread.join()
    assert answers
    assert answers <= {("gfx942",), ("gfx942", "gfx1100"), ("TopologyError",)}


def processors_or_error(machine: Machine) -> tuple[str, ...]:
    try:
        return tuple(gpu.processor for gpu in rocm_sdk.gpus(root=machine.root))
    except rocm_sdk.TopologyError as error:
        return (type(error).__name__,)


def test_nodes_that_the_device_cgroup_hides(machine: Machine, tmp_path: Path) -> None:
    """The kernel opens such a file and refuses to read it: strace plays the kernel, for the 2nd of three GPUs."""
    for node in (1, 2, 3):
        machine.gpu(node, "gfx942")
    program = f"import rocm_sdk; print(rocm_sdk.gpus(root={str(machine.root)!r}))"
    hidden = [f"{machine.root}/{TOPOLOGY}/nodes/2/{name}" for name in ("gpu_id", "properties")]
    strace = ["strace", "-f", "-o", str(tmp_path / "trace"), "-e", "inject=read,pread64:error=EPERM"]
    only = [word for path in hidden for word in ("-P", path)]
    result = completed([*strace, *only, sys.executable, "-c", program], env=clean_environment())
    if "PTRACE" in result.stderr:
        pytest.skip(f"strace may not trace here: {result.stderr.splitlines()[0]}")
    assert result.returncode == 0, result.stderr
    assert "EPERM" in (tmp_path / "trace").read_text()
    assert [f" node={node}," in result.stdout for node in (1, 2, 3)] == [True, False, True]


def test_it_ends_on_a_symlink_loop(machine: Machine) -> None:
    (machine.root / TOPOLOGY / "nodes/1").symlink_to("1")
    signal.alarm(20)
    try:
        with pytest.raises(rocm_sdk.TopologyError, match="nodes/1"):
            rocm_sdk.gpus(root=machine.root)
    finally:
        signal.alarm(0)


# The version of the graphics block that the amdgpu driver finds, and the target.
GC_VERSIONS = [
    ("12.1.0", "gfx1250"),
    ("11.5.4", "gfx1154"),
    ("11.5.6", "gfx1154"),
    ("11.7.0", "gfx1170"),
    ("11.7.1", "gfx1171"),
    ("12.0.1", "gfx1201"),
    ("11.5.5", None),
    ("12.1.1", None),
]


@pytest.mark.parametrize(("version", "target"), GC_VERSIONS)
def test_targets_by_the_graphics_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, target: str | None
) -> None:
    place = tmp_path / "sys/bus/pci/devices/0000:03:00.0"
    (place / "ip_discovery/die/0/GC/0").mkdir(parents=True)
    texts = {"vendor": "0x1002", "class": "0x030000", "device": "0xffff"}
    texts |= {
        f"ip_discovery/die/0/GC/0/{n}": v
        for n, v in zip(("major", "minor", "revision"), version.split("."), strict=True)
    }
    for name, text in texts.items():
        (place / name).write_text(f"{text}\n")
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(tmp_path))
    assert [each[0] for each in _native.detect_gpus()] == [target]
