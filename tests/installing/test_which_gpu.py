"""The GPU for which `rocm-sdk install` chooses packages: of the driver, of the bus, or named."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_machine import machine_of

pytestmark = pytest.mark.slow

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_discrete_or_integrated(install: Run, tmp_path: Path) -> None:
    root = str(machine_of(tmp_path / "both", "gfx1036", "gfx1100").root)
    assert "gfx1036" not in install("sdk", "--print", "--gpu", "discrete", ROCM_SDK_ROOTFS=root).stdout
    assert "gfx1100" not in install("sdk", "--print", "--gpu", "integrated", ROCM_SDK_ROOTFS=root).stdout
    assert "--gpu discrete leaves them out" in install("sdk", "--print", ROCM_SDK_ROOTFS=root).stderr
    said = install("sdk", "--print", "--gpu", "integrated", status=1)
    assert "no GPU of this machine is integrated" in said.stderr


def on_bus(root: Path, device: str, version: tuple[int, int, int] | None) -> str:
    """Make a machine whose GPU is on the PCI bus alone, and return its root."""
    place = root / "sys/bus/pci/devices/0000:03:00.0"
    place.mkdir(parents=True)
    for name, text in (("vendor", "0x1002"), ("class", "0x030000"), ("device", device)):
        (place / name).write_text(f"{text}\n")
    if version is not None:
        block = place / "ip_discovery/die/0/GC/0"
        block.mkdir(parents=True)
        for name, number in zip(("major", "minor", "revision"), version, strict=True):
            (block / name).write_text(f"{number}\n")
    return str(root)


def test_the_driver_without_kfd(install: Run, tmp_path: Path) -> None:
    root = on_bus(tmp_path / "driver", "0x744c", (11, 5, 1))
    said = install("sdk", "--print", ROCM_SDK_ROOTFS=root)
    assert "rocm[libraries,device-gfx1151]==" in said.stdout
    assert "0000:03:00.0: gfx1151, integrated, by the amdgpu driver: KFD does not have it" in said.stderr


def test_a_guess_by_the_pci_id(install: Run, tmp_path: Path) -> None:
    said = install("sdk", "--print", ROCM_SDK_ROOTFS=on_bus(tmp_path / "bus", "0x744c", None))
    assert "rocm[libraries,device-gfx1100]==" in said.stdout
    assert "0000:03:00.0: gfx1100, discrete: a guess by its PCI id" in said.stderr


@pytest.mark.parametrize("kind", ["none", "unknown", "wsl"])
def test_without_a_known_gpu_it_asks_for_one(install: Run, tmp_path: Path, kind: str) -> None:
    root = tmp_path / kind
    if kind == "unknown":
        on_bus(root, "0xffff", None)
    (root / "dev").mkdir(parents=True)
    if kind == "wsl":
        (root / "dev/dxg").touch()
    said = install("sdk", "--print", status=1, ROCM_SDK_ROOTFS=str(root))
    assert "fix: name it: rocm-sdk install sdk --print" in said.stderr
    assert " --gpu GPU  # its target or product, such as gfx1151 or MI300X" in said.stderr
    assert {"none": "no GPU was found", "unknown": "is not known here", "wsl": "/dev/dxg"}[kind] in said.stderr
    named = install("sdk", "--print", "--gpu", "gfx1100", ROCM_SDK_ROOTFS=str(root))
    assert "device-gfx1100" in named.stdout
    assert "N-GPU-041" not in named.stderr
    lacking = install("sdk", "--print", "--gpu", "gfx1102,gfx1030,gfx11-generic", ROCM_SDK_ROOTFS=str(root))
    assert "device-gfx1102" in lacking.stdout
    assert ("a GPU that is gfx1102, gfx1030: " in " ".join(lacking.stderr.split())) == (kind == "wsl")


def test_names_of_gpus_are_checked(install: Run) -> None:
    said = install("sdk", "--print", "--gpu", "gfx1110", status=2)
    assert "gfx1110" in said.stderr
    assert "fix:" in said.stderr or "did you mean" in said.stderr


def test_an_integrated_gpu_without_packages_is_left_out(install: Run, tmp_path: Path) -> None:
    """An integrated GPU does not count beside a GPU that has packages; alone it does."""
    root = str(machine_of(tmp_path / "both", "gfx1103", "gfx1100").root)
    said = install("sdk", "--print", ROCM_SDK_ROOTFS=root)
    assert "device-gfx1100" in said.stdout
    assert "gfx1103" not in said.stdout
    assert "gfx1103, the integrated GPU, is left out: rocm-sdk run --gpu supported PROGRAM" in said.stderr
    alone = str(machine_of(tmp_path / "alone", "gfx1103").root)
    assert "has no package for gfx1103" in install("sdk", "--print", status=1, ROCM_SDK_ROOTFS=alone).stderr
    two = str(machine_of(tmp_path / "two", "gfx1201", "gfx1100").root)
    assert "has no package for gfx1201" in install("sdk", "--print", status=1, ROCM_SDK_ROOTFS=two).stderr


def test_a_hidden_gpu_is_left_out(install: Run, tmp_path: Path) -> None:
    root = str(machine_of(tmp_path / "both", "gfx1036", "gfx1100").root)
    said = install("sdk", "--print", ROCM_SDK_ROOTFS=root, HIP_VISIBLE_DEVICES="1")
    assert "gfx1036" not in said.stdout
    assert "gfx1036 is left out: HIP_VISIBLE_DEVICES hides it" in said.stderr
    everything = install("sdk", "--print", ROCM_SDK_ROOTFS=root, HIP_VISIBLE_DEVICES="-1")
    assert "gfx1036" in everything.stdout, "where nothing is left, each counts"


def test_a_target_that_is_known_to_compute_wrongly(install: Run, tmp_path: Path) -> None:
    root = str(machine_of(tmp_path / "deck", "gfx1033").root)
    for words, variables in ((("--gpu", "gfx1033"), {}), ((), {"ROCM_SDK_ROOTFS": root})):
        said = install("sdk", "--print", *words, status=None, **variables)
        assert "gfx1033 is known to compute wrongly: training diverges" in said.stderr
        assert "[W-GPU-034]" in said.stderr
    assert "W-GPU" not in install("sdk", "--print").stderr


@pytest.mark.parametrize("words", [("--gpu", ""), ("--gpu=",), ("--gpu", ",")])
def test_a_gpu_without_a_name(install: Run, words: tuple[str, ...]) -> None:
    """The fix has the user's words, and a GPU in the place of that one."""
    said = install("torch", *words, "--print", status=2)
    fix = said.stderr.splitlines()[-1]
    assert fix.startswith("  fix: name it: rocm-sdk install torch --print")
    assert fix.endswith(" --gpu GPU  # its target or product, such as gfx1151 or MI300X")
    assert fix.count("--gpu") == 1
