"""The packages of another GPU's family are installed: pip had cached the selector of another machine."""

import json
from pathlib import Path

import pytest
from sample_devel import DevelSite
from sample_machine import Machine
from sample_report import run_test
from sample_site import CORE, LIBRARIES, Site


def test_both_families_are_named(tmp_path: Path, machine: Machine) -> None:
    machine.cpu(0)
    machine.gpu(1, "gfx1100")
    site = Site(tmp_path / "site-packages")
    (site.path / LIBRARIES / "__init__.py").unlink()
    (site.path / LIBRARIES).rmdir()
    families = ("gfx110X-all", "gfx94X-dcgpu")
    lines = ["__version__ = '7.10.0'", "DEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'"]
    site.write(
        "rocm_sdk_core/_dist_info.py",
        "\n".join(lines + [f"AVAILABLE_TARGET_FAMILIES.append({each!r})" for each in families]),
    )
    site.write(f"{LIBRARIES}_gfx94X_dcgpu/__init__.py")
    packages = DevelSite(site.path)
    packages.install("rocm-sdk-core", {f"{CORE}/__init__.py": b"", "rocm_sdk_core/__init__.py": b""})
    packages.install("rocm-sdk-libraries-gfx94X-dcgpu", {f"{LIBRARIES}_gfx94X_dcgpu/__init__.py": b""})
    said = run_test(site.path, "--only", "packages,gpus", ROCM_SDK_ROOTFS=str(machine.root))
    found = said.only("W-PKG-010")
    assert found["title"] == "the packages were chosen for gfx94x-dcgpu, the GPU here needs gfx110X-all"
    assert "--no-cache-dir" in found["fix"]
    assert "rocm[libraries]==7.10.0" in found["fix"]


@pytest.mark.parametrize(
    ("choice", "devices", "is_stale"),
    [
        ({"family": "gfx942", "why": "a GPU of this machine: gfx942"}, ("gfx942",), True),
        ({"family": "gfx942", "why": "ROCM_SDK_TARGET_FAMILY"}, ("gfx942",), False),
        ({"family": "gfx942", "why": "the default"}, ("gfx942", "gfx1100"), False),
        ({"family": "gfx942", "why": "the default"}, (), False),
        ({"family": "gfx1100", "why": "a GPU of this machine: gfx1100"}, ("gfx1100",), False),
        ({"family": ["gfx942"], "why": None}, ("gfx942",), False),
        ("x", ("gfx942",), False),
    ],
)
def test_a_choice_of_another_machine(
    tmp_path: Path, machine: Machine, choice: object, devices: tuple[str, ...], is_stale: bool
) -> None:
    machine.cpu(0)
    machine.gpu(1, "gfx1100")
    site = Site(tmp_path / "site-packages")
    lines = ["__version__ = '7.10.0'", 'ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"']
    lines += [f"AVAILABLE_TARGET_FAMILIES.append({each!r})" for each in ("gfx942", "gfx1100")]
    site.write("rocm_sdk_core/_dist_info.py", "\n".join(lines) + "\n")
    packages = DevelSite(site.path)
    packages.install("rocm-sdk-core", {f"{CORE}/__init__.py": b"", "rocm_sdk_core/__init__.py": b""})
    packages.install("rocm-sdk-libraries", {f"{LIBRARIES}/__init__.py": b""})
    for target in devices:
        packages.install(f"rocm-sdk-device-{target}", {f"{LIBRARIES}/.kpack/blas_{target}.kpack": b""})
    packages.install("rocm", {"rocm-7.10.0.dist-info/family.json": json.dumps(choice).encode()})
    said = run_test(site.path, "--only", "packages", ROCM_SDK_ROOTFS=str(machine.root))
    assert ("W-PKG-010" in said.codes) == is_stale
    if is_stale:
        found = said.only("W-PKG-010")
        assert found["title"] == "the packages were chosen for gfx942, the GPU here needs gfx1100"
        assert "rocm[libraries,device]==7.10.0" in found["fix"]
