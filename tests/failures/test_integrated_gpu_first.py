"""The integrated GPU is node 1, the discrete one node 2: the packages of the discrete one count."""

from pathlib import Path

from sample_machine import Machine
from sample_site import LIBRARIES, Site


def test_the_discrete_one_decides(tmp_path: Path, machine: Machine) -> None:
    machine.cpu(0)
    machine.gpu(1, "gfx1036", simd_count=4, memory=1 << 29)
    machine.gpu(2, "gfx1100")
    site = Site(tmp_path / "site-packages")
    (site.path / LIBRARIES / "__init__.py").unlink()
    (site.path / LIBRARIES).rmdir()
    lines = ["__version__ = '7.10.0'"]
    for family in ("gfx103X-all", "gfx110X-all"):
        lines.append(f"AVAILABLE_TARGET_FAMILIES.append({family!r})")
        package = f"{LIBRARIES}_{family.replace('-', '_')}"
        site.write(f"{package}/__init__.py")
        site.library("libhipsparse.so.4", package=package)
    site.write("rocm_sdk_core/_dist_info.py", "\n".join(lines))
    code = "import rocm_sdk; print(*rocm_sdk.find_libraries('hipsparse'))"
    found = site.run(code, ROCM_SDK_ROOTFS=str(machine.root)).stdout
    assert f"/{LIBRARIES}_gfx110X_all/lib/libhipsparse.so.4" in found
