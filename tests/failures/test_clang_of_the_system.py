"""A clang of the system, which `rocm-sdk env --compiler` would name, cannot compile HIP with this SDK."""

from pathlib import Path

import pytest
from sample_devel import DevelSite, core_files, member
from sample_report import run_test

TREE = "_rocm_sdk_devel"

# Keeps its command line, and answers as it was made to.
CLANG = """#!/bin/sh
echo "$@" >>"$0.said"
{answer}
"""


def write_clang(path: Path, answer: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(CLANG.format(answer=answer))
    path.chmod(0o755)
    return path


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    """A tree with HIP's header and a device library."""
    site = DevelSite(tmp_path / "site-packages")
    site.install("rocm-sdk-core", core_files())
    names = ("__init__.py", "include/hip/hip_runtime.h", "amdgcn/bitcode/ocml.bc")
    site.install_devel([member(f"{TREE}/{name}", b"\n") for name in names])
    site.command("init")
    return site


def test_it_is_a_note_with_the_first_error(site: DevelSite, tmp_path: Path) -> None:
    clang = write_clang(tmp_path / "bin/clang++", "echo 'x.hip:1:1: error: no gfx1030'; exit 1")
    said = run_test(site.path, "--only", "devel", PATH=f"{clang.parent}:/usr/bin:/bin", ROCM_SDK_ROOTFS=str(tmp_path))
    assert (said.status, said.codes) == (0, {"N-DEVEL-012"})
    note = said.only("N-DEVEL-012")
    assert note["title"] == "the clang of this system cannot compile HIP with this SDK"
    assert note["cause"] == f"{clang}, for gfx1030: x.hip:1:1: error: no gfx1030"
    flags = f"-x hip --rocm-path={site.tree} --rocm-device-lib-path={site.tree}/amdgcn/bitcode --offload-arch=gfx1030"
    assert clang.with_name("clang++.said").read_text().startswith(f"{flags} -c ")


def test_it_is_a_note_where_the_linker_for_gpus_is_missing(site: DevelSite, tmp_path: Path) -> None:
    """clang finds no fault in the source; it fails when it links the GPU code."""
    answer = 'case "$*" in *-fsyntax-only*) exit 0;; esac; echo "clang: error: unable to execute lld"; exit 1'
    clang = write_clang(tmp_path / "bin/clang++", answer)
    said = run_test(site.path, "--only", "devel", PATH=f"{clang.parent}:/usr/bin:/bin")
    assert said.only("N-DEVEL-012")["cause"].endswith("clang: error: unable to execute lld")


def test_the_highest_version_is_tried_where_none_is_the_default(site: DevelSite, tmp_path: Path) -> None:
    for version in (9, 21, 19):
        write_clang(tmp_path / f"bin/clang++-{version}", "exit 0")
    said = run_test(site.path, "--only", "devel", PATH=str(tmp_path / "bin"))
    assert (said.status, said.codes) == (0, set())
    assert [path.name for path in (tmp_path / "bin").glob("*.said")] == ["clang++-21.said"]


def test_it_is_not_tried_without_a_tree_for_it(site: DevelSite, tmp_path: Path) -> None:
    clang = write_clang(tmp_path / "bin/clang++", "exit 1")
    (site.tree / "include/hip/hip_runtime.h").unlink()
    said = run_test(site.path, "--only", "devel", PATH=str(clang.parent))
    assert "N-DEVEL-012" not in said.codes
    assert not clang.with_name("clang++.said").exists()
