"""The development tree and compilers: not extracted, left in part, or a clang that cannot use it."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from sample_devel import DevelSite, core_files, links_to, member
from sample_report import run_test
from sample_site import clean_environment, run_python

# A clang of the system, which `rocm-sdk env --compiler` would name, cannot compile HIP with this SDK.

TREE = "_rocm_sdk_devel"

# Keeps its command line, and answers as it was made to.
CLANG_OF_SYSTEM = """#!/bin/sh
echo "$@" >>"$0.said"
{answer}
"""


def write_clang(path: Path, answer: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(CLANG_OF_SYSTEM.format(answer=answer))
    path.chmod(0o755)
    return path


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    """Return a tree with HIP's header and a device library."""
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    names = ("__init__.py", "include/hip/hip_runtime.h", "amdgcn/bitcode/ocml.bc")
    site.install_devel([*(member(f"{TREE}/{name}", b"\n") for name in names), *links_to(core_files())])
    site.command("init")
    return site


def test_a_clang_of_the_system_is_a_note_with_the_first_error(site: DevelSite, tmp_path: Path) -> None:
    clang = write_clang(tmp_path / "bin/clang++", "echo 'x.hip:1:1: error: no gfx1030'; exit 1")
    said = run_test(site.path, "--only", "devel", PATH=str(clang.parent), ROCM_SDK_ROOTFS=str(tmp_path))
    assert (said.status, said.codes) == (0, {"N-DEVEL-012"})
    note = said.only("N-DEVEL-012")
    assert note["title"] == "the clang of this system cannot compile HIP with this SDK"
    assert note["cause"] == f"{clang}, for gfx1030: x.hip:1:1: error: no gfx1030"
    flags = f"-x hip --rocm-path={site.tree} --rocm-device-lib-path={site.tree}/amdgcn/bitcode --offload-arch=gfx1030"
    assert clang.with_name("clang++.said").read_text().startswith(f"{flags} -c ")


def test_a_missing_linker_for_gpus_is_a_note(site: DevelSite, tmp_path: Path) -> None:
    """The compiler finds no fault in the source; linking the GPU code fails."""
    answer = 'case "$*" in *-fsyntax-only*) exit 0;; esac; echo "clang: error: unable to execute lld"; exit 1'
    clang = write_clang(tmp_path / "bin/clang++", answer)
    said = run_test(site.path, "--only", "devel", PATH=str(clang.parent))
    assert said.only("N-DEVEL-012")["cause"].endswith("clang: error: unable to execute lld")


def test_the_highest_version_is_tried_where_none_is_the_default(site: DevelSite, tmp_path: Path) -> None:
    for version in (9, 21, 19):
        write_clang(tmp_path / f"bin/clang++-{version}", "exit 0")
    said = run_test(site.path, "--only", "devel", PATH=str(tmp_path / "bin"))
    assert (said.status, said.codes) == (0, set())
    assert [path.name for path in (tmp_path / "bin").glob("*.said")] == ["clang++-21.said"]


def test_clang_is_not_tried_without_a_tree_for_it(site: DevelSite, tmp_path: Path) -> None:
    clang = write_clang(tmp_path / "bin/clang++", "exit 1")
    (site.tree / "include/hip/hip_runtime.h").unlink()
    said = run_test(site.path, "--only", "devel", PATH=str(clang.parent))
    assert "N-DEVEL-012" not in said.codes
    assert not clang.with_name("clang++.said").exists()


# clang looks for its files in lib/clang/18.0.0, and they are in lib/clang/18.


def extracted(directory: Path, resource: str) -> DevelSite:
    """Return a tree with a compiler that says where its files are; the files are in lib/clang/18."""
    site = DevelSite(directory)
    site.install("rocm-sdk-core", core_files())
    clang = f"#!/bin/sh\necho {site.tree}/lib/llvm/lib/clang/{resource}\n".encode()
    site.install_devel(
        [
            *links_to(core_files()),
            member(f"{TREE}/__init__.py"),
            member(f"{TREE}/lib/llvm/bin/clang", clang, mode=0o755),
            member(f"{TREE}/lib/llvm/lib/clang/18/include/stddef.h", b"\n"),
        ]
    )
    site.command("init")
    return site


def test_both_spellings_of_the_resource_directory_are_named(tmp_path: Path) -> None:
    site = extracted(tmp_path / "site-packages", "18.0.0")
    found = run_test(site.path, "--only", "devel").only("E-DEVEL-004")
    assert f"{site.tree}/lib/llvm/lib/clang/18.0.0, which is not there; there is 18" in found["cause"]
    assert " -m pip install " in found["fix"]


def test_which_spelling_the_resource_directory_has(tmp_path: Path) -> None:
    site = extracted(tmp_path / "site-packages", "18")
    said = run_test(site.path, "--only", "devel")
    assert (said.status, said.codes) == (0, {"N-DEVEL-006"})
    assert said.only("N-DEVEL-006")["title"] == "clang's resource directory is named by the major version"


# The development package is installed and nothing has extracted its tree yet, so that other tools do not find it.

HOME = "import rocm_sdk; print(rocm_sdk.rocm_home())"


def test_a_tree_that_is_not_extracted_is_named_and_the_fix_extracts_it(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install_sdk()
    found = run_test(site.path, "--only", "devel").only("N-DEVEL-013")
    assert (found["severity"], found["path"]) == ("note", f"{site.path}/rocm_sdk_devel")
    program, *words = shlex.split(found["fix"])
    assert program == "rocm-sdk"
    environment = clean_environment() | {"PYTHONPATH": str(site.path)}
    subprocess.run([sys.executable, "-m", "rocm_sdk", *words], env=environment, capture_output=True, check=True)
    assert "N-DEVEL-013" not in run_test(site.path, "--only", "devel").codes
    assert run_python(HOME, PYTHONPATH=str(site.path)).stdout == f"{site.path}/_rocm_sdk_devel\n"


def test_rocm_home_extracts_the_tree(tmp_path: Path) -> None:
    site = DevelSite(tmp_path / "site-packages")
    site.install_sdk()
    assert run_python(HOME, PYTHONPATH=str(site.path)).stdout == f"{site.path}/_rocm_sdk_devel\n"
    assert "N-DEVEL-013" not in run_test(site.path, "--only", "devel").codes
