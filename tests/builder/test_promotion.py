"""`rocm-sdk-build promote`: a release candidate's packages become those that a build of the release gives."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from environments import empty_environment, installer_command
from programs import completed
from system_calls import traced

from rocm_sdk import RewriteError
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.new_file import OutputRefusedError
from rocm_sdk_build.building.artifacts import build
from rocm_sdk_build.code import rewrite
from rocm_sdk_build.code.trees import rewrite_wheel
from rocm_sdk_build.inputs.rules import read_rules
from rocm_sdk_build.output.index import write_index
from rocm_sdk_build.output.promotion import promote
from rocm_sdk_build.packages.wish import Wish

OLD, NEW = "7.10.0rc2", "7.10.0"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> ArtifactTree:
    return usual_tree(tmp_path_factory.mktemp("build") / "artifacts")


@pytest.fixture(scope="module")
def candidate(tree: ArtifactTree) -> Path:
    build(Wish([tree.root], tree.root.parent / "old", OLD), read_rules())
    return tree.root.parent / "old/dist"


@pytest.mark.always
def test_as_a_build_of_the_release(tree: ArtifactTree, candidate: Path, tmp_path: Path) -> None:
    expected = {path.name: path for path in build(Wish([tree.root], tmp_path / "new", NEW), read_rules())}
    before = {path: path.read_bytes() for path in candidate.iterdir() if path.is_file()}
    made = {path.name: path for path in promote(candidate, tmp_path / "out", NEW)}
    assert made.keys() == expected.keys()
    for name, path in made.items():
        if not name.endswith(".whl"):
            assert path.read_bytes() == expected[name].read_bytes(), name
            continue
        one, other = zipfile.ZipFile(path), zipfile.ZipFile(expected[name])
        modes = {each.filename: each.external_attr for each in other.infolist()}
        assert {each.filename: each.external_attr for each in one.infolist()} == modes
        for member in modes:
            if "/scripts/" not in member and not member.endswith("/RECORD"):
                assert one.read(member) == other.read(member), member
            assert OLD.encode() not in one.read(member), member
    assert before == {path: path.read_bytes() for path in candidate.iterdir() if path.is_file()}


def test_the_loader_goes_along(candidate: Path, tmp_path: Path) -> None:
    """The loader, which the selector requires, goes along and keeps its own version."""
    source = tmp_path / "candidate"
    source.mkdir()
    shutil.copy(candidate / f"rocm-{OLD}.tar.gz", source)
    loader = source / "rocm_sdk_loader-0.1.0-cp310-abi3-linux_x86_64.whl"
    loader.write_bytes(b"a wheel")
    made = promote(source, tmp_path / "out", NEW)
    assert made == [tmp_path / f"out/rocm-{NEW}.tar.gz", tmp_path / "out" / loader.name]
    assert made[1].read_bytes() == b"a wheel"


@pytest.mark.parametrize("name", ["gfx94x_dcgpu", "gfx94X_dcgpu"])
def test_names_of_wheels_with_a_family(tmp_path: Path, name: str) -> None:
    """Normalised, as they are made, and as other packagers write them."""
    base = f"rocm_sdk_libraries_{name}"
    (tmp_path / "old").mkdir()
    with zipfile.ZipFile(tmp_path / f"old/{base}-{OLD}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{base}-{OLD}.dist-info/METADATA", f"Name: {base.replace('_', '-')}\nVersion: {OLD}\n")
        archive.writestr("_rocm_sdk_libraries_gfx94X_dcgpu/__init__.py", "")
    (made,) = promote(tmp_path / "old", tmp_path / "out", NEW)
    assert made.name == f"{base}-{NEW}-py3-none-any.whl"
    assert f"{base}-{NEW}.dist-info/METADATA" in zipfile.ZipFile(made).namelist()
    page = write_index(tmp_path / "out")[1]
    assert page == tmp_path / "out/simple/rocm-sdk-libraries-gfx94x-dcgpu/index.html"
    assert made.name in page.read_text()


def test_another_spelling_of_the_version(tmp_path: Path) -> None:
    """The version need not be normalised in the name of a file.

    Two spellings are two packages of one name.
    """
    (tmp_path / "old").mkdir()
    spelled = OLD.replace("rc", ".rc")
    wheel = tmp_path / f"old/rocm_sdk_core-{spelled}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"rocm_sdk_core-{OLD}.dist-info/METADATA", f"Name: rocm-sdk-core\nVersion: {OLD}\n")
    (made,) = promote(tmp_path / "old", tmp_path / "out", NEW)
    assert made.name == f"rocm_sdk_core-{NEW}-py3-none-any.whl"
    shutil.copy(wheel, tmp_path / f"old/rocm_sdk_core-{OLD}-py3-none-any.whl")
    with pytest.raises(PackagingError, match="another package becomes"):
        promote(tmp_path / "old", tmp_path / "twice", NEW)
    assert not (tmp_path / "twice").exists()


def test_it_installs_and_its_commands_run(candidate: Path, tmp_path: Path) -> None:
    made = promote(candidate, tmp_path / "out", NEW)
    (core,) = (path for path in made if path.name.startswith("rocm_sdk_core-"))
    uv = installer_command("uv", empty_environment(tmp_path / "venv"), "install")
    subprocess.run([*uv, "-q", "--no-config", "--no-deps", str(core)], check=True)
    (site,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (site.parent.parent / "python3.99/site-packages/_rocm_sdk_core").mkdir(parents=True)
    told = subprocess.check_output([str(tmp_path / "venv/bin/rocminfo"), "x"], text=True)
    assert told == f"{site}/_rocm_sdk_core/bin/rocminfo 2\n"


def test_targets_that_are_kept(candidate: Path, tmp_path: Path) -> None:
    made = promote(candidate, tmp_path / "out", NEW, frozenset({"gfx942"}))
    assert not any("gfx1100" in path.name for path in made)
    (core,) = (path for path in made if path.name.startswith("rocm_sdk_core-"))
    archive = zipfile.ZipFile(core)
    scope: dict[str, object] = {}
    exec(archive.read("rocm_sdk_core/_dist_info.py").decode(), scope)
    assert scope["AVAILABLE_TARGET_FAMILIES"] == ["gfx942"]
    assert (scope["DEFAULT_TARGET_FAMILY"], scope["__version__"]) == ("gfx942", NEW)
    text = archive.read("_rocm_sdk_core/share/therock/dist_info.json")
    document = json.loads(text)
    assert document.keys() == {"dist_amdgpu_targets", "absent_libraries"}
    assert document["dist_amdgpu_targets"] == "gfx942"
    with tarfile.open(tmp_path / f"out/rocm-{NEW}.tar.gz") as members:
        stream = members.extractfile(f"rocm-{NEW}/selector.json")
        assert stream is not None
        document = json.load(stream)
    assert (document["families"], document["default"]) == (["gfx942"], "gfx942")
    assert set(document["extras"]) == {"libraries", "device", "devel", "profiler", "device-gfx942", "device-all"}
    assert document["extras"]["device-all"] == [f"rocm-sdk-device-gfx942=={NEW}"]


@pytest.mark.parametrize("text", ["", ","])
def test_targets_that_name_none(candidate: Path, tmp_path: Path, text: str) -> None:
    """`--keep-targets "$TARGETS"` without such a variable made a release without device packages."""
    words = ["promote", candidate, "--output", tmp_path / "out", "--version", NEW, "--keep-targets", text]
    done = completed([sys.executable, "-m", "rocm_sdk_build", *map(str, words)])
    assert (done.returncode, "argument --keep-targets: invalid names value" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_longer_version_has_no_room_in_programs(candidate: Path, tmp_path: Path) -> None:
    """Every later byte of a trampoline would move."""
    with pytest.raises(PackagingError, match=r"its program \S+ has rocm_\S+-7\.10\.0rc2, and no room for rocm_\S+rc10"):
        promote(candidate, tmp_path / "out", "7.10.0rc10")
    assert list(tmp_path.iterdir()) == []


def test_what_is_refused(candidate: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    for version in ("7.11.0", "7.10.0rc1", OLD, "7.10"):
        with pytest.raises(PackagingError, match="cannot become"):
            promote(candidate, output, version)
    with pytest.raises(PackagingError, match="no package is for gfx950"):
        promote(candidate, output, NEW, frozenset({"gfx950"}))
    with pytest.raises(PackagingError, match="no packages of an SDK"):
        promote(tmp_path, output, NEW)
    release = promote(candidate, tmp_path / "release", NEW)
    with pytest.raises(PackagingError, match="cannot become"):
        promote(tmp_path / "release", output, f"{NEW}.post1")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for path in candidate.glob("rocm_sdk_*.whl"):
        (damaged / path.name).write_bytes(path.read_bytes()[:-40])
    with pytest.raises(PackagingError, match="is damaged: no usable zip file"):
        promote(damaged, output, NEW)
    (damaged / release[0].name).write_bytes(release[0].read_bytes())
    with pytest.raises(PackagingError, match="packages of the versions"):
        promote(damaged, output, NEW)
    assert not [path for path in output.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("names", "cause"),
    [
        (["../../evil"], "its member '../../evil' leads out of it"),
        (["/evil"], "its member '/evil' leads out of it"),
        (["a/../../evil"], "leads out of it"),
        (["a//evil"], "leads out of it"),
        (["a", "a"], "two members of the name 'a'"),
        (["a/", "a"], "two members of the name 'a'"),
        (["a", "a/b"], "its member 'a/b' is below a file"),
    ],
)
def test_members_that_lie(tmp_path: Path, names: list[str], cause: str) -> None:
    """The module zipfile makes `evil` of `../../evil`, and writes the second of two members over the first."""
    (tmp_path / "old").mkdir()
    wheel = tmp_path / f"old/rocm_sdk_core-{OLD}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of equal names
        archive.writestr(f"rocm_sdk_core-{OLD}.dist-info/METADATA", f"Name: rocm-sdk-core\nVersion: {OLD}\n")
        for name in names:
            archive.writestr(name, "content")
    with pytest.raises(PackagingError, match=cause) as caught:
        promote(tmp_path / "old", tmp_path / "out", NEW)
    assert str(caught.value).startswith(f"{wheel}: ")
    with pytest.raises(RewriteError, match=cause):
        rewrite_wheel(str(wheel), str(tmp_path / wheel.name), rewrite.NewCode(("gfx942",)))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["old", wheel.name]


def test_what_has_the_name_of_a_package(candidate: Path, tmp_path: Path) -> None:
    """Nothing appears then."""
    made = promote(candidate, tmp_path / "out", NEW)
    for path in made:
        path.unlink()
    (tmp_path / "target").write_text("of somebody else")
    made[-1].symlink_to(tmp_path / "target")
    with pytest.raises(OutputRefusedError, match="symbolic link"):
        promote(candidate, tmp_path / "out", NEW)
    assert list((tmp_path / "out").iterdir()) == [made[-1]]
    assert (tmp_path / "target").read_text() == "of somebody else"


@pytest.mark.always
def test_content_reaches_the_disk_before_names(candidate: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rocm_sdk_build", "promote", str(candidate), "--version", NEW]
    lines = traced([*command, "--output", str(tmp_path / "out")], "fsync,rename", tmp_path / "calls")
    renamed = [re.search(r'rename\("([^"]+)", "([^"]+/out/rocm[^"]+)"', line) for line in lines]
    found = {each[1]: number for number, each in enumerate(renamed) if each is not None}
    assert len(found) == len(list((tmp_path / "out").iterdir()))
    for path, number in found.items():
        assert any("fsync" in line and f"<{path}>" in line for line in lines[: min(found.values())]), (path, number)
