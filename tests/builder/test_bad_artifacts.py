"""Faults of artifacts and of the place where packages go: a clear error, or the right packages."""

import csv
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from environments import UV
from own_mounts import mounted
from programs import completed
from sample_devel import as_root
from sample_site import CORE as CORE_PACKAGE
from sample_site import Site

from rocm_sdk_build.base.damaged import NESTING_LIMIT
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.packages.dist_info import facts_text
from rocm_sdk_build.packages.wish import Wish

VERSION = "7.10.0"
CORE, BASE = "core-hip_lib_generic", "base_run_generic"


@pytest.fixture
def tree(tmp_path: Path) -> ArtifactTree:
    return usual_tree(tmp_path / "artifacts")


def make(tree: ArtifactTree, output: Path, **wishes: str) -> dict[str, zipfile.ZipFile]:
    made = build(Wish([tree.root], output, VERSION, **wishes), read_rules())  # type: ignore[arg-type]
    return {path.name.partition("-")[0]: zipfile.ZipFile(path) for path in made if path.suffix == ".whl"}


def refused(tree: ArtifactTree, output: Path, told: str, **wishes: str) -> None:
    with pytest.raises(PackagingError) as error:
        make(tree, output, **wishes)
    assert told in str(error.value)
    assert list((output / "dist").glob("*")) == []
    assert list(output.glob(".rocm-sdk-build-*")) == []


# ---- links


@pytest.mark.slow
def test_links_that_lead_nowhere_and_round(tree: ArtifactTree, tmp_path: Path) -> None:
    tree.link(CORE, "lib/libgone.so", "libgone.so.1")
    tree.link(CORE, "lib/one", "two")
    tree.link(CORE, "lib/two", "one")
    tree.link(CORE, "lib/up", "..")
    tree.link(CORE, "lib/outside", "/etc/passwd")
    wheels = make(tree, tmp_path / "out")
    names = {name.removeprefix("_rocm_sdk_core/lib/") for name in wheels["rocm_sdk_core"].namelist()}
    assert not names & {"libgone.so", "one", "two", "up", "outside"}
    data = io.BytesIO(wheels["rocm_sdk_devel"].read("rocm_sdk_devel/_devel.tar"))
    with tarfile.open(fileobj=data) as archive:
        links = {each.name.removeprefix("_rocm_sdk_devel/lib/"): each.linkname for each in archive if each.issym()}
    assert (links["libgone.so"], links["one"], links["up"]) == ("libgone.so.1", "two", "..")


# ---- SONAMEs


@pytest.mark.slow
def test_two_libraries_with_one_soname(tree: ArtifactTree, tmp_path: Path) -> None:
    one = tree.library(CORE, "lib/libx.so.1.0", "libx.so.1")
    other = tree.library("amd-llvm_lib_generic", "lib/libx.so.1.1", "libx.so.1")
    refused(tree, tmp_path / "out", f"{other} and {one} are different, and both have the SONAME libx.so.1")
    other.unlink()
    real = tree.library("amd-llvm_lib_generic", "lib/libx.so.1", "libx.so.1")
    refused(tree, tmp_path / "out", f"{real} and {one} are different, and both have the SONAME libx.so.1")
    real.write_bytes(one.read_bytes())
    real.chmod(one.stat().st_mode)
    make(tree, tmp_path / "out")


def test_a_soname_that_no_file_has(tree: ArtifactTree, tmp_path: Path) -> None:
    tree.library(CORE, "lib/libodd.so", "libodd-7.so.3")
    assert "_rocm_sdk_core/lib/libodd-7.so.3" in make(tree, tmp_path / "out")["rocm_sdk_core"].namelist()


@pytest.mark.parametrize("soname", ["../../../../libx.so", "a/b.so", "with\nline", "..", ""])
def test_hostile_sonames(tree: ArtifactTree, tmp_path: Path, soname: str) -> None:
    tree.library(CORE, "lib/libx.so", soname or None, flags=() if soname else ("-Wl,-soname,",))
    if soname:
        refused(tree, tmp_path / "out", f"libx.so: its SONAME {soname!r} is not a name of a file")
    else:
        assert "_rocm_sdk_core/lib/libx.so" in make(tree, tmp_path / "out")["rocm_sdk_core"].namelist()


