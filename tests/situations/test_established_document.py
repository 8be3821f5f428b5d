"""The established packaging document, step by step, with this project's command in place of its scripts."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from artifact_tree import ArtifactTree, usual_tree
from build_command import build_command
from environments import empty_environment, installer_command
from programs import completed

VERSION = "7.10.0.dev0"


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
    assert (done.returncode, done.stderr) == (0, "")
    return place / "packages"


def test_the_version_of_the_artifacts(packages: Path) -> None:
    assert (packages / f"dist/rocm-{VERSION}.tar.gz").is_file()


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
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in (tmp_path / "dist").iterdir()] == [f"rocm-{VERSION}.tar.gz"]


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
    assert first == "rocm-sdk-build: the packages do not work where they are installed:"
    for number in range(2):
        title, cause = lines[2 * number : 2 * number + 2]
        assert title == f"E-LIB-020  libbad{number}.so.1 does not fit what it needs"
        assert cause.startswith("  cause: rocm_sdk_core-7.10.0-py3-none-")
        member = f"_rocm_sdk_core/lib/libbad{number}.so.1"
        assert cause.endswith(f".whl: {member}: undefined symbol: missing_function")
    kept = "the wheels in packages/.rocm-sdk-finished are not made again"
    assert lines[4] == f"to get the packages as they are, add --no-check; {kept}"
    assert lines[5:] == ["  fix: rocm-sdk explain E-LIB-020"]
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
