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
from rocm_sdk._native import soname_releases
from rocm_sdk.testing import SampleSdk, write_sample_sdk

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
    assert (done.returncode, done.stdout.splitlines()[-1][:8]) == (0, "6 passed"), done.stdout


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


# Release -> libraries that it has and another has not; names that it lacks.
GENERATIONS = {
    "5.2": ({"rocm_smi64"}, {"amd_smi", "hipblaslt", "hipsparselt", "rocprofiler-register", "rocprofiler-sdk-roctx"}),
    "6.4.3": ({"rocm_smi64", "amd_smi", "hipblaslt", "rocprofiler-register", "rocprofiler-sdk-roctx"}, {"nope"}),
    "7.10": ({"rocm_smi64", "amd_smi"}, {"nope"}),
    "10.1": ({"amd_smi", "rccl"}, {"rocm_smi64"}),
}


@pytest.fixture(params=GENERATIONS)
def sdk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleSdk:
    made = write_sample_sdk(tmp_path / "sdk", request.param)
    monkeypatch.setenv("ROCM_SDK_ROOT", str(made.path))
    return made


@pytest.mark.slow
def test_each_library_of_a_generation_is_found_and_loads(sdk: SampleSdk) -> None:
    """Its libraries, and no others, are there, need each other and have the SONAMEs of that release."""
    files = {each.name: each for each in sdk.path.glob("_rocm_sdk_*/lib/*.so.*")}
    present, absent = GENERATIONS[sdk.version]
    assert all(sdk.library(name).name in files for name in present)
    for name in absent:
        with pytest.raises(KeyError):
            sdk.library(name)
    release = tuple(map(int, sdk.version.split(".")[:2]))
    told = {
        soname: first <= release and (release <= last or last == (0, 0)) for soname, first, last in soname_releases()
    }
    assert len(files.keys() & told.keys()) >= 8
    assert all(told[name] for name in files.keys() & told.keys())
    # Each library of the table that began before and that stand-ins are made of is there.
    assert {name.rpartition(".")[0] for name, is_of_release in told.items() if is_of_release} - {
        name.rpartition(".")[0] for name in files
    } <= {"librocprofiler-sdk.so"}
    for file in files.values():
        done = sdk.run(f"import rocm_sdk, ctypes; rocm_sdk.preload_for({str(file)!r}); ctypes.CDLL({str(file)!r})")
        assert (done.returncode, done.stderr) == (0, ""), file
    check = (
        f"import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['hipsparse'], check_version={sdk.version!r})"
    )
    done = sdk.run(check, PYTHONWARNINGS="error")
    assert (done.returncode, done.stderr) == (0, "")
    assert rocm_sdk.find_libraries("amdhip64") == [sdk.library("amdhip64")]


@pytest.mark.slow
def test_functions_of_the_users_own(tmp_path: Path) -> None:
    """A library that is made again keeps what it needs."""
    sdk = write_sample_sdk(tmp_path / "sdk")
    sdk.compile("hipsparse", "int answer(void) { return 42; }")
    load = "import ctypes, rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['hipsparse'])"
    done = sdk.run(f"{load}; print(ctypes.CDLL('libhipsparse.so.4').answer(), ctypes.CDLL('librocsparse.so.1') and 1)")
    assert (done.stdout, done.stderr) == ("42 1\n", "")


# 4.0 and 4.5 have SONAMEs that the table knows in part; 5.9, 7.15 and 8.0 lie between two releases.
@pytest.mark.parametrize(
    "version",
    ["4.0", "4.5", "5.9", "7.15", "8.0", "7", "abc", "", "7.1.2.3", "10.1\n", "\u0667.1", "../7.1", "9" * 5000],
)
def test_a_version_of_no_release(tmp_path: Path, version: str) -> None:
    with pytest.raises(ValueError, match=r"is no release of ROCm from 5\.0 on: name one .* 7\.10\.0"):
        write_sample_sdk(tmp_path / "sdk", version)
    assert not (tmp_path / "sdk").exists()


def test_a_parameter_of_no_release_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["rocm_sdk.testing"]\n')
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('sample_rocm_sdk', ['4.0'], indirect=True)\n"
        "def test_it(sample_rocm_sdk): pass\n"
    )
    done = run_tests(sys.executable, tmp_path)
    assert "'4.0' is no release of ROCm from 5.0 on" in done.stdout
    assert "Traceback" not in done.stdout
    assert "1 error" in done.stdout
