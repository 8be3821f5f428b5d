"""Targets that share their packages: gfx1250-strict has its code in the packages of gfx1250."""

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from build_command import build_command
from sample_site import clean_environment

VERSION = "10.1.0"
STRICT, PLAIN = "blas_lib_gfx1250-strict", "blas_lib_gfx1250"
SHARED = "lib/rocblas/library/shared.dat"


def kernels(target: str) -> str:
    return f"lib/rocblas/library/Kernels_{target}.co"


@pytest.fixture
def tree(tmp_path: Path) -> ArtifactTree:
    """Return a build whose only target is gfx1100."""
    made = usual_tree(tmp_path / "artifacts")
    for path in made.root.glob("*_gfx942"):
        path.rename(path.with_name(path.name.replace("gfx942", "gfx950")))
    return made


def build(tree: ArtifactTree, *words: str) -> subprocess.CompletedProcess[str]:
    where = ("--artifact-dir", tree.root, "--dest-dir", tree.root.parent, "--version", VERSION)
    return build_command("artifacts", *where, "--no-check", "--no-loader", *words)


def devices(tree: ArtifactTree) -> dict[str, set[str]]:
    """Return the files of each device package with code, without metadata."""
    found = {}
    for path in (tree.root.parent / "dist").glob("*device*.whl"):
        with zipfile.ZipFile(path) as wheel:
            names = {name.partition("/")[2] for name in wheel.namelist() if name.startswith("_rocm_sdk_libraries/")}
            found[path.name.partition("-")[0].removeprefix("rocm_sdk_device_")] = names
    return found


def metadata(tree: ArtifactTree, family: str) -> str:
    """Return the metadata of the selector, as an installer asks for it where the user names a family."""
    place = tree.root.parent / "selector"
    with tarfile.open(tree.root.parent / f"dist/rocm-{VERSION}.tar.gz") as archive:
        archive.extractall(place)
    code = "import rocm_selector.backend as b; s = b.facts(); print(b.metadata(s, b.choose(s)[0]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place / f"rocm-{VERSION}",
        env=clean_environment() | {"ROCM_SDK_TARGET_FAMILY": family},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("artifacts", [(PLAIN, STRICT), (STRICT,), (PLAIN,), (f"{PLAIN}:xnack+", f"{STRICT}-xnack-")])
def test_one_package_of_what_was_supplied(tree: ArtifactTree, artifacts: tuple[str, ...]) -> None:
    own = {kernels(artifact) for artifact in artifacts}
    for artifact in artifacts:
        tree.file(artifact, kernels(artifact), f"code of {artifact}")
        tree.file(artifact, SHARED, "the same in both")
    assert (done := build(tree)).returncode == 0, done.stderr
    found = devices(tree)
    assert "gfx1250" in found
    assert not [name for name in found if "strict" in name]
    assert {name for name in found["gfx1250"] if not name.startswith(".devel_links")} == own | {SHARED}
    with zipfile.ZipFile(next((tree.root.parent / "dist").glob("*device_gfx1250-*.whl"))) as wheel:
        links = json.loads(wheel.read("_rocm_sdk_libraries/.devel_links/gfx1250.json"))["links"]
    assert sorted(each["relpath"] for each in links) == sorted(own | {SHARED})
    for wish in ("gfx1250", "gfx1250-strict", "gfx1250-strict:xnack+", "gfx1250-xnack-"):
        said = metadata(tree, wish)
        assert f"Requires-Dist: rocm-sdk-device-gfx1250=={VERSION}; extra == 'device'" in said, said
        assert "device-gfx1250-strict" not in said
    assert "is none of the families" in metadata(tree, "gfx1251")


def in_the_way(tree: ArtifactTree, kind: str) -> str:
    """Give both targets one path with different content, and return the path."""
    path = "lib/hipblaslt/library/TensileLibrary.dat"
    tree.file(PLAIN, path, "of one")
    if kind == "content":
        tree.file(STRICT, path, "of another")
    elif kind == "mode":
        tree.file(STRICT, path, "of one", mode=0o755)
    elif kind == "files":
        tree.file(STRICT, f"{path}/inner.dat", "below it")
    else:
        tree.place(STRICT, path).mkdir()
    return path


@pytest.mark.parametrize("kind", ["content", "mode", "files", "directory"])
def test_two_contents_of_one_path_are_refused(tree: ArtifactTree, kind: str) -> None:
    path = in_the_way(tree, kind)
    done = build(tree, "--no-build-packages")
    assert done.returncode == 1
    assert path in done.stderr
    assert PLAIN in done.stderr
    assert STRICT in done.stderr
    assert not [*tree.root.parent.glob("dist/*"), *tree.root.parent.glob("rocm-sdk*")], "nothing was written"


def test_a_package_by_the_name_of_its_owner(tree: ArtifactTree) -> None:
    """`--only` knows the package, and takes the artifacts of both; the name of the other target is none."""
    for artifact in (PLAIN, STRICT):
        tree.file(artifact, kernels(artifact), artifact)
    families = ("--linux-amdgpu-families", "gfx1250,gfx1250-strict")
    assert (done := build(tree, "--only", "device-gfx1250", *families)).returncode == 0, done.stderr
    assert {kernels(PLAIN), kernels(STRICT)} <= devices(tree)["gfx1250"]
    assert build(tree, "--only", "device-gfx1250-strict", *families).returncode != 0
