"""The start of rocm-sdk-build by `rocm-sdk code --keep`, and the words where the builder is not installed."""

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, library, objects

import rocm_sdk
from rocm_sdk.fit.code.options import add_rewrite_arguments, words_of


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a directory that has the loader alone."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "rocm_sdk").symlink_to(Path(rocm_sdk.__file__).parent)
    return packages


def run(packages: Path, *words: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = (
        f"import sys; sys.path.insert(0, {str(packages)!r}); {before}\nfrom rocm_sdk.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-I", "-S", "-c", program, "code", *words]
    return completed(command, cwd=packages.parent)


def installed_builder(packages: Path, version: str) -> None:
    info = packages / f"rocm_sdk_build-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rocm-sdk-build\nVersion: {version}\n")


@pytest.mark.parametrize(
    ("version", "before", "why"),
    [
        (None, "", "rocm-sdk-build is not installed"),
        ("0.0.9", "", f"rocm-sdk-build 0.0.9 is installed, and this loader is {rocm_sdk.loader_version}"),
        (rocm_sdk.loader_version, "sys.frozen = True", "rocm-sdk-build cannot run in a frozen program"),
    ],
)
def test_new_files(packages: Path, version: str | None, before: str, why: str) -> None:
    if version is not None:
        installed_builder(packages, version)
    path = library(packages.parent / "libx.so", [bundle(objects("gfx1030", "gfx90a"))])
    done = run(packages, str(path), "--keep", "gfx1030", "--output", str(path.with_name("new.so")), before=before)
    assert done.returncode == 1
    first, fix = done.stderr.splitlines()
    assert first == f"rocm-sdk: new files are not written: {why}"
    assert "build/wheel/rocm_sdk_*.whl" in fix
    assert not path.with_name("new.so").exists()


def test_reading_needs_no_builder(packages: Path) -> None:
    path = library(packages.parent / "libx.so", [bundle(objects("gfx1030", "gfx90a"))])
    done = run(packages, str(path))
    assert "not installed" not in done.stderr
    assert "gfx1030" in done.stdout


def test_a_module_of_that_name_in_the_current_directory_is_not_run(tmp_path: Path) -> None:
    """The directory may be anybody's."""
    (tmp_path / "rocm_sdk_build").mkdir()
    (tmp_path / "rocm_sdk_build/__init__.py").write_text("print('planted')\n")
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx90a"))])
    command = [sys.executable, "-c", "import sys; sys.path.remove(''); from rocm_sdk.cli import main; sys.exit(main())"]
    words = ["code", path.name, "--keep", "gfx1030", "--output", "new.so"]
    done = completed([*command, *words], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "planted" not in done.stdout
    assert (tmp_path / "new.so").exists()


def test_every_option_arrives() -> None:
    parser = ArgumentParser()
    parser.add_argument("files", nargs="+")
    add_rewrite_arguments(parser)
    options = [word for action in parser._actions for word in action.option_strings if word not in ("-h", "--help")]
    assert len(options) > 8
    for option in options:
        action = parser._option_string_actions[option]
        value = "" if action.nargs == 0 else "=-a b"
        given = parser.parse_args([f"{option}{value}", "--", "-x"])
        assert parser.parse_args(words_of(given)) == given
        assert given != parser.parse_args(["--", "-x"])


def test_interrupted(tmp_path: Path) -> None:
    """The child waits for a library that does not finish loading; the terminal sends the signal to all."""
    code, endless = bundle(objects("gfx1030", "gfx90a")), '.section .init_array,"aw"\n.p2align 3\n.quad pause'
    library(tmp_path / "x.so", [code], more=endless)
    command = [sys.executable, "-m", "rocm_sdk", "code", "x.so", "--keep", "gfx1030", "--output", "new.so"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        deadline = time.monotonic() + 30
        while not is_quiet(run.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=30)
    assert (run.returncode, said) == (130, "rocm-sdk: interrupted\n")


def is_quiet(process: int) -> bool:
    """Return whether a process has a child that has slept for half a second.

    Nothing but the library lets the child sleep.
    """
    for _ in range(5):
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        states = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] for child in children]
        if states != ["S"]:
            return False
        time.sleep(0.1)
    return True
