"""Indexes that lack requirements of their packages: AMD's index, ours, and indexes of frameworks."""

import gzip
import io
import shlex
import shutil
import tarfile
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from build_command import build_command
from checked_packages import built, check, path_of, problems
from package_index import write_wheel
from stored_builds import stored

VERSION = "7.10.0"


@pytest.fixture
def dist(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return all packages of an SDK for two targets, with its artifacts beside them."""
    made = stored(tmp_path_factory.mktemp("whole") / "whole", "packages of an incomplete index", make_packages)
    shutil.copytree(made, tmp_path / "whole", symlinks=True)
    return tmp_path / "whole/dist"


def make_packages(directory: Path) -> None:
    directory.mkdir()
    built(usual_tree(directory / "artifacts").root, directory / "dist")


def indexed(directory: Path, *words: object) -> tuple[int, str]:
    """Return status and standard error of `index`."""
    done = build_command("index", directory, *words)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_a_framework_whose_extra_leads_to_nothing(dist: Path) -> None:
    """The pages are written: nobody can make the wheel again. The status says that something lacks."""
    needed = "amd-torch-device-gfx1201==2.9.0+rocm7.10.0"
    extras = "device-gfx1201"
    torch = write_wheel(dist, "torch", "2.9.0+rocm7.10.0", (f'{needed}; extra == "{extras}"', "filelock"), extras)
    status, told = indexed(dist)
    assert status == 1
    assert f"{torch}: requires {needed} (extra {extras}), which is not there\n" in told
    assert f"{torch}: requires filelock, which is not there: pip and uv have to get that from elsewhere\n" in told
    assert (dist / "simple/torch/index.html").exists()
    write_wheel(dist, "amd-torch-device-gfx1201", "2.9.0+rocm7.10.0")
    write_wheel(dist, "filelock", "3.0")
    assert indexed(dist)[0] == 0


@pytest.mark.parametrize(
    ("requirement", "lacking"),
    [
        ("rocm-sdk-libraries==9.9", "rocm-sdk-libraries==9.9"),
        ("rocm[device-gfx1201]==7.10.0", "rocm[device-gfx1201]==7.10.0"),
        ("rocm[devel]==7.10.0", ""),
        ("something==1.0+rocm7.10.0", "something==1.0+rocm7.10.0"),
        ("rocm-sdk-core==9.9; sys_platform == 'win32'", ""),
    ],
)
def test_a_bundle(dist: Path, requirement: str, lacking: str) -> None:
    bundle = write_wheel(dist, "bundle", "1.0", (requirement,))
    status, told = indexed(dist)
    assert (status, f"{bundle}: requires {lacking}, which is not there" in told) == (
        (1, True) if lacking else (0, False)
    )


def test_a_selector_of_the_established_packager(tmp_path: Path) -> None:
    """The selector has no list of ours, but the facts that its build wrote down."""
    core = write_wheel(tmp_path, "rocm-sdk-core", VERSION)
    extra = f'Provides-Extra: devel\nRequires-Dist: rocm-sdk-devel=={VERSION}; extra == "devel"\n'
    text = f"Metadata-Version: 2.4\nName: rocm\nVersion: {VERSION}\nRequires-Dist: rocm-sdk-core=={VERSION}\n{extra}"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo(f"rocm-{VERSION}/PKG-INFO")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    selector = tmp_path / f"rocm-{VERSION}.tar.gz"
    selector.write_bytes(gzip.compress(packed.getvalue()))
    status, told = indexed(tmp_path)
    assert (status, f"{selector}: requires rocm-sdk-devel=={VERSION} (extra devel), which is not there" in told) == (
        1,
        True,
    )
    write_wheel(tmp_path, "rocm-sdk-devel", VERSION)
    assert indexed(tmp_path) == (0, "")
    core.unlink()
    assert f"{selector}: requires rocm-sdk-core=={VERSION}, which is not there" in indexed(tmp_path)[1]


def test_a_device_package_that_the_selector_does_not_know(dist: Path) -> None:
    built(dist.parent / "artifacts", dist, only=("rocm",), linux_families="gfx1100")
    status, told = indexed(dist)
    wheel = path_of(dist, "rocm_sdk_device_gfx942")
    assert status == 1
    assert f"{wheel}: no extra of {dist}/rocm-{VERSION}.tar.gz requires it, so nobody can choose it\n" in told
    assert check(dist).returncode == 1


def test_one_missing_package_is_one_problem(dist: Path) -> None:
    """Whoever requires it: the selector, and the device packages of both targets."""
    path_of(dist, "rocm_sdk_libraries").unlink()
    ((file, what, _),) = problems(dist)
    assert file == f"rocm-{VERSION}.tar.gz"
    lacking = f"rocm-sdk-libraries=={VERSION} (extra libraries)"
    told = f"requires {lacking}, which is not there; 2 other files require it too"
    assert what == told
    assert f"{dist}/{file}: {told}\n" in indexed(dist)[1]


def two_systems(dist: Path, apart: tuple[str, ...]) -> None:
    """Make a selector of each of two systems, and packages of each, in directories of their own."""
    for name in ("one", "two"):
        (dist / name).mkdir()
        target = {"one": "gfx942", "two": "gfx1100"}[name]
        built(dist.parent / "artifacts", dist / name, only=("rocm",), linux_families=f"{target},gfx1030")
    (dist / f"rocm-{VERSION}.tar.gz").unlink()
    for name in apart:
        path_of(dist, name).rename(dist / "two" / path_of(dist, name).name)


def test_two_selectors_of_one_version(dist: Path) -> None:
    """The selectors clash, and neither has an index of its own: one problem, and no `--root` that would fail."""
    two_systems(dist, ("rocm_sdk_core", "rocm_sdk_libraries"))
    found = [each for each in problems(dist) if "not there" in each[1] or "different" in each[1]]
    ((file, what, fix),) = found
    assert (file, what) == (
        f"two/rocm-{VERSION}.tar.gz",
        f"and {dist}/one/rocm-{VERSION}.tar.gz are different, and installers could not tell which is meant",
    )
    assert fix.startswith("make one selector for all packages, in place of these: ")
    status, told = indexed(dist)
    assert status == 1
    assert f"fix: {fix}\n" in told
    for name in ("one", "two"):
        (dist / name / f"rocm-{VERSION}.tar.gz").unlink()
    built(dist.parent / "artifacts", dist, only=("rocm",))
    assert indexed(dist)[0] == 0


def test_two_selectors_with_all_that_they_require(dist: Path) -> None:
    """The printed command makes an index of each."""
    selector = dist / f"rocm-{VERSION}.tar.gz"
    for name in ("one", "two"):
        (dist / name).mkdir()
    built(dist.parent / "artifacts", dist / "one", only=("rocm",), linux_families="gfx942")
    shutil.move(selector, dist / "two")
    status, told = indexed(dist)
    command = told.rpartition("fix: an index for each: ")[2].strip()
    assert (status, command) == (1, f"rocm-sdk-build index {dist}/two --root {dist}")
    done = build_command(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
