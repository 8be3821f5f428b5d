"""PyInstaller and no options: the hook that the wheel brings collects the SDK."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from environments import installer_command
from programs import completed
from sample_devel import make_wheel
from sample_site import CORE, LIBRARIES, Site, clean_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import ctypes, sys
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["hipsparse"], check_version="7.*")
library = ctypes.CDLL("libhipsparse.so.4")
print(sys.frozen, rocm_sdk.__version__, library.sparse(), rocm_sdk.find_libraries("amdhip64")[0])
print(len(rocm_sdk.loaded_libraries()), rocm_sdk.check_process(), rocm_sdk.gpus(root="/nonexistent"))
"""
FORMS = {"--onedir": "program/program", "--onefile": "program"}  # and where the program is


@pytest.fixture
def python(tmp_path: Path, site: Site) -> Path:
    """Return the Python of an environment with PyInstaller, our wheel, and an SDK whose libraries have no RPATH.

    PyInstaller is the version of the tests.
    """
    hip = site.library("libamdhip64.so.7", "int hip(void) { return 42; }")
    roc = site.library("librocsparse.so.1", "int hip(void); int roc(void) { return hip(); }", (hip,), LIBRARIES)
    site.library("libhipsparse.so.4", "int roc(void); int sparse(void) { return roc(); }", (roc, hip), LIBRARIES)
    site.write(f"{LIBRARIES}/lib/rocblas/library/kernels.dat", "data")
    venv.create(tmp_path / "venv", system_site_packages=False)
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (packages / "tests.pth").write_text("\n".join(entry for entry in sys.path if entry.endswith("site-packages")))
    (wheel,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
    files = {
        path.relative_to(site.path).as_posix(): path.read_bytes() for path in site.path.rglob("*") if path.is_file()
    }
    sdk = make_wheel(tmp_path / "wheels", "rocm-sdk-core", files)
    pip = [*installer_command("pip", tmp_path / "venv/bin/python", "install"), "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--ignore-installed", str(wheel), str(sdk)], check=True)
    return tmp_path / "venv/bin/python"


@pytest.mark.built_wheel
def test_a_frozen_program_carries_the_sdk(python: Path, tmp_path: Path) -> None:
    """A directory and one file, of one analysis, which PyInstaller keeps in build/."""
    pytest.importorskip("PyInstaller")
    (tmp_path / "program.py").write_text(PROGRAM)
    for form in FORMS:
        command = [str(python), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", form]
        made = completed([*command, "--distpath", f"dist{form}", "program.py"], cwd=tmp_path, env=clean_environment())
        assert made.returncode == 0, made.stderr
    (python.parents[1]).rename(tmp_path / "gone")  # what it was made from is not there where it runs
    for form, program in FORMS.items():
        command = [str(tmp_path / f"dist{form}" / program)]
        run = completed(command, cwd="/", env=clean_environment())
        assert run.returncode == 0, run.stderr
        frozen, version, answer, path = run.stdout.splitlines()[0].split(" ", 3)
        assert (frozen, version, answer) == ("True", "7.10.0", "42")
        assert path.endswith(f"/{CORE}/lib/libamdhip64.so.7")
        assert run.stdout.splitlines()[1] == "3 () ()"


@pytest.mark.built_wheel
def test_a_whole_sdk_is_warned_of(python: Path, tmp_path: Path) -> None:
    """The size, and the way to a smaller program: a closure, whose files alone are collected."""
    pytest.importorskip("PyInstaller")
    hook = ROOT / "rocm_sdk/_pyinstaller/hook-rocm_sdk.py"
    count = f"""
import runpy
found = runpy.run_path({str(hook)!r})
assert 'rocm_sdk.cli' in found['hiddenimports'] and 'rocm_sdk.testing' not in found['hiddenimports']
assert not any(path.endswith('.h') for path, _ in found['datas'])
print(sum('_rocm_sdk' in path for path, _ in found['datas']))
"""

    def collected(**variables: str) -> tuple[str, str]:
        done = completed([str(python), "-c", count], cwd=tmp_path, env={**clean_environment(), **variables})
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), done.stderr

    small = Site(tmp_path / "small")
    small.library("libamdhip64.so.7", "int hip(void) { return 42; }")
    whole, told = collected()
    assert "whole SDK" not in told
    (large,) = python.parents[1].glob(f"lib/python*/site-packages/{CORE}/lib")
    with (large / "libbig.so.1").open("wb") as file:
        file.truncate(600_000_000)
    more, told = collected()
    assert int(more) == int(whole) + 1
    assert "the program gets the whole SDK, 600.0 MB in " in told
    assert 'ROCM_SDK_ROOT="$PWD/small" pyinstaller' in told
    assert int(collected(ROCM_SDK_ROOT=str(small.path))[0]) < int(whole)
