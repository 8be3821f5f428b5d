"""Closures of Debian's ROCm: for PyTorch, and for a distribution that is linked with hipSPARSE."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from debian_sdk import rocm
from fetched_packages import install_torch
from sample_closure import PROVED, closure, names_in, report, write_application, write_distribution
from sample_site import LIBRARIES, run_python
from system_programs import need

from rocm_sdk import device_code
from rocm_sdk_build.closure.writing.metadata import NOTE

pytestmark = pytest.mark.slow

# As PyTorch's builds for ROCm have it, with the libraries that each Debian has.
INIT = """
def initialize():
    import rocm_sdk

    rocm_sdk.initialize_process(
        preload_shortnames=['amd_comgr', 'amdhip64', 'hiprand', 'hipsparse', 'rocm_smi64'],
        check_version='5.*',
    )
"""


@pytest.fixture
def torch(tmp_path: Path) -> Iterator[Path]:
    """Yield PyTorch for CPUs with the list of a build for ROCm, in links."""
    directory, problem = install_torch()
    if problem:
        pytest.skip(f"no CPU build of torch can be installed for this Python: {problem}")
    copy = Path(shutil.copytree(directory, tmp_path / "torch-site", copy_function=_link))
    (copy / "torch/_rocm_init.py").write_text(INIT)
    record = next(copy.glob("torch-*.dist-info/RECORD"))
    text = record.read_text()
    record.unlink()  # which is a link
    record.write_text(f"{text}torch/_rocm_init.py,,\n")
    yield copy
    shutil.rmtree(copy)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another file system
        shutil.copy2(source, target)


def test_pytorch(debian_sdk: Callable[[str], Path], torch: Path, tmp_path: Path) -> None:
    sdk = debian_sdk("none")
    variables = {"PYTHONPATH": f"{sdk}:{torch}"}
    done = closure(
        sdk, PROVED, "--for", "torch", "--gpu", "gfx1030", "--json", "--output", tmp_path / "out", **variables
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert "torch" in found["proof"]["modules"]
    assert {"libhipsparse.so.0", "librocm_smi64.so.1", "libamd_comgr.so.2"} <= names_in(tmp_path / "out")
    assert found["size"] < found["size_before"] / 3
    program = "import torch, rocm_sdk; print([each.location.path for each in rocm_sdk.loaded_libraries()])"
    loaded = run_python(program, ROCM_SDK_ROOT=str(tmp_path / "out"), PYTHONPATH=str(torch)).stdout
    assert f"{tmp_path}/out/{LIBRARIES}/lib/libhipsparse.so.0" in loaded
    assert str(sdk) not in loaded


@pytest.mark.parametrize("gpu", ["gfx1030", "gfx90a"])
def test_a_distribution(debian_sdk: Callable[[str], Path], tmp_path: Path, gpu: str) -> None:
    sdk = debian_sdk("rpath")
    site = tmp_path / "site"
    (site / "sparse").mkdir(parents=True)
    extension = write_application(site / "sparse", sdk, "libhipsparse.so.0")
    (site / "sparse/__init__.py").write_text(
        "import rocm_sdk, os\nrocm_sdk.preload_for(os.path.join(os.path.dirname(__file__), "
        f"{extension.name!r}))\nfrom . import app\n"
    )
    write_distribution(site, "sparse", "1.0", ("sparse",))
    variables = {"PYTHONPATH": f"{sdk}:{site}"}
    words = ("--for", "sparse", "--gpu", gpu, "--output", tmp_path / "out")
    done = closure(sdk, PROVED, *words, "--json", **variables)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["proof"]["modules"] == ["sparse"]
    library = tmp_path / f"out/{LIBRARIES}/lib/librocsparse.so.0"
    assert {each.target for each in device_code(library).targets} == {*rocm().targets_of(gpu)}
    assert found["surprises"] == []
    (note, *_) = (tmp_path / "out").glob(f"rocm_sdk_core-*/{NOTE}")
    assert json.loads(note.read_text())["command"] == f"rocm-sdk-build closure --for sparse --gpu {gpu}"


def test_a_traced_run_finds_what_the_rules_find(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    """A call of hipsparseCreate fails without a GPU; all that it and HIP open until then is in the closure."""
    need("strace")
    sdk = debian_sdk("none")
    program = (
        "import ctypes, rocm_sdk\nrocm_sdk.preload_libraries('hipsparse')\n"
        "handle = ctypes.c_void_p()\nctypes.CDLL('libhipsparse.so.0').hipsparseCreate(ctypes.byref(handle))"
    )
    words = ("--library", "hipsparse", "--gpu", "gfx1030", "--no-proof", "--output", tmp_path / "out")
    found: dict[str, Any] = report(sdk, *words, "--trace", "--", sys.executable, "-c", program)
    assert found["surprises"] == []
