"""The files of two builds of rocBLAS were put together: the index of one leads to tables of the other."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
from programs import completed
from sample_device_code import bundle, code_object, kernel_index, library, objects
from sample_report import install
from sample_site import LIBRARIES, Site, clean_environment

FALLBACK, TUNED = "TensileLibrary_Type_HH_fallback", "TensileLibrary_Type_SS_gfx1100"


@pytest.fixture
def kernels(linked_site: Site) -> Path:
    """Return the directory of rocBLAS's kernels in an SDK, with an index and the tables that the index leads to."""
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount(int *n) { return *n = 0; }")
    directory = linked_site.path / LIBRARIES / "lib/rocblas/library"
    directory.mkdir(parents=True)
    library(directory.parents[1] / "librocblas.so.5", [bundle(objects("gfx1100"))])
    (directory / "Kernels.so-000-gfx1100.hsaco").write_bytes(code_object(0x41, size=64))
    (directory / "TensileLibrary_lazy_gfx1100.dat").write_bytes(kernel_index({"gfx1100": [TUNED], "": [FALLBACK]}))
    for name in (FALLBACK, TUNED):
        (directory / f"{name}.dat").write_bytes(b"")
    install(linked_site)
    return directory


def check_gpu(kernels: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return completed(
        [str(Path(sysconfig.get_path("scripts"), "rocm-sdk")), "check-gpu", "--gpu", "gfx1100", *words],
        env=clean_environment() | {"PYTHONPATH": str(kernels.parents[3])},
    )


def problems(kernels: Path) -> list[dict[str, str]]:
    (gpu,) = json.loads(check_gpu(kernels, "--json").stdout)["gpus"]
    found: list[dict[str, str]] = gpu["problems"]
    return found


def test_all_tables_are_there(kernels: Path) -> None:
    said = check_gpu(kernels)
    assert said.returncode == 0
    assert "  rocblas                     exact code for gfx1100" in said.stdout.splitlines()
    assert problems(kernels) == []


def test_a_table_is_missing(kernels: Path) -> None:
    (kernels / f"{FALLBACK}.dat").unlink()
    said = check_gpu(kernels)
    assert said.returncode == 1
    line = "  rocblas                     exact code for gfx1100; a TABLE OF KERNELS IS MISSING: some calls will fail"
    assert line in said.stdout.splitlines()
    assert f"E-CODE-007: rocblas: {kernels}/{FALLBACK}.dat is not there" in said.stdout
    (found,) = problems(kernels)
    assert found["code"] == "E-CODE-007"


def test_nobody_has_tuned_it(kernels: Path) -> None:
    (kernels / "TensileLibrary_lazy_gfx1100.dat").write_bytes(kernel_index({"": [FALLBACK]}))
    said = check_gpu(kernels)
    assert said.returncode == 0
    assert "exact code for gfx1100; fallback kernels only, which are slow" in said.stdout
    (found,) = problems(kernels)
    assert (found["code"], found["severity"], found["breaks"]) == ("N-CODE-008", "note", ["rocblas"])
