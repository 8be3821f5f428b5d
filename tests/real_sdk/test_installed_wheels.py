"""The main job: wheels of Debian's libraries, which pip installs, and a process that preloads them."""

import subprocess
import sysconfig
from pathlib import Path

import pytest
from debian_sdk import SOURCE, rocm
from environments import empty_environment, installer_command
from programs import completed

WHEELS = Path(__file__).resolve().parents[2] / "build/wheel"
COMMAND = Path(sysconfig.get_path("scripts"), "rocm-sdk-build")
PACKAGES = "librocrand,libhiprand"  # and HIP, HSA and comgr with LLVM, which they need
PROGRAM = """
import ctypes, rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["hiprand"], check_version=rocm_sdk.__version__)
version = ctypes.c_int()
assert rocm_sdk._ALL_CDLLS["hiprand"].hiprandGetVersion(ctypes.byref(version)) == 0
print(version.value)
"""


@pytest.mark.always
@pytest.mark.built_wheel
def test_pip_installs_debians_libraries_and_a_process_preloads_them(tmp_path: Path) -> None:
    expected = rocm()
    words = ["--packages", PACKAGES, "--shape", "none", "--no-wheel-compression", "--cache", SOURCE.cache]
    made = completed([COMMAND, "debian", *words, "--output", tmp_path / "wheels"])
    assert made.returncode == 0, made.stderr
    python = empty_environment(tmp_path / "venv")
    (loader,) = WHEELS.glob("rocm_sdk_loader-*.whl")
    wheels = [
        *(tmp_path / "wheels").glob("rocm_sdk_core-*.whl"),
        *(tmp_path / "wheels").glob("rocm_sdk_libraries-*.whl"),
    ]
    assert len(wheels) == 2
    subprocess.run(
        [*installer_command("pip", python, "install"), "--no-index", "--no-deps", loader, *wheels], check=True
    )
    alone = completed([python, "-I", "-c", "import ctypes; ctypes.CDLL('libhiprand.so.1')"])
    assert "libhiprand.so.1: cannot open shared object file" in alone.stderr, "the linker finds it without us"
    result = completed([python, "-I", "-c", PROGRAM])
    assert (result.stdout.strip(), result.stderr) == (expected.rocrand_version, "")
