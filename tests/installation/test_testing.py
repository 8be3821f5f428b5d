"""`rocm_sdk.testing`, as tests of a framework use it: the lines of the page, with the wheel installed."""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from environments import empty_environment, installer_command
from programs import completed
from sample_site import clean_environment

import rocm_sdk
from rocm_sdk.testing import STAND_INS, VERSION, SampleSdk, write_sample_sdk

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/start.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def framework(tmp_path: Path) -> Path:
    """Return a directory with the files of the page."""
    directory = tmp_path / "framework"
    directory.mkdir()
    for name, text in FILES.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def run_tests(python: str | Path, framework: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", framework]
    return completed([*map(str, command)], cwd=framework, env=clean_environment() | variables)


@pytest.mark.slow
@pytest.mark.built_wheel
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_the_lines_of_the_page(framework: Path, tmp_path: Path, installer: str) -> None:
    python = empty_environment(tmp_path / "venv")
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "tests.pth").write_text(sysconfig.get_path("purelib"))  # for pytest; ours comes before it
    (wheel,) = (ROOT / "build/wheel").glob("rocm_sdk_loader-*.whl")
    words = [*installer_command(installer, python, "install"), "--quiet", "--no-deps", "--no-index", str(wheel)]
    if installer == "pip":
        words.append("--ignore-installed")
    installed = completed(words, cwd="/")
    assert installed.returncode == 0, installed.stderr
    where = completed([python, "-c", "import rocm_sdk; print(rocm_sdk.__file__)"], cwd="/", env=clean_environment())
    assert Path(where.stdout).is_relative_to(site)
    done = run_tests(python, framework)
    assert (done.returncode, done.stdout.splitlines()[-1][:8]) == (0, "3 passed"), done.stdout


@pytest.mark.slow
def test_without_a_compiler_the_fixture_says_so(framework: Path) -> None:
    done = run_tests(sys.executable, framework, CC="no-such-compiler")
    assert done.returncode == 1
    assert (
        "no-such-compiler: no C compiler, which makes the stand-in libraries: install gcc, or name one in CC"
        in done.stdout
    )
    assert "Traceback" not in done.stdout


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc --no-such-option")
    with pytest.raises(RuntimeError, match=r"libamd_comgr\.so\.3: cc failed: .*no-such-option"):
        write_sample_sdk(tmp_path / "sdk")


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleSdk:
    made = write_sample_sdk(tmp_path / "sdk")
    monkeypatch.setenv("ROCM_SDK_ROOT", str(made.path))
    return made


@pytest.mark.slow
def test_each_library_is_found_and_loads(sdk: SampleSdk) -> None:
    names = [row.shortname for row in STAND_INS]
    assert rocm_sdk.find_libraries(*names) == [sdk.library(name) for name in names]
    done = sdk.run(f"import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames={names!r}, check_version='7.*')")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_functions_of_the_users_own(sdk: SampleSdk) -> None:
    """A library that is made again keeps what it needs."""
    sdk.compile("hipsparse", "int answer(void) { return 42; }")
    load = "import ctypes, rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['hipsparse'])"
    done = sdk.run(f"{load}; print(ctypes.CDLL('libhipsparse.so.4').answer(), ctypes.CDLL('librocsparse.so.1') and 1)")
    assert (done.stdout, done.stderr) == ("42 1\n", "")
    with pytest.raises(KeyError):
        sdk.library("nope")


def test_its_sonames_are_those_of_its_release() -> None:
    text = (ROOT / "csrc/sdk/soname_table.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{"(lib[\w-]+\.so)\.(\d+)", +\{(\d+), (\d+)\}, +\{(\d+), (\d+)\}\}', text)
    release = tuple(int(part) for part in VERSION.split("."))[:2]
    known = {
        name: number
        for name, number, *bounds in rows
        if (first := tuple(map(int, bounds[:2]))) <= release
        and (release <= (last := tuple(map(int, bounds[2:]))) or last == (0, 0))
        and first != (0, 0)
    }
    own = dict(row.soname.rsplit(".", 1) for row in STAND_INS)
    shared = own.keys() & known.keys()
    assert len(shared) >= 9
    assert {name: own[name] for name in shared} == {name: known[name] for name in shared}
