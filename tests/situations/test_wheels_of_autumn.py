"""Wheels of autumn 2026, in small: what `check` says of each, as a reading of their files by hand says it."""

import subprocess
import sys
from pathlib import Path

import pytest
from checked_files import Call, compile_library, document
from programs import completed
from sample_device_code import code_object
from sample_site import clean_environment


@pytest.fixture
def call(tmp_path: Path) -> Call:
    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        values = clean_environment() | {"HOME": str(tmp_path)} | environment
        return completed([sys.executable, "-m", "rocm_sdk", *words], env=values)

    return run


# ---- GPU code


def object_file(path: Path, flags: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(code_object(flags, size=64))
    return path


@pytest.mark.parametrize(("place", "cache"), [("meta/hsa", "ops/aot"), ("kernels/x", "cache")])
def test_a_directory_for_each_gpu(tmp_path: Path, call: Call, place: str, cache: str) -> None:
    """aiter: a package opens the files of its own GPU, and has kernels that were compiled ahead for one of the GPUs."""
    for target, flags in (("gfx942", 0x54C), ("gfx1030", 0x36)):
        object_file(tmp_path / "pkg" / place / target / "fmha/a.co", flags)
    for number in range(9):
        object_file(tmp_path / "pkg" / cache / f"kernel{number}/x.hsaco", 0x36)
    said = call("check", str(tmp_path / "pkg"), "--gpu", "gfx942")
    assert said.returncode == 0, said.stdout
    assert said.stdout.endswith("; runs on gfx942; kernel0, kernel1, kernel2 and 6 more: no code for it\n")
    assert call("check", str(tmp_path / "pkg"), "--gpu", "gfx1030").returncode == 0
    verdict = document(call, tmp_path / "pkg", "--gpu", "gfx1100")
    (found,) = verdict["problems"]  # type: ignore[misc]
    assert (found["code"], found["facts"]["libraries"]) == ("E-CODE-001", Path(place).name)
    said = call("check", str(tmp_path / "pkg" / cache), "--gpu", "gfx942")  # there is nothing else
    assert said.returncode == 1
    assert len(said.stdout) < 700


def test_images_that_a_gpu_lacks(tmp_path: Path, call: Call) -> None:
    """hipengine: AOTriton, and no GPU code that we read."""
    images = tmp_path / "pkg/lib/aotriton.images/amd-gfx11xx/flash"
    images.mkdir(parents=True)
    (images / "a.aks2").write_bytes(b"x")
    compile_library(tmp_path / "pkg/lib/libaotriton_v2.so", "libaotriton_v2.so")
    remark = "on gfx942: AOTriton has no images for it (gfx11xx)"
    assert remark in str(document(call, tmp_path / "pkg", "--gpu", "gfx942,gfx1100")["verdict"])
    assert "AOTriton" not in str(document(call, tmp_path / "pkg", "--gpu", "gfx1100")["verdict"])
