"""`rocm-sdk test --sdk` on Debian's packages of ROCm and clang, unpacked below a staging directory by dpkg-deb."""

import os
import shutil
from pathlib import Path

import pytest
from sample_prefix import run_on_prefix
from sample_report import Said

from rocm_sdk_build.building.debian import Source, apt_of

pytestmark = pytest.mark.slow

BUILD = Path(__file__).resolve().parents[2] / "build"
PACKAGES = (
    *("libamdhip64-5", "libamdhip64-dev", "libhsa-runtime64-1", "libhsa-runtime-dev", "libhsakmt1", "libamd-comgr2"),
    *(
        "libdrm2",
        "libdrm-amdgpu1",
        "libnuma1",
        "libamd-comgr-dev",
        "libhiprtc-builtins5",
        "librocrand1",
        "librocrand-dev",
        "libhiprand1",
        "libhiprand-dev",
    ),
    *("librocm-smi64-1", "rocminfo", "hipcc", "rocm-device-libs"),
    *("clang-15", "libclang-common-15-dev", "libclang-cpp15", "libllvm15"),
)
LIBRARIES = "usr/lib/x86_64-linux-gnu"

# The faults of Debian 12: other packages have files that these name.
CLANG = {"ClangTargets-release.cmake", "PollyExports-all.cmake"}


@pytest.fixture(scope="module")
def unpacked() -> list[Path]:
    if shutil.which("apt-get") is None or "VERSION_CODENAME=bookworm" not in Path("/etc/os-release").read_text():
        pytest.skip("the packages are those of Debian 12")
    apt = apt_of(Source(BUILD / "debian"))
    apt.update()
    return list(apt.unpack(apt.candidates(PACKAGES)).values())


@pytest.fixture
def destdir(unpacked: list[Path], tmp_path: Path) -> Path:
    """Return links to the files of all packages: a test may remove or replace them, and never write into them."""
    for package in unpacked:
        shutil.copytree(package, tmp_path / "stage", symlinks=True, dirs_exist_ok=True, copy_function=link_or_copy)
    return tmp_path / "stage"


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def run(destdir: Path, *words: str) -> Said:
    return run_on_prefix(destdir / "usr", "--destdir", str(destdir), *words)


def test_what_debian_has_is_tested_and_what_is_wrong_is_named(destdir: Path) -> None:
    said = run(destdir)
    errors = [each for each in said.problems if each["severity"] == "error"]
    assert said.status == 1
    assert {each["code"] for each in errors} == {"E-PREFIX-004", "E-PREFIX-009"}, errors
    assert said.only("E-PREFIX-004")["title"].startswith("libclang_rt.asan-i386.so looks for libraries in /build/llvm")
    assert {Path(str(each["path"])).name for each in errors if each["code"] == "E-PREFIX-009"} == CLANG
    assert said.document["version"] == "5.2.21153"
    counts = {each["subject"]: each["count"] for each in said.document["subjects"]}
    assert counts["libraries"] >= 10
    assert counts["tools"] >= 7
    assert counts["prefix"] > 300
    assert said.only("N-DEVEL-006")["path"] == str(destdir / "usr/lib/llvm-15/lib/clang/15.0.6")
    assert run(destdir, "--skip", "E-PREFIX-004,E-PREFIX-009").status == 0


def test_a_real_library_that_is_lost(destdir: Path) -> None:
    for path in (destdir / LIBRARIES).glob("libhsakmt.so*"):
        path.unlink()
    found = run(destdir, "--only", "libraries").only("E-PREFIX-005")
    assert found["title"] == (
        "libhsa-runtime64.so.1.5.0 needs libhsakmt.so.1, which is in neither the prefix nor the build root"
    )


def test_a_real_clang_of_another_version_of_its_files(destdir: Path) -> None:
    """The directory of the headers has another version, as after a rebuild with a newer LLVM."""
    place = destdir / "usr/lib/llvm-15/lib/clang"
    (place / "15.0.6").rename(place / "15.0.7")
    found = run(destdir, "--only", "devel").only("E-DEVEL-004")
    assert found["cause"].startswith(f"clang -print-resource-dir says {place}/15.0.6, which is not there")
    assert "15.0.7" in found["cause"]


@pytest.mark.parametrize("place", ["lib/llvm/amdgcn", "amdgcn"])
def test_a_real_clang_and_device_libraries_as_in_rocm(destdir: Path, tmp_path: Path, place: str) -> None:
    """The same clang where ROCm has it, lib/llvm/bin: it takes those beside it, not PREFIX/amdgcn as AMD's own does."""
    root = tmp_path / "final/opt/rocm"
    shutil.copytree(destdir / "usr/lib/llvm-15", root / "lib/llvm", symlinks=True, copy_function=link_or_copy)
    shutil.copytree(destdir / LIBRARIES / "amdgcn", root / place, copy_function=link_or_copy)
    for name in ("libclang-cpp.so.15", "libLLVM-15.so.1"):
        (library,) = (path for path in (destdir / LIBRARIES).glob(name) if path.is_file())
        for target in (root / "lib" / name, root / "lib/llvm/lib" / name):
            target.unlink(missing_ok=True)
            link_or_copy(str(library.resolve()), str(target))
    said = run_on_prefix(root, "--only", "E-PREFIX-010,E-DEVEL-004,N-DEVEL-006")
    if place == "lib/llvm/amdgcn":
        assert said.codes == {"N-DEVEL-006"}, said.problems
    else:
        found = said.only("E-PREFIX-010")
        assert "cannot find ROCm device library" in found["cause"]
        assert f"they are in {root}/amdgcn/bitcode" in found["cause"]
