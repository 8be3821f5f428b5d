"""The target family that a machine gets, in `rocm_sdk._dist_info` and for the libraries that are loaded."""

import warnings
from pathlib import Path

import pytest
from sample_machine import GIB, TOPOLOGY, Machine
from sample_site import CORE, DIST_INFO, Site

from rocm_sdk import _dist_info, _native, targets

FAMILIES = ("gfx94X-dcgpu", "gfx110X-all", "gfx115X-igpu", "gfx120X-all")


@pytest.fixture(autouse=True)
def _root(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_SDK_ROOTFS", str(machine.root))


def choose(*families: str) -> tuple[str | None, str | None]:
    return _native.choose_family(families or FAMILIES)[:2]


def test_nothing_fits(machine: Machine) -> None:
    assert choose() == (None, None)
    machine.gpu(1, "gfx1030")
    assert choose() == (None, None)


def test_a_discrete_gpu_goes_before_an_integrated_one_that_comes_first(machine: Machine) -> None:
    machine.gpu(1, "gfx1151", memory=96 * GIB)
    machine.gpu(2, "gfx1201", memory=16 * GIB)
    assert choose() == ("gfx120X-all", "gfx115X-igpu")


def test_a_visible_gpu_goes_before_a_hidden_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.gpu(1, "gfx1151")
    machine.gpu(2, "gfx1201")
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "0")
    assert choose() == ("gfx115X-igpu", None)


def test_more_memory_then_the_order_of_nodes(machine: Machine) -> None:
    machine.gpu(2, "gfx1100", memory=24 * GIB)
    machine.gpu(10, "gfx1201", memory=24 * GIB)
    assert choose() == ("gfx110X-all", "gfx120X-all")
    assert _native.choose_family(()) == (None, None, None)
    machine.gpu(11, "gfx942", memory=192 * GIB)
    assert choose()[0] == "gfx94X-dcgpu"


def test_gpus_without_an_offered_family_do_not_count(machine: Machine) -> None:
    machine.gpu(1, "gfx1030", memory=64 * GIB)
    machine.gpu(2, "gfx1103")
    assert choose() == ("gfx110X-all", None)


@pytest.mark.parametrize(
    ("target", "offered", "chosen"),
    [
        ("gfx1100", ("gfx1100", "gfx110X-dgpu", "dgpu-all"), "gfx110X-dgpu"),
        ("gfx1100", ("dgpu-all", "gfx1100"), "gfx1100"),
        ("gfx1100", ("gfx11", "dgpu-all"), "dgpu-all"),
        ("gfx942", ("gfx942:xnack+",), "gfx942:xnack+"),
        ("gfx90a", ("gfx90a-dcgpu",), "gfx90a-dcgpu"),
        ("gfx1999", ("gfx1999",), "gfx1999"),
        ("gfx1259", ("gfx94X-dcgpu", "gfx125X-all"), "gfx125X-all"),
        ("gfx1100", ("nonsense", "", "gfx", ":" * 100, "gfx110X-all" * 20), None),
    ],
)
def test_which_of_several_fits_best(machine: Machine, target: str, offered: tuple[str, ...], chosen: str) -> None:
    machine.gpu(1, target)
    assert choose(*offered) == (chosen, None)


def test_each_target_gets_each_of_its_families(machine: Machine) -> None:
    for row in targets.table():
        if targets.package_owner(row.name) == row.name:  # else the kernel does not tell it from its owner
            machine.gpu(1, row.name)
            assert [choose("gfx000", family)[0] for family in row.families] == [*row.families]
            assert choose(row.name)[0] == row.name


def test_an_override_decides_what_code_is_needed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.gpu(1, "gfx1036")
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0")
    assert choose() == ("gfx110X-all", None)


# ---- the established face