# ---- names


@pytest.mark.slow
def test_names_of_files(tree: ArtifactTree, tmp_path: Path) -> None:
    """The installers pip and uv install files of any name; RECORD is a table of comma-separated values."""
    names = ["a,b", 'quote"', "it's", "blank name", "ümlaut", "$HOME`x`", "-option", "C:drive", "#hash"]
    for name in names:
        tree.file(CORE, f"lib/odd/{name}", name)
    core = make(tree, tmp_path / "out")["rocm_sdk_core"]
    (record,) = (name for name in core.namelist() if name.endswith("/RECORD"))
    rows = {row[0] for row in csv.reader(io.StringIO(core.read(record).decode()))}
    assert {f"_rocm_sdk_core/lib/odd/{name}" for name in names} <= rows
    for number, command in enumerate(([sys.executable, "-m", "pip", "install"], [UV, "pip", "install"])):
        place = tmp_path / str(number)
        words = [*command, "-q", "--no-deps", "--no-index", "--target", str(place), str(core.filename)]
        subprocess.run(words, check=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"})
        for name in names:
            assert (place / f"_rocm_sdk_core/lib/odd/{name}").read_text() == name


@pytest.mark.parametrize(
    "family", ["gfx942'); import os", "gfx\n942", "gfx,942", "..", "gfx942:", "gfx 942", "-gfx942"]
)
def test_families_that_are_none(tree: ArtifactTree, tmp_path: Path, family: str) -> None:
    tree.file(f"blas_lib_{family}", "lib/x.co", "x")
    refused(tree, tmp_path / "out", f"{family!r} is not a family of an artifact")


@pytest.mark.parametrize("name", ["1blas", "bl'as", "..", "b\nlas"])
def test_names_of_artifacts_that_are_none(tree: ArtifactTree, tmp_path: Path, name: str) -> None:
    tree.file(f"{name}_lib_generic", "lib/x", "x")
    refused(tree, tmp_path / "out", f"{name!r} is not a name of an artifact")


def test_a_nonce_that_is_none(tree: ArtifactTree, tmp_path: Path) -> None:
    for nonce in ("/../x", "a b", "'", "ä", "\n"):
        refused(tree, tmp_path / "out", f"--version-suffix {nonce!r}", nonce=nonce)


def test_a_target_that_is_newer_than_the_table(tree: ArtifactTree, tmp_path: Path) -> None:
    tree.file("blas_lib_gfx9999", "lib/rocblas/library/Kernels_gfx9999.co", "x")
    assert "rocm_sdk_device_gfx9999" in make(tree, tmp_path / "out")
    with pytest.raises(PackagingError, match="gfx9999"):
        make(tree, tmp_path / "out", linux_families="gfx9999")


@pytest.mark.slow
def test_pointers_of_git_lfs(tree: ArtifactTree, tmp_path: Path) -> None:
    """Where the development tree alone has the file, too."""
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
    for artifact in ("blas_dev_generic", "prim_dev_generic", "blas_lib_gfx942"):
        path = tree.file(artifact, "lib/large.a", text)
        refused(tree, tmp_path / "out", f"{path}: is a pointer of Git LFS")
        path.unlink()


FACTS = "base_lib_generic/base/aux-overlay/stage/share/therock"
DEEP = "[" * 100_000


def nested(count: int) -> str:
    """Return an object of JSON with `count` lists in each other."""
    return '{"deep": ' + "[" * (count - 1) + "]" * (count - 1) + "}"


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"dist_amdgpu_targets": 1}', "\udcff", DEEP, nested(3000), nested(NESTING_LIMIT + 1)],
    ids=["nothing", "a list", "a number", "bytes", "too deep", "too deep before Python 3.13", "too deep for loaders"],
)
def test_facts_that_are_none(tree: ArtifactTree, tmp_path: Path, text: str) -> None:
    path = tree.root / FACTS / "dist_info.json"
    path.write_text(text, errors="surrogateescape")
    refused(tree, tmp_path / "out", f"{path}: ")


