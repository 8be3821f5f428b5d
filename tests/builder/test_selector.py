"""The selector `rocm` against the loader: for each machine and environment both choose the same family."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.metadata import Metadata
from sample_machine import GIB, TOPOLOGY, Machine

from rocm_sdk import RocmSdkError, _native, targets
from rocm_sdk_build.artifacts.families import Families
from rocm_sdk_build.artifacts.rocm_selector import backend
from rocm_sdk_build.artifacts.selector import write_selector
from rocm_sdk_build.dist_info import SdkFacts

LISTS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
PACKAGES = ("core", "libraries", "device", "devel", "profiler")
OFFERS = (
    ("gfx94X-dcgpu", "gfx110X-all", "gfx115X-igpu", "gfx120X-all"),
    ("gfx942", "gfx1100", "gfx90a", "gfx1151"),
    ("dgpu-all", "gfx110X-dgpu", "igpu-all"),
    ("gfx942:xnack+", "gfx125X-all", "gfx1999"),
)
Selectors = Mapping[tuple[str, ...], Mapping[str, Any]]


def write(directory: Path, offered: tuple[str, ...], default: str | None = None) -> Path:
    """The selector of an SDK with these families."""
    families = Families(None, None, set(offered))
    return write_selector(
        directory, SdkFacts("7.10.0", offered, default), families, "", is_kpack=True, packages=PACKAGES
    )


@pytest.fixture(scope="module")
def selectors(tmp_path_factory: pytest.TempPathFactory) -> Selectors:
    """What `selector.json` says for each of OFFERS."""
    found = {}
    for offered in OFFERS:
        with tarfile.open(write(tmp_path_factory.mktemp("selector"), offered)) as archive:
            member = archive.extractfile("rocm-7.10.0/selector.json")
            assert member is not None
            found[offered] = json.load(member)
    return found


def loader_choice(offered: tuple[str, ...]) -> str | None:
    try:
        return _native.choose_family(offered)[0]
    except RocmSdkError:
        return None


def agree(machine: Machine, selectors: Selectors, **variables: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in (*LISTS, "HSA_OVERRIDE_GFX_VERSION", "ROCM_SDK_TARGET_FAMILY"):
            patch.delenv(name, raising=False)
        for name, value in {**variables, "ROCM_SDK_ROOTFS": str(machine.root)}.items():
            patch.setenv(name, value)
        for offered, sdk in selectors.items():
            assert backend.choose(sdk)[0] == loader_choice(offered), (offered, variables)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "machine")
    machine.cpu(0)
    return machine


@pytest.mark.parametrize("target", [row.name for row in targets.table() if row.name != "gfx1250-strict"])
def test_one_gpu_of_each_kind(machine: Machine, selectors: Selectors, target: str) -> None:
    machine.gpu(1, target)
    agree(machine, selectors)
    agree(machine, selectors, HSA_OVERRIDE_GFX_VERSION="11.0.0")


def test_gpus_that_the_tables_do_not_know(machine: Machine, selectors: Selectors) -> None:
    for target in ("gfx1999", "gfx1259", "gfx94f"):
        machine.gpu(1, target)
        agree(machine, selectors)


@pytest.mark.parametrize("device_id", [*(row[0] for row in _native.pci_devices()), 0x9999])
def test_kernels_that_do_not_name_the_target(machine: Machine, selectors: Selectors, device_id: int) -> None:
    machine.gpu(1, "gfx1100", device_id=device_id, gfx_target_version=0)
    machine.gpu(2, "gfx1201", memory=GIB)
    agree(machine, selectors)


VALUES = ("", "0", "1", "2", "1,0", "0,0", "-1", "0x1", "01", "+1", "x", "GPU-1", "GPU-0000000000001002", "2,1,")
OVERRIDES = (None, "", "11.0.0", "9.4.2", "99.1.1", "9.4", "12.9.9")


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("override", OVERRIDES)
def test_variables_on_a_mixed_machine(machine: Machine, selectors: Selectors, name: str, override: str | None) -> None:
    machine.gpu(1, "gfx1151", memory=96 * GIB)
    machine.gpu(2, "gfx1201")
    machine.gpu(3, "gfx942", memory=192 * GIB, unique_id=0)
    base = {} if override is None else {"HSA_OVERRIDE_GFX_VERSION": override}
    agree(machine, selectors, **base)
    for value in VALUES:
        agree(machine, selectors, **base, **{name: value})


def test_overrides_of_nodes(machine: Machine, selectors: Selectors) -> None:
    machine.gpu(1, "gfx1151")
    machine.gpu(2, "gfx1201")
    for node, value in itertools.product(("0", "1", "2", "3", "01"), ("9.4.2", "11.0.0", "wrong")):
        agree(machine, selectors, **{f"HSA_OVERRIDE_GFX_VERSION_{node}": value})
    (machine.root / "dev/dri/renderD129").unlink()  # ROCm counts on without this one
    for node in ("0", "1", "2"):
        agree(machine, selectors, **{f"HSA_OVERRIDE_GFX_VERSION_{node}": "9.4.2"})
    agree(machine, selectors, HIP_VISIBLE_DEVICES="0")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nodes/1/properties", ""),
        ("nodes/1/properties", "simd_count"),
        ("nodes/1/properties", "simd_count 99999999999999999999\n"),
        ("nodes/1/properties", "simd_count -1\n"),
        ("nodes/1/properties", "gfx_target_version 110000\n"),
        ("nodes/1/properties", "simd_count 4\nvendor_id 70000\n"),
        ("nodes/1/properties", "simd_count 4\nlocation_id x\ngfx_target_version 110000\n"),
        ("nodes/1/gpu_id", "x\n"),
        ("nodes/1/mem_banks/0/properties", "heap_type 1\n"),
        ("generation_id", "two\n"),
        ("nodes/07/properties", "simd_count 1\n"),
        ("nodes/name/properties", "nonsense\n"),
    ],
)
@pytest.mark.parametrize("second", ["gfx1100", "gfx942"])
def test_a_damaged_topology(machine: Machine, selectors: Selectors, name: str, text: str, second: str) -> None:
    machine.gpu(1, "gfx1100")
    machine.gpu(2, second)
    machine.write(f"{TOPOLOGY}/{name}", text)
    agree(machine, selectors)


def test_no_topology(tmp_path: Path, machine: Machine, selectors: Selectors) -> None:
    agree(machine, selectors)
    machine.root = tmp_path / "nothing"
    agree(machine, selectors)


TARGETS = ("gfx942", "gfx90a", "gfx1100", "gfx1103", "gfx1151", "gfx1201", "gfx1999")
VALUE = st.one_of(st.none(), st.lists(st.sampled_from(VALUES), max_size=3).map(",".join))


@settings(max_examples=100)
@given(
    gpus=st.lists(st.sampled_from(TARGETS), max_size=4),
    memory=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    values=st.tuples(VALUE, VALUE, VALUE, st.sampled_from(OVERRIDES)),
)
def test_any_machine(
    selectors: Selectors,
    tmp_path_factory: pytest.TempPathFactory,
    gpus: list[str],
    memory: list[int],
    values: tuple[str | None, ...],
) -> None:
    machine = Machine(tmp_path_factory.mktemp("any") / "machine")
    for node, target in enumerate(gpus):
        machine.gpu(node, target, memory=memory[node] * GIB)
    names = (*LISTS[:3], "HSA_OVERRIDE_GFX_VERSION")
    given_values = {name: value for name, value in zip(names, values, strict=True) if value is not None}
    agree(machine, selectors, **given_values)


# ---- the wheel that it builds


def built(directory: Path, offered: tuple[str, ...], default: str | None, **variables: str) -> zipfile.ZipFile:
    """Builds the wheel as installers do, in an interpreter that has the standard library alone."""
    subprocess.run(["tar", "-xzf", str(write(directory, offered, default)), "-C", str(directory)], check=True)
    program = "import sys; sys.path.insert(0, '.'); from rocm_selector import backend; backend.build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(directory)],
        cwd=directory / "rocm-7.10.0",
        env={"PATH": os.environ["PATH"], **variables},
        check=True,
        capture_output=True,
    )
    return zipfile.ZipFile(directory / "rocm-7.10.0-py3-none-any.whl")


def test_what_was_chosen_and_why(tmp_path: Path, machine: Machine) -> None:
    machine.gpu(1, "gfx1100")
    archive = built(tmp_path, ("gfx1100", "gfx942"), "gfx942", ROCM_SDK_ROOTFS=str(machine.root))
    assert json.loads(archive.read("rocm-7.10.0.dist-info/family.json")) == {
        "family": "gfx1100",
        "why": "a GPU of this machine: gfx1100",
    }
    lines = archive.read("rocm-7.10.0.dist-info/METADATA").decode().splitlines()
    assert "Requires-Dist: rocm-sdk-device-gfx1100==7.10.0; extra == 'device'" in lines
    assert not any(name.startswith("rocm_sdk/") for name in archive.namelist())


def test_no_family_and_no_default(tmp_path: Path) -> None:
    archive = built(tmp_path, (), None, ROCM_SDK_ROOTFS=str(tmp_path / "nothing"))
    lines = archive.read("rocm-7.10.0.dist-info/METADATA").decode().splitlines()
    assert "Provides-Extra: device" not in lines
    assert "Provides-Extra: libraries" in lines


def test_a_family_that_the_sdk_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        built(tmp_path, ("gfx942",), "gfx942", ROCM_SDK_TARGET_FAMILY="gfx906")
    assert b"ROCM_SDK_TARGET_FAMILY=gfx906 is none of the families of this SDK: gfx942" in raised.value.stderr


def test_its_modules_import_the_standard_library_alone() -> None:
    for path in Path(backend.__file__).parent.glob("*.py"):
        lines = [
            line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(("import ", "from "))
        ]
        names = {line.split()[1].partition(".")[0] for line in lines} - {""}
        assert names <= sys.stdlib_module_names, path
        assert not names & {"socket", "urllib", "http", "ssl", "subprocess"}, path


def test_what_the_source_distribution_leaves_open(tmp_path: Path) -> None:
    """Installers take what PKG-INFO says for what the wheel will say, but for what it calls dynamic."""
    path = write(tmp_path, OFFERS[1])
    with tarfile.open(path) as archive:
        stream = archive.extractfile("rocm-7.10.0/PKG-INFO")
        assert stream is not None
        found = Metadata.from_email(stream.read(), validate=True)
    assert (found.metadata_version, found.dynamic) == ("2.4", ["requires-dist", "provides-extra"])
