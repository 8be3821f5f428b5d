"""The demonstration, with the sample SDK: real wheels, a real environment, real processes."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_devel import as_root

from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.demo.sample import LIBRARIES, write_sample_site

Result = subprocess.CompletedProcess[str]
Demo = Callable[..., Result]

BUILT_WHEELS = Path(__file__).resolve().parents[2] / "build/wheel"
COMMAND = Path(sysconfig.get_path("scripts"), "rocm-sdk-build")
IN_ORDER = ("amd_comgr", "amdhip64", "rocm_smi64", "hiprand", "hipsparse")


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """Return a function that runs `rocm-sdk-build demo` in an empty directory; keywords are environment variables."""
    (loader,) = BUILT_WHEELS.glob("rocm_sdk_loader-*.whl")

    def run(*options: str, **environment: str) -> Result:
        arguments = options if "--loader" in options else (*options, "--loader", str(loader))
        command = [COMMAND, "demo", "--directory", "demo", *arguments]
        return completed(command, cwd=tmp_path, env={**os.environ, **environment})

    return run


def table(result: Result) -> dict[str, list[str]]:
    """Return the cells that follow each library in the table."""
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines() if line[:2].strip().isdigit()]
    return {row[1]: row[2:] for row in rows if row[1] in IN_ORDER}


@pytest.mark.slow
def test_demo_shows_each_library_and_that_it_works(demo: Demo) -> None:
    result = demo("--sample")
    rows = table(result)
    assert tuple(rows) == IN_ORDER
    opened, file, *numbers = rows["hipsparse"]
    assert (opened, file) == ("anchor", "_rocm_sdk_libraries/lib/libhipsparse.so.0")
    size, unit, milliseconds = numbers
    assert (float(size) > 0, unit) == (True, "kB")
    assert float(milliseconds) > 0
    assert "with librocsparse.so.0\n" in result.stdout
    assert 'ctypes.CDLL("libamdhip64.so.5").hipRuntimeGetVersion(&version): version = 50200000' in result.stdout
    assert 'ctypes.CDLL("libhiprand.so.1").hiprandGetVersion(&version): version = 200000' in result.stdout
    assert 'ctypes.CDLL("libhipsparse.so.0"): found by its bare name' in result.stdout
    prefix = result.stdout.partition("-DCMAKE_PREFIX_PATH=")[2].split()[0]
    assert Path(prefix, "hip/hip-config.cmake").is_file()
    assert len(result.stdout.splitlines()) < 50, "one screen"


@pytest.mark.slow
def test_the_lines_it_ends_with_are_a_program(demo: Demo, tmp_path: Path) -> None:
    lines = demo("--sample").stdout.partition("The code that loads it:\n")[2].partition("\n\n")[0] + "\n"
    program = "if True:\n" + lines + '  import ctypes; ctypes.CDLL("libhipsparse.so.0")\n'
    python = tmp_path / "demo/venv/bin/python"
    result = completed([python, "-I", "-c", program])
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_with_rpaths_every_library_is_opened_as_it_is(demo: Demo) -> None:
    assert {row[0] for row in table(demo("--sample", "--shape", "rpath")).values()} == {"open"}


@pytest.mark.slow
def test_another_run_installs_only_what_changed(demo: Demo, tmp_path: Path) -> None:
    table(demo("--sample"))
    (site,) = (tmp_path / "demo/venv").glob("lib/python*/site-packages")
    loader, library = next((site / "rocm_sdk").glob("_native*")), site / "_rocm_sdk_libraries/lib/libhipsparse.so.0"
    before, content = loader.stat().st_ino, library.read_bytes()
    table(demo("--sample", "--shape", "rpath"))
    assert loader.stat().st_ino == before
    assert library.read_bytes() != content


@pytest.mark.slow
def test_without_apt_the_sample_is_used(demo: Demo, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cc", "as", "ld"):
        (tools / name).symlink_to(shutil.which(name) or name)
    result = demo(PATH=str(tools))
    assert tuple(table(result)) == IN_ORDER
    first = result.stdout.splitlines()[0]
    assert first == "apt is not on PATH: a small sample SDK, compiled from C, is used instead of Debian's ROCm"


def complaint(result: Result) -> str:
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    return result.stderr


def test_no_compiler(demo: Demo, tmp_path: Path) -> None:
    error = complaint(demo("--sample", PATH="/nonexistent"))
    assert error.startswith("rocm-sdk-build: cc: not found on PATH\n  fix: install a C compiler: ")
    assert list((tmp_path / "demo/sample-wheels").iterdir()) == []


@pytest.mark.slow
def test_with_the_loader_that_runs_here(tmp_path: Path) -> None:
    """Without --loader, in any directory."""
    result = completed([COMMAND, "demo", "--sample"], cwd=tmp_path)
    assert tuple(table(result)) == IN_ORDER
    assert (tmp_path / "build/demo/venv").is_dir()
    *_, title, typed = result.stdout.splitlines()
    assert title == "To go on in this environment:"
    assert "libhipsparse" in completed(["sh", "-c", typed], cwd=tmp_path).stdout


@as_root
def test_a_directory_of_another_user(tmp_path: Path) -> None:
    """A wheel and an environment that he put there would run."""
    os.chown(tmp_path, 65534, 65534)
    command = [COMMAND, "demo", "--sample"]
    result = completed(command, cwd=tmp_path)
    assert complaint(result).startswith(f"rocm-sdk-build: {tmp_path} belongs to another user")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_damaged_wheel_is_named_and_the_next_run_recovers(demo: Demo, tmp_path: Path) -> None:
    (built,) = BUILT_WHEELS.glob("rocm_sdk_loader-*.whl")
    damaged = tmp_path / built.name
    damaged.write_bytes(built.read_bytes()[:1000])
    assert damaged.name in complaint(demo("--sample", "--loader", str(damaged)))
    assert tuple(table(demo("--sample"))) == IN_ORDER


@pytest.mark.parametrize(("shape", "loads"), [(Shape.NONE, False), (Shape.RPATH, True), (Shape.RUNPATH, True)])
def test_the_sample_has_the_shape_asked_for(tmp_path: Path, shape: Shape, loads: bool) -> None:
    write_sample_site(shape, tmp_path / "site")
    assert {path.name for path in (tmp_path / "site").rglob("*.so.*")} == {library.soname for library in LIBRARIES}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    script = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    command = [sys.executable, "-c", script, str(tmp_path / "site/_rocm_sdk_libraries/lib/libhipsparse.so.0")]
    result = completed(command)
    assert (result.returncode == 0) == loads
    assert ("librocsparse.so.0: cannot open shared object file" in result.stderr) != loads
