"""`rocm-sdk info --sizes`: by package, library and target."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from sample_device_code import bundle, compressed, library, objects
from sample_machine import machine_of
from sample_report import install
from sample_site import LIBRARIES, Site

Call = Callable[..., subprocess.CompletedProcess[str]]


def test_sizes(call: Call, sdk: Site, tmp_path: Path) -> None:
    directory = sdk.path / LIBRARIES / "lib"
    content = bundle(objects("gfx1030", "gfx942", size=50_000))
    library(directory / "librocrand.so.1", [content])
    library(directory / "librccl.so.1", [compressed(content, 3)])
    install(sdk)
    machine = machine_of(tmp_path / "machine", "gfx1030")
    result = call("info", "--sizes", "--json", ROCM_SDK_ROOTFS=str(machine.root))
    assert result.returncode == 0
    answer = json.loads(result.stdout)
    assert answer["schema"] == 1
    assert answer["gpus"] == ["gfx1030"]
    assert answer["targets"] == [
        {"target": "gfx942", "size": 100_000, "images": 2, "used": False},
        {"target": "gfx1030", "size": 100_000, "images": 2, "used": True},
    ]
    by_name = {each["name"]: each for each in answer["libraries"]}
    assert list(by_name) == ["rocrand", "rccl"]
    assert by_name["rocrand"]["code"] == len(content)
    assert by_name["rocrand"]["plain"] == by_name["rccl"]["plain"] == 100_000
    assert by_name["rccl"]["code"] < by_name["rocrand"]["code"] + 100
    assert by_name["rocrand"]["targets"] == {"gfx1030": 50_000, "gfx942": 50_000}
    packages = {each["name"]: each for each in answer["packages"]}
    assert packages["rocm-sdk-libraries"]["code"] == answer["code"] == sum(each["code"] for each in by_name.values())
    assert packages["rocm-sdk-core"]["code"] == 0
    text = call("info", "--sizes", ROCM_SDK_ROOTFS=str(machine.root)).stdout
    assert "target   decompressed  images  used here" in text.splitlines()
    assert "gfx942       100.0 kB       2  no" in text.splitlines()
    assert text.splitlines()[-1] == "100.0 kB of 200.0 kB are for targets that no GPU of this machine uses"


def test_no_gpu_uses_nothing_and_wastes_nothing(call: Call, sdk: Site, tmp_path: Path) -> None:
    library(sdk.path / LIBRARIES / "lib/librocrand.so.1", [bundle(objects("gfx942", size=50_000))])
    install(sdk)
    text = call("info", "--sizes", ROCM_SDK_ROOTFS=str(tmp_path)).stdout
    assert "target  decompressed  images" in text.splitlines()
    assert "gfx942       50.0 kB       1" in text.splitlines()
    assert "no GPU" not in text


def test_no_code(call: Call, tmp_path: Path) -> None:
    result = call("info", "--sizes", ROCM_SDK_ROOTFS=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
