"""Development trees that never had files of the packages, or that have copies of them."""

import json
import shlex
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from checked_packages import built, path_of, rewritten
from checked_packages import problems as packaging_problems
from sample_devel import DevelSite, core_files, device_files, libraries_files, sample_members
from stored_builds import stored

BITCODE = "lib/llvm/amdgcn/bitcode/ocml.bc"
ARCHIVE = ".kpack/rand_lib_gfx942.kpack"


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    return DevelSite(tmp_path / "site-packages")


def problems(site: DevelSite, *words: str) -> list[tuple[str, str, str]]:
    """Return code, cause and fix of the problems that `test` finds in the tree, notes left out."""
    done = site.command("test", "--only", "devel", "--json", *words, check=False)
    found = json.loads(done.stdout)["problems"]
    return [(each["code"], each["cause"], each["fix"]) for each in found if each["severity"] != "note"]


def checked(site: DevelSite) -> tuple[int, str]:
    """Return status and standard error of `init --check`."""
    done = site.command("init", "--check", check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("path", [BITCODE, "lib/libnew.so.1", ".kpack/core.kpack"])
def test_an_archive_without_a_file_of_core(site: DevelSite, path: str) -> None:
    site.install("rocm-sdk-core", core_files() | {f"_rocm_sdk_core/{path}": b"a file"})
    site.install("rocm-sdk-libraries", libraries_files())
    site.install_devel(sample_members())
    told = f"_rocm_sdk_core/{path} is installed, and not in the tree"
    assert f"{told} [E-DEVEL-014]; " in site.command("init").stderr
    status, said = checked(site)
    assert status == 1
    assert told in said
    assert "whose `rocm-sdk-build check` names the files" in said
    ((code, cause, fix),) = problems(site)
    assert (code, cause) == ("E-DEVEL-014", told)
    assert "rocm-sdk-devel" in fix


def test_many_files_are_one_problem(site: DevelSite) -> None:
    more = {f"_rocm_sdk_libraries/lib/rocblas/library/{i}.dat": b"kernels" for i in range(9)}
    site.install("rocm-sdk-core", core_files())
    site.install("rocm-sdk-libraries", libraries_files() | more)
    site.install_devel(sample_members())
    site.command("init", "--quiet")
    ((code, cause, _),) = problems(site)
    assert code == "E-DEVEL-014"
    assert cause.endswith("/rocblas/library/3.dat and 5 more are installed, and not in the tree")


def test_a_device_package_without_its_list_of_links(site: DevelSite) -> None:
    files = {name: data for name, data in device_files("gfx942").items() if not name.endswith(".json")}
    site.install_sdk()
    site.install("rocm-sdk-device-gfx942", files)
    status, said = checked(site)
    assert status == 1
    assert "gfx942_0.co, _rocm_sdk_libraries/lib/rocblas/library/gfx942_1.co are installed, and not in the tree" in said
    ((code, _, fix),) = problems(site)
    assert code == "E-DEVEL-014"
    assert "rocm-sdk-device-gfx942" in fix


def test_a_list_of_links_without_an_archive_of_kernels(site: DevelSite) -> None:
    site.install_sdk()
    site.install("rocm-sdk-device-gfx942", device_files("gfx942") | {f"_rocm_sdk_libraries/{ARCHIVE}": b"KPAK"})
    assert checked(site)[0] == 1
    ((code, cause, _),) = problems(site)
    assert (code, cause) == ("E-DEVEL-014", f"_rocm_sdk_libraries/{ARCHIVE} is installed, and not in the tree")


def test_what_is_outside_by_design(site: DevelSite) -> None:
    """The profiler, modules, and packages of other releases; a device package that came later is told of otherwise."""
    site.install("rocm-sdk-core", core_files() | {"_rocm_sdk_core/lib/__init__.py": b""})
    site.install("rocm-sdk-libraries", libraries_files())
    site.install_devel(sample_members())
    site.install("rocm-profiler", {"_rocm_profiler/lib/libprofiler.so.1": b"", "_rocm_sdk_profiler/x.so": b""})
    site.install("rocm-sdk-device-gfx90a", {"_rocm_sdk_libraries/lib/old.co": b"old"}, "0.0.1")
    assert checked(site)[0] == 0
    site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    assert [code for code, _, _ in problems(site)] == ["W-DEVEL-007"]
    (site.tree / "lib/libamdhip64.so.7").unlink()
    assert [code for code, _, _ in problems(site)] == ["E-DEVEL-002"]


def test_copies_where_links_belong(site: DevelSite) -> None:
    """As `cp -a` and the layers of an image leave them; `init` makes one file of two."""
    site.install_sdk()
    site.install("rocm-sdk-device-gfx942", device_files("gfx942"))
    site.command("init", "--quiet")
    names = ("lib/libamdhip64.so.7", "lib/libhiprand.so.1", "bin/hipcc", "lib/rocblas/library/gfx942_0.co")
    for name in names:
        path, copy = site.tree / name, site.path / "copy"
        shutil.copy2(path, copy)
        copy.replace(path)
    ((code, cause, fix),) = problems(site)
    assert code == "W-DEVEL-015"
    assert "has copies where links belong, as " in cause
    program, *words = shlex.split(fix, comments=True)
    assert program == "rocm-sdk"
    done = site.command("test", "--only", "devel", check=False)
    assert "copies of 4 files of the packages" in done.stdout + done.stderr
    site.command(*words, "--quiet")
    assert problems(site) == []
    assert (site.tree / "lib/libamdhip64.so.7").samefile(site.core / "lib/libamdhip64.so.7")


@pytest.fixture
def dist(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return all packages of an SDK for two targets."""
    made = stored(tmp_path_factory.mktemp("whole") / "whole", "packages of whole trees", make_packages)
    shutil.copytree(made / "dist", tmp_path / "dist")
    return tmp_path / "dist"


def make_packages(directory: Path) -> None:
    directory.mkdir()
    built(usual_tree(directory / "artifacts").root, directory / "dist")


def test_check_of_packages_whose_tree_lacks_bitcode(dist: Path) -> None:
    """The builder learns it before anyone installs them."""
    assert packaging_problems(dist) == []
    core = path_of(dist, "rocm_sdk_core")
    rewritten(core, added(f"_rocm_sdk_core/{BITCODE}"))
    ((file, what, fix),) = packaging_problems(dist)
    assert file == path_of(dist, "rocm_sdk_devel").name
    assert what.endswith(f"compilers look for in it: _rocm_sdk_core/{BITCODE} is not there")
    assert fix == "make it again from the artifacts of the others, with the same rules"


@pytest.mark.parametrize("change", ["lists nothing", "has no list"])
def test_check_of_a_device_package_that_does_not_list_its_files(dist: Path, change: str) -> None:
    wheel = path_of(dist, "rocm_sdk_device_gfx942")
    name = "_rocm_sdk_libraries/.devel_links/gfx942.json"

    def changed(members: dict[str, tuple[zipfile.ZipInfo, bytes]]) -> None:
        info, _ = members.pop(name)
        if change == "lists nothing":
            members[name] = info, b'{"version": "7.10.0", "links": []}'

    rewritten(wheel, changed)
    ((file, what, _),) = packaging_problems(dist)
    assert file == wheel.name
    assert what.startswith(
        "lacks files in its list for the development tree (.devel_links): _rocm_sdk_libraries/.kpack"
    )


def added(name: str) -> Callable[[dict[str, tuple[zipfile.ZipInfo, bytes]]], None]:
    def change(members: dict[str, tuple[zipfile.ZipInfo, bytes]]) -> None:
        members[name] = zipfile.ZipInfo(name), b"a file"

    return change