def test_facts_as_deep_as_loaders_read(site: Site, tmp_path: Path) -> None:
    """Loaders read facts of this depth, and refuse one list more."""
    path = tmp_path / "dist_info.json"
    path.write_text(nested(NESTING_LIMIT).replace("{", '{"dist_amdgpu_targets": "gfx942", '))
    ask = "import rocm_sdk._native; print(rocm_sdk._native.built_targets())"
    facts = site.write(f"{CORE_PACKAGE}/share/therock/dist_info.json", facts_text(path, ()))
    assert site.run(ask).stdout == "gfx942\n"
    facts.write_text(path.read_text().replace("[", "[[", 1).replace("]", "]]", 1))
    assert "brackets are nested too deep" in site.run(ask, check=False).stderr


@pytest.mark.parametrize("text", ["", DEEP, "{}" + " " * (1 << 24)], ids=["nothing", "too deep", "too large"])
def test_a_manifest_of_the_build_that_is_none(tree: ArtifactTree, tmp_path: Path, text: str) -> None:
    path = tree.root / FACTS / "therock_manifest.json"
    path.write_text(text)
    refused(tree, tmp_path / "out", f"{path}: cannot be read: ")


# ---- where packages go


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system with room for 400 kB."""
    place = tmp_path / "small"
    place.mkdir()
    with mounted(place, "-t", "tmpfs", "-o", "size=400k", "none"):
        yield place


def run(tree: ArtifactTree, output: Path, prefix: tuple[str, ...] = ()) -> str:
    command = [
        *prefix,
        sys.executable,
        "-m",
        "rocm_sdk_build",
        "artifacts",
        str(tree.root),
        "--version",
        VERSION,
        "--no-loader",
    ]
    done = completed([*command, "--output", str(output)])
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.slow
@as_root
def test_no_room(tree: ArtifactTree, small: Path) -> None:
    """When a wheel is written, when a file is staged, when the packages are tested."""
    large = tree.file("blas_lib_generic", "lib/large.dat", b"")
    for size in (20_000, 300_000, 500_000):
        large.write_bytes(os.urandom(size))
        told = run(tree, small / "dist")
        assert "No space left on device" in told
        assert str(small) in told
        assert [path.name for path in small.rglob("*") if path.suffix != ".whl"] in ([], ["dist", ".rocm-sdk-finished"])


@pytest.mark.slow
@as_root
def test_a_place_that_cannot_be_written_to(tree: ArtifactTree, small: Path) -> None:
    (small / "made").mkdir()
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    for name in ("made", "dist"):
        told = f"rocm-sdk-build: {small}/{name}: Read-only file system\n  fix: name another place\n"
        assert run(tree, small / name) == told, "no name of ours"
    (small.parent / "file").write_text("")
    assert run(tree, small.parent / "file").startswith(f"rocm-sdk-build: {small.parent}/file: ")


def test_an_output_in_what_is_packaged(tree: ArtifactTree) -> None:
    """The next build would package its packages. Beside the artifacts is no such place."""
    root, *_ = (tree.root / CORE / "artifact_manifest.txt").read_text().split()
    refused(tree, tree.root / CORE / root / "out", "which is packaged: the next build would package its")
    make(tree, tree.root)


def test_an_artifact_without_its_manifest(tree: ArtifactTree, tmp_path: Path) -> None:
    """The packages would lack its files. A directory that is none of a known component is ignored."""
    (tree.root / "my_own_files").mkdir()
    make(tree, tmp_path / "one")
    (tree.root / CORE / "artifact_manifest.txt").unlink()
    refused(tree, tmp_path / "out", f"{tree.root / CORE}: has the name of an artifact, and no artifact_manifest.txt")
