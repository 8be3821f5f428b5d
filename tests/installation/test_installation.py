"""The ways in which people install the project, each tried for real in a fresh virtual environment."""

import re
import subprocess
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import empty_environment
from programs import completed

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SAMPLE_EXTENSION = Path(__file__).resolve().parents[1] / "extension/sample_extension.c"
WHERE = "import rocm_sdk, rocm_sdk._native as native; print(rocm_sdk.loader_version, native.__file__)"


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Return the Python of an empty virtual environment."""
    return empty_environment(tmp_path / "venv")


def check_installed(python: Path, source_tree: Path) -> Path:
    """Import and command work away from the source tree; returns where the extension came from."""
    shown = subprocess.run([python, "-c", WHERE], cwd="/", capture_output=True, text=True, check=True).stdout.split()
    header = (source_tree / "csrc/include/rocm_sdk/version.h").read_text()
    assert f'#define RSDK_VERSION "{shown[0]}"' in header
    script = python.parent / "rocm-sdk"
    command = completed([script, "--help"], cwd="/")
    assert command.returncode == 0, command.stderr
    check_headers(python)
    return Path(shown[1])


def check_headers(python: Path) -> None:
    """Check that an extension module compiles with the flags that the package prints."""
    words = completed([python, "-m", "rocm_sdk", "--cflags", "--libs"], cwd="/").stdout.split()
    include = completed([python, "-c", "import rocm_sdk; print(rocm_sdk.get_include())"], cwd="/").stdout.strip()
    assert words == [f"-I{include}"]
    command = ["cc", "-fsyntax-only", *words, "-isystem", sysconfig.get_path("include"), SAMPLE_EXTENSION]
    compiled = completed(command, cwd="/")
    assert compiled.returncode == 0, compiled.stderr


def test_pip_install(run_module: Run, environment: Path, source_tree: Path) -> None:
    run = run_module("pip", "--python", str(environment), "install", ".")
    assert run.returncode == 0, run.stdout + run.stderr
    extension = check_installed(environment, source_tree)
    assert extension.is_relative_to(environment.parent.parent)
    assert extension.name == "_native.abi3.so"


def test_pip_install_editable(run_module: Run, environment: Path, source_tree: Path) -> None:
    run = run_module("pip", "--python", str(environment), "install", "--editable", ".")
    assert run.returncode == 0, run.stdout + run.stderr
    assert check_installed(environment, source_tree) == source_tree / "rocm_sdk/_native.abi3.so"


def test_no_limited_api_on_free_threaded_pythons(run_module: Run, source_tree: Path) -> None:
    """Such an interpreter is recognised by its configuration, which this one is made to claim."""
    setup = source_tree / "setup.py"
    claim = 'import sysconfig\nsysconfig.get_config_vars()["Py_GIL_DISABLED"] = 1\n'
    setup.write_text(claim + setup.read_text())
    run = run_module("pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", "wheels", ".")
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = (source_tree / "wheels").iterdir()
    assert "abi3" not in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        (extension,) = (name for name in archive.namelist() if name.endswith(".so"))
    assert "abi3" not in extension


def test_source_distribution_then_wheel(run_module: Run, environment: Path, source_tree: Path) -> None:
    """`python -m build` makes the wheel from the source distribution, which therefore holds what a build needs."""
    run = run_module("build", ".")
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = (source_tree / "dist").glob("*.whl")
    (archive,) = (source_tree / "dist").glob("*.tar.gz")
    assert re.fullmatch(r"rocm_sdk_loader-[\w.]+-cp310-abi3-linux_\w+\.whl", wheel.name)

    with tarfile.open(archive) as source_archive:
        packed = {name.partition("/")[2] for name in source_archive.getnames()}
    headers = {str(path.relative_to(source_tree)) for path in (source_tree / "csrc").rglob("*.h")}
    assert headers <= packed

    with zipfile.ZipFile(wheel) as wheel_archive:
        names = wheel_archive.namelist()
        metadata = wheel_archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert {"rocm_sdk/py.typed", "rocm_sdk/_native.pyi", "rocm_sdk/_native.abi3.so"} <= set(names)
    public = {f"rocm_sdk/include/rocm_sdk/{path.name}" for path in (source_tree / "csrc/include/rocm_sdk").iterdir()}
    assert {name for name in names if name.endswith((".c", ".h", ".a"))} == public
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert not needed, "a run-time dependency crept in"

    run = run_module("pip", "--python", str(environment), "install", "--no-index", str(wheel))
    assert run.returncode == 0, run.stdout + run.stderr
    check_installed(environment, source_tree)


def test_no_directory_of_the_interpreter_in_the_wheel(run_module: Run, source_tree: Path, tmp_path: Path) -> None:
    """Interpreters are linked with flags such as pyenv's -Wl,-rpath; what the user asks for stays."""
    link = f"{sysconfig.get_config_var('LDSHARED')} -Wl,-rpath,/of/the/interpreter"
    hook = tmp_path / "hook/sitecustomize.py"
    hook.parent.mkdir()
    hook.write_text(f"import sysconfig; sysconfig.get_config_vars()['LDSHARED'] = {link!r}\n")
    flags = "-Wl,-rpath,/asked/for"
    wheel = ("pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", "wheels", ".")
    run = run_module(*wheel, PYTHONPATH=str(hook.parent), LDFLAGS=flags)
    assert run.returncode == 0, run.stdout + run.stderr
    (made,) = (source_tree / "wheels").iterdir()
    with zipfile.ZipFile(made) as archive:
        extension = archive.extract("rocm_sdk/_native.abi3.so", tmp_path)
    dynamic = subprocess.run(["readelf", "-d", extension], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"\((?:RUNPATH|RPATH)\)\s*Library r\w+: \[(.*)\]", dynamic) == ["/asked/for"]