@pytest.fixture
def sdk(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return an SDK with one libraries package for each of two families."""
    lines = [line for line in DIST_INFO.splitlines() if "dist_package_template" not in line]
    lines += [f"AVAILABLE_TARGET_FAMILIES.append({name!r})" for name in ("gfx110X-all", "gfx120X-all")]
    site.write("rocm_sdk_core/_dist_info.py", "\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(site.path))
    return site


def test_the_environment_then_detection_then_the_default(
    sdk: Site, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sdk.path.exists()
    assert (_dist_info.discover_current_target_family(), _dist_info.determine_target_family()) == (None, "gfx94X-dcgpu")
    machine.gpu(1, "gfx1100")
    assert _dist_info.discover_current_target_family() == _dist_info.determine_target_family() == "gfx110X-all"
    monkeypatch.setenv("ROCM_SDK_TARGET_FAMILY", "gfx120X-all")
    assert _dist_info.determine_target_family() == "gfx120X-all"
    monkeypatch.setenv("ROCM_SDK_TARGET_FAMILY", "gfx906")
    with pytest.raises(ValueError, match="gfx906"):
        _dist_info.determine_target_family()


def test_mixed_machines_are_said_once(sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx1201")
    machine.gpu(2, "gfx1100", memory=48 * GIB)
    program = """
        import rocm_sdk._dist_info
        for _ in range(3):
            print(rocm_sdk._dist_info.determine_target_family())
    """
    result = sdk.run(program, ROCM_SDK_ROOTFS=str(machine.root))
    assert result.stdout.split() == ["gfx110X-all"] * 3
    assert result.stderr.count("RocmSdkWarning") == 1
    assert "gfx110X-all is used, not gfx120X-all; set ROCM_SDK_TARGET_FAMILY" in result.stderr


def test_a_damaged_topology_is_a_warning_and_no_family(sdk: Site, machine: Machine) -> None:
    assert sdk.path.exists()
    machine.gpu(1, "gfx1201")
    machine.write(f"{TOPOLOGY}/nodes/1/properties", "simd_count")
    with pytest.warns(match="nodes/1/properties"):
        assert _dist_info.discover_current_target_family() is None


@pytest.mark.parametrize(("target", "family"), [("gfx1201", "gfx120X_all"), ("gfx1100", "gfx110X_all")])
def test_the_libraries_that_fit_are_the_ones_that_are_found(
    sdk: Site, machine: Machine, target: str, family: str
) -> None:
    machine.gpu(1, target)
    for name in ("gfx110X_all", "gfx120X_all"):
        sdk.write(f"_rocm_sdk_libraries_{name}/__init__.py")
        sdk.library("libhipsparse.so.1", package=f"_rocm_sdk_libraries_{name}")
    sdk.library("libamdhip64.so.7", package=CORE)
    program = "import rocm_sdk; print(rocm_sdk.locate('hipsparse').path)"
    found = Path(sdk.output(program, "-Werror", ROCM_SDK_ROOTFS=str(machine.root)))
    assert found.parent.parent.name == f"_rocm_sdk_libraries_{family}"


def test_a_mixed_machine_with_both_libraries_is_told(sdk: Site, machine: Machine) -> None:
    machine.gpu(1, "gfx1201")
    machine.gpu(2, "gfx1103")
    for name in ("gfx110X_all", "gfx120X_all"):
        sdk.write(f"_rocm_sdk_libraries_{name}/__init__.py")
        sdk.library("libhipsparse.so.1", package=f"_rocm_sdk_libraries_{name}")
    program = "import rocm_sdk; rocm_sdk.preload_libraries('hipsparse')"
    result = sdk.run(program, ROCM_SDK_ROOTFS=str(machine.root))
    assert "the libraries for gfx120X-all are used, not those for gfx110X-all" in result.stderr


def test_no_warnings_where_there_is_nothing_to_say(sdk: Site, machine: Machine) -> None:
    assert sdk.path.exists()
    machine.gpu(1, "gfx1201")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _dist_info.determine_target_family() == "gfx120X-all"
