"""The development wheel made from a small Debian: an archive whose files fit the layout of the tree."""

import shutil
import stat
import tarfile
from pathlib import Path

import pytest
from established_extractor import contents, extract
from sample_site import run_python
from small_debian import LIBRARIES

TREE = "_rocm_sdk_devel/"


@pytest.fixture(scope="module")
def site(debian_site: Path) -> Path:
    return debian_site


@pytest.fixture
def members(site: Path) -> dict[str, tuple[tarfile.TarInfo, str]]:
    """Return the members by their paths in the tree: the header, and the content or the text of the link."""
    with tarfile.open(site / "rocm_sdk_devel/_devel.tar") as archive:
        found = {}
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            found[member.name.removeprefix(TREE)] = member, file.read().decode() if file else member.linkname
    return found


@pytest.mark.slow
def test_the_wheel_holds_the_archive_and_no_tree(site: Path) -> None:
    assert {path.name for path in (site / "rocm_sdk_devel").iterdir()} >= {
        "__init__.py",
        "_devel.tar",
        "_dist_info.py",
    }
    assert not (site / "_rocm_sdk_devel").exists()
    licenses = site / "rocm_sdk_devel-5.2.3.dist-info/licenses"
    assert "libamdhip64-dev" in {path.name for path in (licenses / "share/doc").iterdir()}


@pytest.mark.slow
def test_files_lie_where_the_tree_has_them(site: Path, members: dict[str, tuple[tarfile.TarInfo, str]]) -> None:
    links = {name: text for name, (member, text) in members.items() if member.issym()}
    files = [name for name, (member, _) in members.items() if member.isfile()]
    assert files == [
        "__init__.py",
        "include/amd_comgr.h",
        "include/rocprim/rocprim.hpp",
        "lib/cmake/AMDDeviceLibs/AMDDeviceLibsConfig.cmake",
        "lib/cmake/hip/hip-config.cmake",
        "lib/cmake/hip/hip-targets.cmake",
        "lib/cmake/rocm/ROCMConfig.cmake",
        "lib/pkgconfig/libhsakmt.pc",
        *(f"share/doc/{package}/copyright" for package in sorted({*LIBRARIES, "libamdhip64-dev"})),
        "share/rocmcmakebuildtools/cmake/a.cmake",
    ]
    for name in ("bin/hipcc", "bin/hipvars.pm", "include/hip/amd_detail/hip.h", "lib/llvm/amdgcn/bitcode/ocml.bc"):
        assert links[name].endswith(f"../_rocm_sdk_core/{name}")
    assert links["include/hip/hcc_detail"] == "amd_detail"
    assert links["lib/libamdhip64.so"] == "libamdhip64.so.5"
    assert links["lib/libamdhip64.so.5"] == "../../_rocm_sdk_core/lib/libamdhip64.so.5"
    host = "lib/rocm_sysdeps/lib/libtinyhost.so.2"
    assert links[host] == f"../../../../_rocm_sdk_core/{host}"
    modes = {
        name: stat.S_IMODE((site / "_rocm_sdk_core" / name).stat().st_mode) for name in ("bin/hipcc", "bin/hipvars.pm")
    }
    assert modes == {"bin/hipcc": 0o755, "bin/hipvars.pm": 0o644}


def test_links_to_runtime_packages_lead_somewhere(site: Path, members: dict[str, tuple[tarfile.TarInfo, str]]) -> None:
    for name, (member, text) in members.items():
        if member.issym() and "_rocm_sdk_" in text:
            assert (site / TREE / name).parent.joinpath(text).resolve() == site / Path(text.lstrip("./"))
            assert (site / Path(text.lstrip("./"))).is_file()


def test_texts_say_what_is_true_of_the_tree(site: Path, members: dict[str, tuple[tarfile.TarInfo, str]]) -> None:
    assert (site / "_rocm_sdk_core/bin/hipvars.pm").read_text() == "$ENV{'ROCM_PATH'} // \"$HIP_PATH\";\n"
    assert members["lib/cmake/hip/hip-config.cmake"][1] == (
        "cmake_minimum_required(VERSION 3.3...3.25)\n"
        'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../" ABSOLUTE)\n'
        'set(ROCM_PATH "${PACKAGE_PREFIX_DIR}")\n'
    )
    up = 'get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)\n'
    expected = f'{up * 3}set(file "${{_IMPORT_PREFIX}}/lib/libamdhip64.so.5.0.7")\n'
    assert members["lib/cmake/hip/hip-targets.cmake"][1] == expected
    assert "/lib/llvm/amdgcn/bitcode/ocml.bc" in members["lib/cmake/AMDDeviceLibs/AMDDeviceLibsConfig.cmake"][1]
    include = "include(${CMAKE_CURRENT_LIST_DIR}/../../../share/rocmcmakebuildtools/cmake/a.cmake)\n"
    assert members["lib/cmake/rocm/ROCMConfig.cmake"][1] == include
    assert members["lib/pkgconfig/libhsakmt.pc"][1] == (
        "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\nincludedir=${prefix}/include\n"
    )


def test_both_extractors_make_the_same_tree(
    site: Path, members: dict[str, tuple[tarfile.TarInfo, str]], tmp_path: Path
) -> None:
    other, site = shutil.copytree(site, tmp_path / "other"), shutil.copytree(site, tmp_path / "site")
    tree = extract(other / "rocm_sdk_devel/_devel.tar", other)
    run_python(f"import sys; sys.path.insert(0, {str(site)!r}); import rocm_sdk.cli; rocm_sdk.cli.main(['init'])")
    assert contents(tree) == contents(site / TREE)
    assert contents(tree).keys() == members.keys()
    soname = tree / "lib/libamdhip64.so.5"
    assert (tree / "lib/libamdhip64.so").samefile(soname)
    assert not soname.is_symlink()
