"""Development trees that never had files of the packages, or that have copies of them."""

import json
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from checked_packages import built, path_of, rewritten
from checked_packages import problems as packaging_problems
from sample_devel import DevelSite, core_files, device_files, libraries_files, sample_members
from stored_builds import stored

BITCODE = "lib/llvm/amdgcn/bitcode/ocml.bc"
ARCHIVE = "_rocm_sdk_libraries/.kpack/rand_lib_gfx942.kpack"
DEVICE = device_files("gfx942")
Members = dict[str, tuple[zipfile.ZipInfo, bytes]]


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    return DevelSite(tmp_path / "site-packages")


def install(site: DevelSite, core: dict[str, bytes] | None = None, libraries: dict[str, bytes] | None = None) -> str:
    """Install an SDK with more files, and return what the extraction of its tree says."""
    site.install("rocm-sdk-core", core_files() | (core or {}))
    site.install("rocm-sdk-libraries", libraries_files() | (libraries or {}))
    site.install_devel(sample_members())
    return str(site.command("init").stderr)


def problems(site: DevelSite) -> list[tuple[str, str, str]]:
    """Return code, cause and fix of the problems that `test` finds in the tree, notes left out."""
    done = site.command("test", "--only", "devel", "--json", check=False)
    found = json.loads(done.stdout)["problems"]
    return [(each["code"], each["cause"], each["fix"]) for each in found if each["severity"] != "note"]


def checked(site: DevelSite) -> tuple[int, str]:
    """Return status and standard error of `init --check`."""
    done = site.command("init", "--check", check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("path", [BITCODE, "lib/libnew.so.1", ".kpack/core.kpack"])
def test_an_archive_without_a_file_of_core(site: DevelSite, path: str) -> None:
    told = f"_rocm_sdk_core/{path} is installed, and not in the tree"
    assert f"{told} [E-DEVEL-014]; " in install(site, {f"_rocm_sdk_core/{path}": b"a file"})
    status, said = checked(site)
    assert (status, told in said, "whose `rocm-sdk-build check` names the files" in said) == (1, True, True)
    ((code, cause, fix),) = problems(site)
    assert (code, cause, "rocm-sdk-devel" in fix) == ("E-DEVEL-014", told, True)


def test_many_files_are_one_problem(site: DevelSite) -> None:
    install(site, None, {f"_rocm_sdk_libraries/lib/rocblas/library/{i}.dat": b"kernels" for i in range(9)})
    ((code, cause, _),) = problems(site)
    assert code == "E-DEVEL-014"
    assert cause.endswith("/rocblas/library/3.dat and 5 more are installed, and not in the tree")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {name: data for name, data in DEVICE.items() if not name.endswith(".json")},
            "gfx942_0.co, _rocm_sdk_libraries/lib/rocblas/library/gfx942_1.co are installed, and not in the tree",
        ),
        (DEVICE | {ARCHIVE: b"KPAK"}, f"{ARCHIVE} is installed, and not in the tree"),
    ],
    ids=["no list", "an archive is not listed"],
)
def test_a_device_package_without_links(site: DevelSite, files: dict[str, bytes], said: str) -> None:
    site.install_sdk()
    site.install("rocm-sdk-device-gfx942", files)
    status, told = checked(site)
    assert (status, said in told) == (1, True)
    ((code, cause, fix),) = problems(site)
    assert (code, cause.endswith(said), "rocm-sdk-device-gfx942" in fix) == ("E-DEVEL-014", True, True)


def test_what_is_outside_by_design(site: DevelSite) -> None:
    """The profiler, modules, and packages of other releases; a device package that came later is told of otherwise."""
    install(site, {"_rocm_sdk_core/lib/__init__.py": b""})
    site.install("rocm-profiler", {"_rocm_profiler/lib/libprofiler.so.1": b"", "_rocm_sdk_profiler/x.so": b""})
    site.install("rocm-sdk-device-gfx90a", {"_rocm_sdk_libraries/lib/old.co": b"old"}, "0.0.1")
    assert checked(site)[0] == 0
    site.install("rocm-sdk-device-gfx942", DEVICE)
    assert [code for code, _, _ in problems(site)] == ["W-DEVEL-007"]
    (site.tree / "lib/libamdhip64.so.7").unlink()
    assert [code for code, _, _ in problems(site)] == ["E-DEVEL-002"]


def test_copies_where_links_belong(site: DevelSite) -> None:
    """As `cp -a` and the layers of an image leave them; `init` makes one file of two."""
    site.install_sdk()
    site.install("rocm-sdk-device-gfx942", DEVICE)
    site.command("init", "--quiet")
    for name in ("lib/libamdhip64.so.7", "lib/libhiprand.so.1", "bin/hipcc", "lib/rocblas/library/gfx942_0.co"):
        shutil.copy2(site.tree / name, site.path / "copy").replace(site.tree / name)
    ((code, cause, fix),) = problems(site)
    assert (code, "has copies where links belong, as " in cause) == ("W-DEVEL-015", True)
    program, *words = shlex.split(fix, comments=True)
    assert program == "rocm-sdk"
    done = site.command("test", "--only", "devel", check=False)
    assert "copies of 4 files of the packages" in done.stdout + done.stderr
    site.command(*words, "--quiet")
    assert problems(site) == []
    assert (site.tree / "lib/libamdhip64.so.7").samefile(site.core / "lib/libamdhip64.so.7")


# ---- before anyone installs them


@pytest.fixture
def dist(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return all packages of an SDK for two targets."""
    made = stored(tmp_path_factory.mktemp("whole") / "whole", "packages of whole trees", make_packages)
    return Path(shutil.copytree(made / "dist", tmp_path / "dist"))


def make_packages(directory: Path) -> None:
    directory.mkdir()
    built(usual_tree(directory / "artifacts").root, directory / "dist")


@pytest.mark.slow
def test_check_of_packages_whose_tree_lacks_bitcode(dist: Path) -> None:
    assert packaging_problems(dist) == []
    name = f"_rocm_sdk_core/{BITCODE}"

    def add(members: Members) -> None:
        members[name] = zipfile.ZipInfo(name), b"a file"

    rewritten(path_of(dist, "rocm_sdk_core"), add)
    ((file, what, fix),) = packaging_problems(dist)
    assert file == path_of(dist, "rocm_sdk_devel").name
    assert what.endswith(f"compilers look for in it: {name} is not there")
    assert fix == "make it again from the artifacts of the others, with the same rules"


@pytest.mark.parametrize("lists", [True, False], ids=["lists nothing", "has no list"])
def test_check_of_a_device_package_that_does_not_list_its_files(dist: Path, *, lists: bool) -> None:
    wheel, name = path_of(dist, "rocm_sdk_device_gfx942"), "_rocm_sdk_libraries/.devel_links/gfx942.json"

    def change(members: Members) -> None:
        info, _ = members.pop(name)
        if lists:
            members[name] = info, b'{"version": "7.10.0", "links": []}'

    rewritten(wheel, change)
    ((file, what, _),) = packaging_problems(dist)
    assert file == wheel.name
    lack = "lacks files in its list for the development tree (.devel_links): _rocm_sdk_libraries/.kpack"
    assert what.startswith(lack)
