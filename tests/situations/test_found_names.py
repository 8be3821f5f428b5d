"""Names that are asked for: of libraries, of releases, of families, in a program or in a variable."""

from collections.abc import Callable
from typing import Any

import pytest
from sample_machine import Machine
from sample_report import install, reinstalls, run_test
from sample_site import LIBRARIES, Site

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
    assert said.status == 0
    assert said.only("N-PKG-009")["path"] == str(link)
    assert "W-PKG-005" not in said.codes


def test_a_library_is_renamed_away(linked_site: Site, attempt: Callable[..., Any]) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    path.rename(path.with_name("hip.bak"))
    outcome = attempt(linked_site, "find_libraries('amdhip64')")
    assert (outcome.error, outcome.code) == ("LibraryNotFoundError", "E-FILE-001")
    assert "libamdhip64.so" in outcome.message
    assert reinstalls(outcome.fix, "rocm-sdk-core==7.10.0")
    said = run_test(linked_site.path, "--only", "files,api")
    assert said.only("E-FILE-001")["path"] == str(path)
    assert said.only("E-FILE-001")["fix"] == outcome.fix
    assert "check api: amdhip64" in said.only("E-FILE-001")["breaks"]


def test_a_library_is_renamed_to_another_version(linked_site: Site) -> None:
    path = linked_site.library("libamdhip64.so.7")
    install(linked_site)
    path.rename(path.with_name("libamdhip64.so.8"))
    found = run_test(linked_site.path, "--only", "libraries").only("W-LIB-010")
    assert found["title"] == "libamdhip64.so.8 says that it is libamdhip64.so.7"


def test_an_optional_library_may_be_absent(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """A library that an SDK may lack is absent, or one of a newer release: nothing is wrong."""
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    install(linked_site)
    assert attempt(linked_site, "find_libraries('rocdxg')").error == ""
    said = run_test(linked_site.path, "--only", "files,libraries,api")
    assert (said.status, said.codes) == (0, set())
    assert "hipfile: no package of this SDK has it" in said.subject("api")["not_tried"]


@pytest.mark.parametrize("pattern", ["'6.*'", "re.compile(r'6[.]')", "'7.10'"])
def test_a_program_for_another_release_says_both_versions(
    linked_site: Site, attempt: Callable[..., Any], pattern: str
) -> None:
    """A program was compiled for another release of the SDK, and says so."""
    call = f"initialize_process(check_version=__import__('re') and {pattern}, fail_on_version_mismatch=True)"
    outcome = attempt(linked_site, call.replace("re.compile", "__import__('re').compile"))
    assert (outcome.error, outcome.code) == ("VersionMismatchError", "E-PKG-015")
    words = outcome.message.partition(", and ")
    assert words[0].startswith("The program was compiled against a ROCm version matching '")
    assert words[2] == "the installed SDK has version 7.10.0"
    assert outcome.fix
    warned = attempt(linked_site, call.replace("re.compile", "__import__('re').compile").replace("True", "False"))
    assert warned.message == f"{outcome.message}; {outcome.fix}"


# Variables with values that nobody can mean.


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


@pytest.mark.parametrize(
    ("variable", "values", "fix"),
    [
        ("ROCR_VISIBLE_DEVICES", ("1,,0", "1,0"), "leave no entry between commas empty"),
        ("ROCR_VISIBLE_DEVICES", ("1, ,0", "1,0"), "leave no entry between commas empty"),
        ("HSA_OVERRIDE_GFX_VERSION_2", ("8.0.3", "11.0.0"), "give a version of the GPU's own generation"),
    ],
)
def test_a_variable_that_aborts_is_named(
    linked_site: Site, machine: Machine, variable: str, values: tuple[str, str], fix: str
) -> None:
    """A variable at which ROCm aborts each program, as a launcher writes it that joins a list with an empty name."""
    wrong, right = values
    install(linked_site)
    machine.cpu(0)
    for node in (1, 2):
        machine.gpu(node, "gfx1100")
    root = {"ROCM_SDK_ROOTFS": str(machine.root)}
    found = run_test(linked_site.path, "--only", "environment", **root, **{variable: wrong}).only("W-GPU-033")
    assert found["title"] == f"{variable} makes ROCm abort each program"
    assert f"{variable}={wrong}" in found["cause"]
    assert found["fix"] == f"unset {variable}  # or {fix}"
    report = run_test(linked_site.path, "--only", "environment", **root, **{variable: right})
    assert "W-GPU-033" not in {each["code"] for each in report.problems}


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
