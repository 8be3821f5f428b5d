"""The removed file of a package: the exception, the test and C report one problem alike, with all that it breaks."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import completed
from sample_report import install, reinstalls, run_test
from sample_site import LIBRARIES, Site


@pytest.fixture
def without_hsa(hsa: Path) -> Path:
    """Return the path of the missing file."""
    hsa.unlink()
    return hsa


def test_it_is_one_problem(linked_site: Site, without_hsa: Path, attempt: Callable[..., Any]) -> None:
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['hipsparse'])")
    title = "libhsa-runtime64.so.1 of rocm-sdk-core is missing"
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-FILE-001")
    assert outcome.message == f"cannot load hipsparse: {title}"
    assert reinstalls(outcome.fix, "rocm-sdk-core==7.10.0")
    said = run_test(linked_site.path)
    (found,) = (each for each in said.problems if each["severity"] == "error")
    assert (found["code"], found["title"], found["path"]) == ("E-FILE-001", title, str(without_hsa))
    assert found["fix"] == outcome.fix
    assert set(found["breaks"]) >= {"amdhip64", "hipsparse", "rocsparse", "check api: hipsparse"}
    assert said.subject("libraries")["failed"] == 3


@pytest.mark.usefixtures("without_hsa")
def test_a_c_program_says_the_same(linked_site: Site, c_program: Path) -> None:
    command = [c_program, linked_site.path, "hipsparse"]
    result = completed(command)
    assert result.returncode == 1
    assert "E-FILE-001 libhsa-runtime64.so.1 of rocm-sdk-core is missing\n" in result.stderr
    index = "--index-url https://repo.amd.com/rocm/whl-multi-arch/"
    assert result.stderr.endswith(f"pip install --force-reinstall --no-deps {index} rocm-sdk-core==7.10.0\n")


def test_many_are_one_problem(linked_site: Site) -> None:
    directory = linked_site.path / LIBRARIES / "lib/rocblas/library"
    directory.mkdir(parents=True)
    for number in range(40):
        (directory / f"kernels_{number}.co").touch()
    install(linked_site)
    for path in directory.iterdir():
        path.unlink()
    (found,) = run_test(linked_site.path, "--only", "files").problems
    assert (found["code"], found["path"]) == ("E-FILE-008", str(directory))
    assert found["title"] == "40 files of rocm-sdk-libraries are missing"
    assert found["cause"] == "kernels_0.co, kernels_1.co, kernels_10.co ..."


def test_the_page_list_that_the_loader_wrote(linked_site: Site) -> None:
    install(linked_site)
    path = linked_site.path / LIBRARIES / "lib/rocm-sdk.pages"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert run_test(linked_site.path, "--only", "files").problems == []


@pytest.mark.usefixtures("hsa")
def test_a_file_that_the_package_never_had(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """As one of a closure, or of another maker: no RECORD lists it, so the same package again does not bring it."""
    (sparse,) = linked_site.path.rglob("libhipsparse.so.*")
    subprocess.run(["patchelf", "--add-needed", "librocfft.so.0", sparse], check=True)
    install(linked_site)
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['hipsparse'])")
    assert outcome.code == "E-LIB-002"
    assert "libhipsparse.so.1 needs librocfft.so.0, which is in neither the SDK nor the system" in outcome.message
    assert outcome.fix == "Use an SDK whose rocm-sdk-libraries includes librocfft.so.0"
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-002")
    assert found["cause"] == "rocm-sdk-libraries has it, and the one that is installed does not"
    assert found["fix"] == outcome.fix
