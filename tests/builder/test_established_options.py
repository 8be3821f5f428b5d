"""`rocm-sdk-build artifacts` with the options of the established packager, and the words before them."""

import os
from pathlib import Path

import pytest
from artifact_packages import Result, build, wheel
from artifact_tree import usual_tree
from build_command import build_command

import rocm_sdk


def run(*words: str | Path, cwd: Path | None = None) -> Result:
    return build_command(*words, cwd=cwd)


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    """The absence of the directory is said before the absence of version.json."""
    done = run("artifacts", tmp_path / "typo", "--output", tmp_path / "out", cwd=tmp_path)
    fix = "  fix: name the directory that has the artifacts\n"
    told = f"rocm-sdk-build: {tmp_path}/typo: there is no such directory\n{fix}"
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (2, told, [])
    (tmp_path / "typo").touch()
    done = run("artifacts", tmp_path / "typo", "--output", tmp_path / "out", cwd=tmp_path)
    told = f"rocm-sdk-build: {tmp_path}/typo: is not a directory\n{fix}"
    assert (done.returncode, done.stderr, (tmp_path / "out").exists()) == (1, told, False)


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--output", "--dest-dir"])
def test_an_output_that_is_no_directory(tmp_path: Path, option: str) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/dist").touch()
    for name, wrong in (("file", "file"), ("loop", "loop"), ("file/below", "file"), ("out", "out/dist")):
        if (name, option) != ("out", "--output"):
            done = run(
                "artifacts", tree.root, option, tmp_path / name, "--version", "7.10.0", "--no-check", "--no-loader"
            )
            told = f"rocm-sdk-build: {tmp_path}/{wrong}: is in the way: it is not a directory\n"
            fix = "  fix: remove it, or name another place\n"
            assert (done.returncode, done.stderr) == (1, told + fix)
    (tmp_path / "file").unlink()
    done = run(
        "artifacts", tree.root, option, tmp_path / "file/below", "--version", "7.10.0", "--no-check", "--no-loader"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--version", "")])
def test_the_established_version(tmp_path: Path, words: tuple[str, ...]) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    command = ("artifacts", tree.root, "--dest-dir", tmp_path / "out", *words, "--no-check", "--no-loader")
    done = run(*command, cwd=tmp_path)
    told = "no version is given: version.json is not there, and the artifact base_lib_generic does not say one"
    fix = "name the version of the ROCm that was built: --version 7.10.0"
    assert (done.returncode, done.stderr) == (1, f"rocm-sdk-build: {told}\n  fix: {fix}\n")
    (tmp_path / "version.json").write_text('{"rocm-version": "7.12.0"}')
    assert run(*command, cwd=tmp_path).returncode == 0
    assert (tmp_path / "out/dist/rocm-7.12.0.dev0.tar.gz").exists()


@pytest.mark.slow
def test_the_established_compression(tmp_path: Path) -> None:
    tree = usual_tree(tmp_path / "artifacts")
    for option, name in (("--devel-tarball-compression", "tar.xz"), ("--no-devel-tarball-compression", "tar")):
        assert build(tree, tmp_path / name, option, "--no-check").returncode == 0
        assert f"rocm_sdk_devel/_devel.{name}" in wheel(tmp_path / name / "dist", "rocm_sdk_devel").namelist()


@pytest.mark.slow
def test_no_packages(kpack: Path, tmp_path: Path) -> None:
    """Directories with what they would have."""
    tree = usual_tree(tmp_path / "artifacts")
    names = {"rocm", *(path.name.partition("-")[0].replace("_", "-") for path in kpack.glob("*.whl"))}
    for _ in range(2):
        done = build(tree, tmp_path / "out", "--no-build-packages")
        assert (done.returncode, done.stderr) == (0, "")
        assert {path.name for path in (tmp_path / "out").iterdir()} == names
        assert set(done.stdout.splitlines()) == {f"{tmp_path}/out/{name}" for name in names}
    core = tmp_path / "out/rocm-sdk-core"
    archive = wheel(kpack, "rocm_sdk_core")
    for name in ("bin/rocminfo", "lib/libamdhip64.so.7"):
        assert (core / "platform/_rocm_sdk_core" / name).read_bytes() == archive.read(f"_rocm_sdk_core/{name}")
    assert os.access(core / "platform/_rocm_sdk_core/bin/rocminfo", os.X_OK)
    assert (core / "src/rocm_sdk_core/_dist_info.py").exists()
    assert (tmp_path / "out/rocm-sdk-devel/src/rocm_sdk_devel/_devel.tar").exists()
    assert (tmp_path / "out/rocm/selector.json").exists()
    (core / "mine").touch()
    done = build(tree, tmp_path / "out", "--no-build-packages", "--no-check")
    told = f"rocm-sdk-build: {core}: is in the way: it has mine, which no earlier run has put there\n"
    assert (done.returncode, done.stderr) == (1, f"{told}  fix: remove it, or name another place\n")
    (core / "mine").unlink()
    (core / ".rocm-sdk-build.json").unlink()
    done = build(tree, tmp_path / "out", "--no-build-packages", "--no-check")
    assert f"rocm-sdk-build: {core}: is in the way: it was not made by an earlier run\n" in done.stderr
    assert (core / "platform/_rocm_sdk_core/bin/rocminfo").exists()


def test_the_command(tmp_path: Path) -> None:
    version = run("--version")
    assert (version.returncode, version.stdout) == (0, f"rocm-sdk-build {rocm_sdk._native.loader_version}\n")
    for word, near in (("artifact", "; did you mean artifacts?"), ("debain", "; did you mean debian?"), ("zzzz", "")):
        done = run(word, "--output", tmp_path)
        assert done.returncode == 2
        assert done.stderr.endswith(
            f"rocm-sdk-build: error: there is no command {word!r}{near}\n  see: rocm-sdk-build --help\n"
        )
