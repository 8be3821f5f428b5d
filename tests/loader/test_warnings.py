"""Warnings point at the line, outside the package, whose call led to them; the command says them in its own form."""

from pathlib import Path

import pytest
from sample_machine import Machine
from sample_site import LIBRARIES, Site, compile_library, run_python

CONFLICT = "import ctypes; ctypes.CDLL({foreign!r})\n"
CALLS = {
    "initialize_process": "rocm_sdk.initialize_process(preload_shortnames=['amdhip64'])",
    "the environment": "rocm_sdk.initialize_process()",
    "preload_libraries": "rocm_sdk.preload_libraries('amdhip64')",
    "the version": "rocm_sdk.initialize_process(check_version='6.*')",
    "two versions of a library": "rocm_sdk.find_libraries('hipsparse')",
    "two versions, located": "rocm_sdk.locate('hipsparse')",
    "two versions, planned": "rocm_sdk.load_plan('hipsparse')",
}


@pytest.fixture
def warned(site: Site, tmp_path: Path) -> str:
    """Return another libamdhip64 to load, in an SDK with two versions of libhipsparse."""
    site.library("libamdhip64.so.7")
    site.library("libhipsparse.so.1", package=LIBRARIES)
    site.library("libhipsparse.so.2", package=LIBRARIES)
    return str(compile_library(tmp_path / "libamdhip64.so.7", "libamdhip64.so.7", "int other;"))


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_points_at_the_line_of_the_caller(site: Site, warned: str, name: str) -> None:
    module = site.write("caller.py", f"import rocm_sdk\ndef call():\n    {CALLS[name]}\n")
    variables = {"ROCM_SDK_PRELOAD_LIBRARIES": "amdhip64"} if name == "the environment" else {}
    result = site.run(f"{CONFLICT.format(foreign=warned)}import caller; caller.call()", **variables)
    assert result.stderr.startswith(f"{module}:3: "), result.stderr
    assert CALLS[name] in result.stderr  # Python shows the line


def test_a_family_that_is_chosen_among_several(site: Site, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, "gfx942")
    machine.gpu(2, "gfx1100")
    site.write(
        "rocm_sdk_core/_dist_info.py",
        "__version__ = '7.10.0'\nDEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'\n"
        "AVAILABLE_TARGET_FAMILIES = ['gfx94X-dcgpu', 'gfx110X-all']\n",
    )
    module = site.write("caller.py", "import rocm_sdk\nrocm_sdk._dist_info.determine_target_family()\n")
    result = site.run("import caller", ROCM_SDK_ROOTFS=str(machine.root))
    assert result.stderr.startswith(f"{module}:2: RocmSdkWarning: GPUs of several target families"), result.stderr


@pytest.mark.usefixtures("warned")
def test_each_line_warns_once(site: Site) -> None:
    code = "import rocm_sdk\nfor _ in range(3):\n    rocm_sdk.locate('hipsparse')\nrocm_sdk.locate('hipsparse')"
    assert site.run(code).stderr.count("RocmSdkWarning") == 2


@pytest.mark.usefixtures("warned")
def test_filters_count(site: Site) -> None:
    program = "import rocm_sdk\ntry:\n    rocm_sdk.locate('hipsparse')\nexcept rocm_sdk.RocmSdkWarning: print('raised')"
    assert site.output(program, "-W", "error") == "raised"
    assert site.run("import rocm_sdk; rocm_sdk.locate('hipsparse')", "-W", "ignore").stderr == ""


@pytest.mark.usefixtures("warned")
def test_the_command_says_it_without_python(site: Site) -> None:
    result = run_python(
        "import sys, rocm_sdk.cli; sys.exit(rocm_sdk.cli.main(['list']))", check=True, PYTHONPATH=str(site.path)
    )
    lines = [line for line in result.stderr.splitlines() if line.startswith("rocm-sdk: ")]
    assert len(lines) == len(result.stderr.splitlines()) == 1, result.stderr
    assert "libhipsparse.so.1" in lines[0]
