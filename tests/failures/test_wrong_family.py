"""The packages of another GPU's family are installed: pip had cached the selector of another machine."""

from __future__ import annotations

from pathlib import Path

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
