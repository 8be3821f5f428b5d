"""Indexes that lack requirements of their packages: AMD's index, ours, and indexes of frameworks."""

import gzip
import io
import json
import os
import shlex
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from build_command import build_command
from checked_packages import built, check, path_of, problems
from environments import empty_environment, installer_command
from marked_tree import with_marker
from package_index import write_wheel
from programs import completed
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


# ---- libraries that name an archive of kernels which no package has, as RCCL of some builds did


@pytest.mark.slow
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


@pytest.mark.slow
def test_artifacts_refuses_to_make_it(tmp_path: Path) -> None:
    tree = with_marker(tmp_path / "artifacts", "../.kpack/rccl_lib_@GFXARCH@.kpack")
    done = build_command("artifacts", tree.root, "--output", tmp_path / "out", "--version", VERSION)
    assert done.returncode == 1
    assert (
        "whl: has librccl.so.1, whose kernels are in .kpack/rccl_lib_@GFXARCH@.kpack: no device package"
        " has such an archive" in done.stderr
    )
    assert not list((tmp_path / "out/dist").glob("*"))


# ---- the established packaging document, step by step, with this project's command in place of its scripts


PRERELEASE = "7.10.0.dev0"


def say(tree: ArtifactTree, **facts: str) -> None:
    """Add facts of the build to the manifest, which says how the build was made."""
    (manifest,) = tree.root.glob("base_lib_generic/**/therock_manifest.json")
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **facts}))


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the output of `build_python_packages.py --artifact-dir artifacts --dest-dir packages`.

    The command runs outside of the build's source tree.
    """
    place = tmp_path_factory.mktemp("build")
    tree = usual_tree(place / "artifacts")
    say(tree, rocm_version="7.10.0")
    done = build_command("artifacts", "--artifact-dir", "artifacts", "--dest-dir", "packages", "--no-check", cwd=place)
    assert done.returncode == 0
    assert done.stderr.endswith("pip install 'rocm[libraries]==7.10.0.dev0' --find-links packages/dist\n")
    return place / "packages"


def test_the_version_of_the_artifacts(packages: Path) -> None:
    assert (packages / f"dist/rocm-{PRERELEASE}.tar.gz").is_file()


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_install_from_the_directory(packages: Path, tmp_path: Path, installer: str) -> None:
    """`pip install rocm[libraries,devel] --pre --find-links=packages/dist`, without an index; then `rocm-sdk`."""
    python = empty_environment(tmp_path / "venv")
    words = ["--no-index", f"--find-links={packages}/dist", "rocm[libraries,devel]"]
    words.insert(0, "--prerelease=allow" if installer == "uv" else "--pre")
    environment = {**os.environ, "ROCM_SDK_TARGET_FAMILY": "gfx942"}
    done = completed([*installer_command(installer, python, "install"), *words], env=environment)
    assert done.returncode == 0, done.stderr
    told = subprocess.check_output([python.with_name("rocm-sdk"), "path", "--root"], text=True, cwd=tmp_path)
    assert Path(told.strip(), "bin/rocminfo").exists()


def test_without_the_loader(packages: Path, tmp_path: Path) -> None:
    artifacts = packages.parent / "artifacts"
    done = build_command(
        *("artifacts", artifacts, "--output", tmp_path / "dist", "--only", "rocm", "--no-loader", "--no-check"),
        *("--linux-amdgpu-families", "gfx942"),
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "dist").iterdir()] == [f"rocm-{PRERELEASE}.tar.gz"]


def test_a_package_alone_needs_no_loader(packages: Path, tmp_path: Path) -> None:
    """A machine that makes core needs no loader: the one that makes the selector puts the loader beside it."""
    artifacts = packages.parent / "artifacts"
    words = ("--linux-amdgpu-families", "gfx942", "--only", "libraries", "--no-check")
    done = build_command("artifacts", artifacts, "--output", tmp_path / "dist", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name.partition("-")[0] for path in (tmp_path / "dist").iterdir()] == ["rocm_sdk_libraries"]


def test_a_prefix(packages: Path, tmp_path: Path) -> None:
    rocm = tmp_path / "rocm"
    tree = ArtifactTree(tmp_path / "tree")
    for name in ("libamdhip64.so.7", "librocblas.so.5"):
        library = tree.library("x_lib_generic", f"lib/{name}", name)
    library.parent.parent.rename(rocm)
    done = build_command("prefix", rocm, "--output", tmp_path / "dist", "--version", "7.1.2", "--no-check")
    assert done.returncode == 0, done.stderr
    loaders = [path.name for path in (packages / "dist").glob("rocm_sdk_loader-*.whl")]
    assert [path.name for path in (tmp_path / "dist").glob("rocm_sdk_loader-*.whl")] == loaders
    assert len(loaders) == 1


@pytest.fixture
def faulty(tmp_path: Path) -> None:
    """Make artifacts with libraries that do not load."""
    tree = usual_tree(tmp_path / "artifacts")
    for number in range(2):
        soname = f"libbad{number}.so.1"
        place = tree.place("core-hip_lib_generic", f"lib/{soname}")
        source = "extern int missing_function(void); int f(void) { return missing_function(); }"
        command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(place), f"-Wl,-z,now,-soname,{soname}"]
        subprocess.run(command, input=source, text=True, check=True)
    time.sleep(2.1)  # what has changed just now may change again, so its wheels would not be kept


@pytest.mark.usefixtures("faulty")
def test_a_check_that_fails(tmp_path: Path) -> None:
    """The report says which file of which package fails, and how to get the packages, which were kept, as they are."""
    words = ("artifacts", "artifacts", "--dest-dir", "packages", "--version", "7.10.0", "--no-loader")
    done = build_command(*words, cwd=tmp_path)
    assert done.returncode == 1
    first, *lines = done.stderr.splitlines()
    names = "core, devel, device-gfx1100, libraries, profiler"
    assert first == f"rocm-sdk-build: {names}: the packages do not work where they are installed:"
    for number in range(2):
        title, cause = lines[2 * number : 2 * number + 2]
        assert title == f"E-LIB-020  libbad{number}.so.1 does not fit what it needs"
        assert cause.startswith("  cause: rocm_sdk_core-7.10.0-py3-none-")
        member = f"_rocm_sdk_core/lib/libbad{number}.so.1"
        assert cause.endswith(f".whl: {member}: undefined symbol: missing_function")
    kept = "the wheels in packages/.rocm-sdk-finished are not made again"
    assert lines[4] == f"to get the packages as they are, add --no-check; {kept}"
    assert [line.partition("#")[2] for line in lines[5:]] == [" rocm-sdk explain E-LIB-020"]
    assert not (tmp_path / "packages/dist").exists()
    done = build_command(*words, "--no-check", "-v", cwd=tmp_path)
    assert done.returncode == 0
    assert "staging" not in done.stderr
    assert done.stderr.count("an earlier run has made it") == 6
    assert len(list((tmp_path / "packages/dist").glob("*.whl"))) == 6
    done = build_command("check", "packages/dist", cwd=tmp_path)
    assert done.returncode == 1
    assert "\\n" not in done.stdout
    assert "\nE-LIB-020  libbad0.so.1 does not fit what it needs\n  cause: rocm_sdk_core-7.10.0-py3" in done.stdout
