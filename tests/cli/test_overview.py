"""`rocm-sdk` without arguments: what is here, and what to type next."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_machine import Machine, machine_of
from sample_site import CORE, Site

from rocm_sdk.cli.commands import COMMANDS, GROUPS

Call = Callable[..., subprocess.CompletedProcess[str]]
TITLES = ["SDK", "place", "GPU", "verdict", "next"]


def overview(call: Call, machine: Machine, **variables: str) -> tuple[int, dict[str, str], list[str]]:
    """Return the exit status, the five lines by their titles, and the lines after them."""
    result = call(ROCM_SDK_ROOTFS=str(machine.root), **variables)
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert [line[:9].rstrip() for line in lines[:5]] == TITLES
    assert lines[5] == ""
    return result.returncode, {line[:9].rstrip(): line[9:] for line in lines[:5]}, lines[6:]


def test_an_sdk_for_the_gpus(call: Call, sdk: Site, tmp_path: Path) -> None:
    status, said, _ = overview(call, machine_of(tmp_path, "gfx942", "gfx942"))
    assert status == 0
    assert said["SDK"] == "ROCm 7.10.0, for gfx942 gfx1100"
    assert said["place"] == str(sdk.path)
    assert said["GPU"].startswith("2 x gfx942 ")
    assert said["GPU"].endswith(", 17.2 GB each, usable")
    assert said["verdict"] == "the SDK was built for each usable GPU"
    assert said["next"].split() == ["rocm-sdk", "test", *COMMANDS["test"].split()]


def test_an_sdk_for_other_gpus(call: Call, tmp_path: Path) -> None:
    _, said, _ = overview(call, machine_of(tmp_path, "gfx942", "gfx1030"))
    assert said["verdict"] == "the SDK was not built for gfx1030"
    assert said["next"].startswith("rocm-sdk check-gpu ")


def test_a_generic_target_is_for_its_gpus(call: Call, sdk: Site, tmp_path: Path) -> None:
    machine = machine_of(tmp_path, "gfx1102")
    sdk.write(f"{CORE}/share/therock/dist_info.json", '{"dist_amdgpu_targets": "gfx11-generic"}')
    assert overview(call, machine)[1]["verdict"] == "the SDK was built for each usable GPU"
    sdk.write(f"{CORE}/share/therock/dist_info.json", "{}")
    assert overview(call, machine)[1]["next"].startswith("rocm-sdk check-gpu ")


def test_an_sdk_that_names_no_targets(call: Call, sdk: Site, tmp_path: Path) -> None:
    """The targets are unknown: an empty text meant `for ` nothing, and built for none of the GPUs."""
    sdk.write(f"{CORE}/share/therock/dist_info.json", '{"dist_amdgpu_targets": ""}')
    _, said, _ = overview(call, machine_of(tmp_path, "gfx942"))
    assert said["SDK"] == "ROCm 7.10.0, for unknown GPUs"
    assert said["verdict"] == "the SDK does not say for which GPUs it was built"


def test_no_gpu(call: Call, tmp_path: Path) -> None:
    status, said, _ = overview(call, Machine(tmp_path))
    assert (status, said["GPU"]) == (0, "none that the kernel's driver knows")
    assert said["next"].startswith("rocm-sdk gpus ")
    machine = machine_of(tmp_path / "other", "gfx942")
    (machine.root / "dev/kfd").unlink()
    _, said, _ = overview(call, machine)
    assert ", not usable: " in said["GPU"]
    assert said["verdict"] == "no GPU is usable"


@pytest.mark.parametrize(
    ("gpus", "typed"), [((), "rocm-sdk install torch --gpu GPU"), (("gfx1100",), "rocm-sdk install torch")]
)
def test_without_an_sdk(call: Call, tmp_path: Path, gpus: tuple[str, ...], typed: str) -> None:
    status, said, _ = overview(call, machine_of(tmp_path, *gpus), PYTHONPATH="")
    assert (status, said["SDK"]) == (1, "not installed")
    assert said["next"].partition("  ")[0] == typed


def test_each_command_is_in_one_group(call: Call, tmp_path: Path) -> None:
    assert sorted(name for _, names in GROUPS.values() for name in names) == sorted(COMMANDS)
    _, _, rest = overview(call, machine_of(tmp_path, "gfx942"))
    shown = {line[:9].rstrip(): line[9:] for line in rest}
    for group, (words, names) in GROUPS.items():
        assert shown[group].split() == [*names, *words.split()]
    assert {"make", "help"} < shown.keys()
    assert max(map(len, rest)) <= 80
