"""The report of a command's finished work where its answer cannot be written: on a full device."""

import subprocess
import sys
from pathlib import Path

import pytest
from compiled_files import compile_file
from programs import completed
from sample_device_code import bundle, library, objects
from test_index import make_wheel


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    with Path("/dev/full").open("w") as full:
        return subprocess.run(
            [sys.executable, "-m", "rocm_sdk_build", *map(str, words)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    """Closed streams are as /dev/null."""
    make_wheel(tmp_path, "rocm_sdk_core", "1")
    command = [sys.executable, "-m", "rocm_sdk_build", "index", str(tmp_path)]
    done = completed(["sh", "-c", f'exec "$@" {closed}', "sh", *command])
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "simple/rocm-sdk-core/index.html").is_file()


def test_an_unbuffered_output(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard output is named, and not the file that the command writes to."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    done = run("code", app, "--keep", "gfx942", "--output", f"{app}.new")
    assert done.returncode == 128
    assert "cannot write to standard output: No space left on device" in done.stderr


def remembered(*words: str | Path) -> str:
    done = run(*words)
    assert done.returncode == 128, done.stderr
    first, last = done.stderr.splitlines()[-2:]
    assert first == "rocm-sdk-build: cannot write to standard output: No space left on device"
    return last.removeprefix("rocm-sdk-build: but this is done: ")


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return library(tmp_path / "libapp.so", [bundle(objects("gfx1030", "gfx942"))])


def test_index(tmp_path: Path) -> None:
    make_wheel(tmp_path, "rocm_sdk_core", "1")
    assert remembered("index", tmp_path) == f"3 files in {tmp_path}"
    assert (tmp_path / "simple/rocm-sdk-core/index.html").is_file()


def test_promote(tmp_path: Path) -> None:
    make_wheel(tmp_path, "rocm_sdk_core", "7.10.0rc1")
    output = tmp_path / "out"
    assert remembered("promote", tmp_path, "--output", output, "--version", "7.10.0") == f"1 file in {output}"
    assert len([*output.glob("*.whl")]) == 1


def test_code(app: Path, tmp_path: Path) -> None:
    output = tmp_path / "small.so"
    assert remembered("code", app, "--keep", "gfx942", "--output", output) == f"{output} is written"
    assert output.stat().st_size > 0


def test_code_that_is_taken_out(app: Path, tmp_path: Path) -> None:
    output = tmp_path / "parts"
    assert remembered("code", app, "--extract", output) == f"{len([*output.iterdir()])} files in {output}"


def test_nothing_is_done_without_an_output(app: Path) -> None:
    done = run("code", app, "--keep", "gfx942", "--dry-run")
    assert done.returncode == 128
    assert "is done" not in done.stderr


def test_init_module(tmp_path: Path) -> None:
    output = tmp_path / "_rocm_init.py"
    words = ("init-module", "--shortnames", "amdhip64", "--version", "7.10.0", "--output", output)
    assert remembered(*words) == f"{output} is written"


def test_clear_execstack(tmp_path: Path) -> None:
    path = tmp_path / "libstack.so"
    compile_file(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-Wl,-z,execstack"], path, "int f(void) { return 1; }")
    assert remembered("clear-execstack", path) == f"{path} asks for no executable stack any more"
