"""Reports about prefixes that are no ROCm, or are called by the version of something else."""

from pathlib import Path

import pytest
from installed_rocm import Prefix as Made
from sample_prefix import run_on_prefix

from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.prefix_versions import release_of


# Files of other software in a prefix -> whether the prefix is a ROCm. conda's stands for the system's.
@pytest.mark.parametrize(
    ("path", "is_there"),
    [
        ("bin/amdgpu-arch", False),
        ("lib/libamd.so.3", False),
        ("include/amd.h", False),
        ("lib/libamdhip64.so.7", True),
        ("include/hip/hip_version.h", True),
        ("lib/cmake/rocrand/rocrand-config.cmake", True),
    ],
)
def test_what_shows_a_rocm_among_other_software(tmp_path: Path, path: str, is_there: bool) -> None:
    prefix = Made(tmp_path / "usr")
    prefix.file("conda-meta/history", "")
    prefix.file("bin/python", "")
    if ".so" in path:
        prefix.library(path)
    else:
        prefix.file(path, "# nothing\n")
    said = run_on_prefix(prefix.root)
    assert ("E-PREFIX-001" not in said.codes) == is_there
    if not is_there:
        assert said.status == 1


@pytest.mark.parametrize(("name", "release"), [("_rocm_sdk_devel", "5.2.3"), ("rocm", "5.2.21153")])
def test_the_release_of_a_tree_of_packages(tmp_path: Path, name: str, release: str) -> None:
    """As Debian's: HIP counts its builds, and rocm-cmake its own releases. The packages say which release they are."""
    prefix = Made(tmp_path / name)
    prefix.file("share/rocm/cmake/ROCMConfigVersion.cmake", 'set(PACKAGE_VERSION "0.8.0")\n')
    prefix.file("share/hip/version", "HIP_VERSION_MAJOR=5\nHIP_VERSION_MINOR=2\nHIP_VERSION_PATCH=21153\n")
    prefix.library("lib/libamdhip64.so.5")
    info = tmp_path / "rocm_sdk_core-5.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 5.2.3\n")
    assert release_of(Prefix(str(prefix.root))) == release


def test_the_release_is_not_that_of_rocm_cmake(tmp_path: Path) -> None:
    prefix = Made(tmp_path / "rocm")
    prefix.file("share/rocm/cmake/ROCMConfigVersion.cmake", 'set(PACKAGE_VERSION "0.8.0")\n')
    assert release_of(Prefix(str(prefix.root))) is None
    prefix.file("lib/cmake/hip/hip-config-version.cmake", 'set(PACKAGE_VERSION "5.2.3")\n')
    assert release_of(Prefix(str(prefix.root))) == "5.2.3"
