"""Closures as layers and images of containers: unpacked by others, the same digest twice, on bases of all kinds."""

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from other_user import OtherUser
from sample_closure import PROVED, closure, errors_of
from sample_devel import as_root
from sample_site import CORE
from system_programs import need

from rocm_sdk.terminal.progress import Wait
from rocm_sdk_build.base.errors import PackagingError, WrongUsageError
from rocm_sdk_build.closure.writing.forms.containers import image_writer
from rocm_sdk_build.closure.writing.forms.table import writer_of

pytestmark = pytest.mark.long

WAYS = {"umoci": ("skopeo", "umoci"), "buildah": ("buildah",)}
WORDS = ("--library", "rocblas", "--tool", "hipcc", "--gpu", "gfx90a", "--no-proof", "--form", "oci")


@pytest.fixture(scope="module")
def layer(sdk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("layer") / "layer.tar"
    closure(sdk, *WORDS, "--output", output)
    return output


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an image in the OCI layout with one file and a setting of its own, as other tools write it."""
    need("umoci")
    directory = tmp_path_factory.mktemp("base")
    (directory / "root/etc").mkdir(parents=True)
    (directory / "root/etc/os-release").write_text("ID=sample\n")
    subprocess.run(["tar", "-C", directory / "root", "-cf", directory / "root.tar", "."], check=True)
    for words in (
        ("init", "--layout", "base"),
        ("new", "--image", "base:latest"),
        ("raw", "add-layer", "--image", "base:latest", "root.tar"),
        ("config", "--image", "base:latest", "--config.env", "OWN=1"),
    ):
        subprocess.run(["umoci", *words], cwd=directory, check=True, capture_output=True)
    return directory / "base"


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put each of the ways to make an image alone into PATH, and return its name."""
    need(*WAYS[request.param])
    if request.param == "buildah" and os.geteuid() != 0:
        pytest.skip("buildah unpacks the base, as root")
    place = tmp_path / "programs"
    place.mkdir()
    for name in WAYS[request.param]:
        (place / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(place))
    return str(request.param)


def manifest_of(image: Path) -> tuple[str, dict[str, object]]:
    """Return the digest of the manifest, and the settings of the image."""
    (entry,) = json.loads((image / "index.json").read_text())["manifests"]
    manifest = json.loads(blob(image, entry["digest"]))
    return entry["digest"], json.loads(blob(image, manifest["config"]["digest"]))


def blob(image: Path, digest: str) -> bytes:
    return (image / "blobs" / digest.replace(":", "/")).read_bytes()


def make_image(layer: Path, base: str, directory: Path) -> Path:
    """Make the image of the closure that the layer has."""
    (directory / "scratch").mkdir(parents=True)
    subprocess.run(["/bin/tar", "-C", directory, "-xf", layer], check=True)
    image_writer(base)(directory / "opt/rocm-sdk", directory / "image", directory / "scratch", Wait("writing"))
    return directory / "image"


def test_a_layer(layer: Path, tmp_path: Path) -> None:
    """Of root, of the beginning of time; tar unpacks it."""
    with tarfile.open(layer) as archive:
        members = archive.getmembers()
    assert {(each.uid, each.gid, each.uname, each.mtime) for each in members} == {(0, 0, "", 0)}
    assert [each.name for each in members][:2] == ["opt", "opt/rocm-sdk"]
    subprocess.run(["tar", "-C", tmp_path, "-xf", layer], check=True)
    assert (tmp_path / "opt/rocm-sdk" / CORE / "bin/hipcc").stat().st_mode & 0o777 == 0o755
    assert errors_of(tmp_path / "opt/rocm-sdk") == []


def test_an_image_on_a_base(layer: Path, base: Path, tmp_path: Path, way: str) -> None:
    """The manifest has the same digest in two runs; the base keeps its settings and files."""
    assert way in WAYS
    first = make_image(layer, f"oci:{base}:latest", tmp_path / "a")
    digest, config = manifest_of(first)
    assert config["created"] == "1970-01-01T00:00:00Z"
    assert set(config["config"]["Env"]) >= {"OWN=1", "ROCM_SDK_ROOT=/opt/rocm-sdk"}  # type: ignore[index]
    assert len(config["rootfs"]["diff_ids"]) == 2  # type: ignore[index]
    assert manifest_of(make_image(layer, f"oci:{base}:latest", tmp_path / "b"))[0] == digest
    assert not (tmp_path / "a/scratch/image").exists()


def test_an_image_of_the_closure_alone(layer: Path, tmp_path: Path, way: str) -> None:
    digest, config = manifest_of(make_image(layer, "scratch", tmp_path / "a"))
    assert len(config["rootfs"]["diff_ids"]) == 1, way  # type: ignore[index]
    assert manifest_of(make_image(layer, "scratch", tmp_path / "b"))[0] == digest


@as_root
def test_umoci_unpacks_it(sdk: Path, base: Path, tmp_path: Path) -> None:
    need("skopeo", "umoci")
    done = closure(sdk, *WORDS, "--base", f"oci:{base}:latest", "--output", tmp_path / "image")
    assert " as oci" in done.stdout.splitlines()[0]
    words = ["umoci", "unpack", "--image", f"{tmp_path}/image:latest", tmp_path / "bundle"]
    subprocess.run(words, check=True, capture_output=True)
    root = tmp_path / "bundle/rootfs"
    assert (root / "etc/os-release").read_text() == "ID=sample\n"
    assert errors_of(root / "opt/rocm-sdk") == []


def test_an_ordinary_user_makes_an_image(sdk: Path, base: Path, other_user: OtherUser, open_directory: Path) -> None:
    """By skopeo and umoci, without a namespace."""
    need("skopeo", "umoci")
    (open_directory / "own").mkdir()
    os.chown(open_directory / "own", 65534, 65534)
    shutil.copytree(sdk, open_directory / "sdk", symlinks=True)
    shutil.copytree(base, open_directory / "base")
    for path in (open_directory / "base").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    output = open_directory / "own/image"
    words = [*WORDS, "--base", f"oci:{open_directory}/base:latest", "--output", output]
    variables = {"PYTHONPATH": str(open_directory / "sdk"), "HOME": str(open_directory / "own")}
    done = other_user.run("-m", "rocm_sdk_build", "closure", *words, **variables)
    assert done.returncode == 0, done.stderr
    assert len(manifest_of(output)[1]["rootfs"]["diff_ids"]) == 2  # type: ignore[index]


@as_root
def test_a_proof_where_nothing_can_be_mounted(sdk: Path, tmp_path: Path) -> None:
    """As while a container is built: a root is possible, a namespace is not."""
    (tmp_path / "bin").mkdir()
    refusing = tmp_path / "bin/unshare"
    refusing.write_text("#!/bin/sh\nexit 1\n")
    refusing.chmod(0o755)
    words = [PROVED, *(word for word in WORDS if word != "--no-proof")]
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    done = closure(sdk, *words, "--output", tmp_path / "layer", PATH=path)
    assert "tried where nothing else is" in done.stdout


# ---- what goes wrong


def test_no_program_that_makes_images(sdk: Path, tmp_path: Path) -> None:
    done = closure(sdk, *WORDS, "--base", "scratch", "--output", tmp_path / "out", check=False, PATH="/nonexistent")
    assert (
        "rocm-sdk-build: --base: neither skopeo and umoci nor buildah, which make images, are on this system"
        in done.stderr
    )
    assert "fix: install them: apt-get install skopeo umoci" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_is_not_there(layer: Path, tmp_path: Path, way: str) -> None:
    """The program's own words say what is wrong."""
    with pytest.raises(PackagingError, match=r"fails: .*no-such-place") as refused:
        make_image(layer, "oci:/no-such-place:latest", tmp_path / way)
    assert refused.value.fix.startswith("see that oci:/no-such-place:latest names an image that is there")
    assert not (tmp_path / way / "image").exists()


def test_a_base_of_another_form(sdk: Path, tmp_path: Path) -> None:
    words = (*WORDS[:-1], "squashfs", "--base", "scratch", "--output", tmp_path / "out")
    done = closure(sdk, *words, check=False)
    assert (
        done.stderr == "rocm-sdk-build: --base names the image below the image of --form oci\n  fix: add --form oci\n"
    )


@pytest.mark.parametrize("base", ["", "-v", "--help", "a b", "a\nb", "oci:", "x:/y\0"])
def test_names_that_are_no_image(base: str) -> None:
    """An empty one is the value of a variable that is not set: a layer was written."""
    with pytest.raises(WrongUsageError, match="--base"):
        writer_of("oci", base)
