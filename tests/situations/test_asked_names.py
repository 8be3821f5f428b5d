"""Names that are asked for: of libraries, of releases, of families, in a program or in a variable."""

from collections.abc import Callable
from typing import Any

import pytest
from sample_machine import Machine
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site

from rocm_sdk import errors

OPEN = "; import ctypes; print(ctypes.CDLL('libamd_smi.so').answer())"


def test_a_bare_name_is_found_unless_that_is_switched_off(linked_site: Site) -> None:
    """A program opens libamd_smi.so by its bare name, which wheels do not have on the linker's path."""
    linked_site.library("libamd_smi.so.26", "int answer(void) { return 42; }")
    prepare = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['amd_smi']{})"
    assert linked_site.output(prepare.format("") + OPEN) == "42"
    result = linked_site.run(prepare.format(", unversioned_names=False") + OPEN, check=False)
    assert "libamd_smi.so: cannot open shared object file" in result.stderr


def test_lib64_and_lib_are_one_place(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """lib64 of a virtual environment is a link to lib, and sys.path has both."""
    linked_site.library("libamdhip64.so.7")
    install(linked_site)
    link = linked_site.path.with_name("lib64")
    link.symlink_to(linked_site.path)
    both = f"{linked_site.path}:{link}"
    outcome = attempt(linked_site, "find_libraries('amdhip64')", PYTHONPATH=both)
    assert (outcome.error, outcome.message) == ("", "")
    said = run_test(linked_site.path, "--only", "packages", PYTHONPATH=both)
    assert (said.status, said.only("N-PKG-009")["path"], "W-PKG-005" in said.codes) == (0, str(link), False)


@pytest.mark.parametrize("pattern", ["'6.*'", "__import__('re').compile(r'6[.]')", "'7.10'"], ids=["6", "re", "7.10"])
def test_a_program_for_another_release_says_both_versions(
    linked_site: Site, attempt: Callable[..., Any], pattern: str
) -> None:
    call = f"initialize_process(check_version={pattern}, fail_on_version_mismatch=True)"
    outcome = attempt(linked_site, call)
    assert (outcome.error, outcome.code) == ("VersionMismatchError", "E-PKG-015")
    words = outcome.message.partition(", and ")
    assert words[0].startswith("The program was compiled against a ROCm version matching '")
    assert words[2] == "the installed SDK has version 7.10.0"
    warned = attempt(linked_site, call.replace("True", "False"))
    assert warned.message == f"{outcome.message}; {outcome.fix}"


def test_a_family_that_does_not_exist(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """The family is not a package that could be installed."""
    linked_site.write("rocm_sdk_core/_dist_info.py", "__version__ = '7.10.0'\nAVAILABLE_TARGET_FAMILIES = ['gfx942']\n")
    (linked_site.path / LIBRARIES).rename(linked_site.path / f"{LIBRARIES}_gfx942")
    call = "initialize_process(preload_shortnames=['rccl'])"
    outcome = attempt(linked_site, call, ROCM_SDK_TARGET_FAMILY="bogus")
    assert (outcome.error, outcome.code) == ("PackageNotInstalledError", "E-ENV-008")
    assert outcome.fix.startswith("unset ROCM_SDK_TARGET_FAMILY  # or set it as documented: ")
    assert "gfx942" in outcome.fix
    outcome = attempt(linked_site, call, ROCM_SDK_TARGET_FAMILY="gfx1100")
    assert outcome.code == "E-PKG-014"
    assert "rocm-sdk-libraries-gfx1100==7.10.0  # or unset ROCM_SDK_TARGET_FAMILY" in outcome.fix


def test_a_library_that_does_not_exist(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """The error has a single code and a single fix, not two interleaved."""
    install(linked_site)
    outcome = attempt(linked_site, "initialize_process()", ROCM_SDK_PRELOAD_LIBRARIES="amdhip46")
    assert (outcome.error, outcome.code) == ("EnvironmentOverrideError", "E-ENV-007")
    assert outcome.message.endswith("unknown ROCm library name 'amdhip46'")
    unset = "unset ROCM_SDK_PRELOAD_LIBRARIES  # or correct it"
    assert outcome.fix == f"{unset}, or: rocm-sdk list  # prints all names: did you mean amdhip64?"


def test_a_package_that_a_program_needs(linked_site: Site, attempt: Callable[..., Any]) -> None:
    (linked_site.path / LIBRARIES / "__init__.py").unlink()
    (linked_site.path / LIBRARIES).rmdir()
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['hipblas', 'amdhip64'])")
    assert (outcome.error, outcome.code) == ("PackageNotInstalledError", "E-PKG-014")
    assert "rocm[libraries]" in outcome.fix


@pytest.mark.parametrize(
    ("variable", "wrong", "right", "fix"),
    [
        ("ROCR_VISIBLE_DEVICES", "1, ,0", "1,0", "leave no entry between commas empty"),
        ("HSA_OVERRIDE_GFX_VERSION_2", "8.0.3", "11.0.0", "give a version of the GPU's own generation"),
    ],
)
def test_a_variable_that_aborts_is_named(  # noqa: PLR0917
    linked_site: Site, machine: Machine, variable: str, wrong: str, right: str, fix: str
) -> None:
    """A variable at which ROCm aborts each program, as a launcher writes it that joins a list with an empty name."""
    install(linked_site)
    for node in (1, 2):
        machine.gpu(node, "gfx1100")
    root = {"ROCM_SDK_ROOTFS": str(machine.root)}
    found = run_test(linked_site.path, "--only", "environment", **root, **{variable: wrong}).only("W-GPU-033")
    assert found["title"] == f"{variable} makes ROCm abort each program"
    assert f"{variable}={wrong}" in found["cause"]
    assert found["fix"] == f"unset {variable}  # or {fix}"
    report = run_test(linked_site.path, "--only", "environment", **root, **{variable: right})
    assert "W-GPU-033" not in report.codes


def test_a_frozen_program_works_and_is_told(linked_site: Site) -> None:
    """A program was frozen: it carries the SDK, and pip does not know of it."""
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    install(linked_site)
    code = """
        import sys
        sys.frozen = True
        import rocm_sdk
        from rocm_sdk.cli import main
        rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
        sys.exit(main(["test", "--skip", "gpus"]))
    """
    output = linked_site.output(code)
    assert "W-PKG-012  this program is frozen" in output
    assert "--collect-all rocm_sdk" in output


# ---- what torch does: it asks find_libraries, and goes on with the library in the process where it knows the error

ASK = """
import ctypes, os, rocm_sdk
rocm_sdk.preload_libraries("amdhip64")
os.environ.update({variables!r})
try:
    print("asked", rocm_sdk.find_libraries({name!r})[0].name)
except (ImportError, IndexError) as error:
    print(type(error).__name__, ctypes.CDLL("libamdhip64.so").answer())
except Exception as error:
    print("ends with", type(error).__name__)
"""
FILE = "ROCM_SDK_LIBRARY_hiprtc"


@pytest.mark.parametrize(
    ("removed", "name", "override", "answer"),
    [
        ("", "hiprtc", "", "asked libhiprtc.so.7"),
        (f"{CORE}/lib/libhiprtc.so.7", "hiprtc", "", "LibraryNotFoundError 7"),
        (LIBRARIES, "rccl", "", "PackageNotInstalledError 7"),
        ("", "nothing", "", "UnknownLibraryError 7"),
        ("", "hiprtc", "rocm_sdk_core/__init__.py", "BadLibraryError 7"),
        ("", "hiprtc", "gone", "LibraryNotFoundError 7"),
    ],
    ids=["there", "absent", "not installed", "unknown", "damaged override", "absent override"],
)
def test_what_torch_does(site: Site, removed: str, name: str, override: str, answer: str) -> None:
    site.library("libamdhip64.so.7", "int answer(void) { return 7; }")
    site.library("libhiprtc.so.7")
    if removed:
        (site.path / removed).rename(site.path.with_name("removed"))
    variables = {FILE: str(site.path / override)} if override else {}
    assert site.output(ASK.format(variables=variables, name=name)) == answer


def test_the_types_of_the_established_loader_stay() -> None:
    assert issubclass(errors.LibraryNotFoundError, FileNotFoundError)
    assert issubclass(errors.BadLibraryError, OSError)
    assert issubclass(errors.PackageNotInstalledError, ModuleNotFoundError)
