"""Libraries that name an archive of kernels which no package has, as RCCL of some builds did."""

from pathlib import Path

import pytest
from build_command import build_command
from checked_packages import built, path_of, problems
from marked_tree import with_marker

VERSION = "7.10.0"


@pytest.mark.parametrize(
    ("named", "is_there"),
    [
        (["../.kpack/rccl_lib_@GFXARCH@.kpack"], False),
        (["../.kpack/blas_lib_@GFXARCH@.kpack"], True),
        (["../.kpack/gone_@GFXARCH@.kpack", "../.kpack/blas_lib_@GFXARCH@.kpack"], True),
        (["../elsewhere/blas_lib_@GFXARCH@.kpack"], False),
    ],
)
def test_a_marker_and_the_archives_of_the_packages(tmp_path: Path, named: list[str], is_there: bool) -> None:
    """`check` tells of it, and nothing else."""
    dist = built(with_marker(tmp_path / "artifacts", *named).root, tmp_path / "dist")
    found = problems(dist)
    if is_there:
        assert found == []
    else:
        ((file, what, fix),) = found
        assert file == path_of(dist, "rocm_sdk_libraries").name
        place = named[0].removeprefix("../") if ".kpack/" in named[0] else named[0]
        assert what == f"has librccl.so.1, whose kernels are in {place}: no device package has such an archive"
        assert "device packages" in fix


def test_artifacts_refuses_to_make_it(tmp_path: Path) -> None:
    tree = with_marker(tmp_path / "artifacts", "../.kpack/rccl_lib_@GFXARCH@.kpack")
    done = build_command("artifacts", tree.root, "--output", tmp_path / "out", "--version", VERSION)
    assert done.returncode == 1
    assert (
        "_rocm_sdk_libraries has librccl.so.1, whose kernels are in .kpack/rccl_lib_@GFXARCH@.kpack: no device package"
        " has such an archive" in done.stderr
    )
    assert not list((tmp_path / "out/dist").glob("*"))
