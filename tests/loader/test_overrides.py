"""ROCM_SDK_LIBRARY_<shortname> and the argument `overrides`: a file in place of the SDK's own."""

import shutil
from pathlib import Path

import pytest
from other_user import OtherUser, program_with_rights, variables_of_program
from sample_site import LIBRARIES, Site, compile_library

SPARSE = "const char *hip(void); const char *sparse(void) { return hip(); }"
SAYS = 'const char *hip(void) {{ return "{0}"; }}'


@pytest.fixture
def sdk(site: Site) -> Site:
    """Return an SDK whose libraries form a chain.

    The library hipsparse needs rocsparse, rocsparse needs amdhip64, and amdhip64 opens amd_comgr at run time.
    """
    hip = site.library("libamdhip64.so.7", SAYS.format("the SDK's"))
    roc = site.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    site.library("libhipsparse.so.4", SPARSE, (roc, hip), LIBRARIES)
    site.library("libamd_comgr.so.3")
    return site


@pytest.fixture
def other(tmp_path: Path) -> Path:
    (tmp_path / "built here").mkdir()
    return compile_library(tmp_path / "built here/libamdhip64.so.7", "libamdhip64.so.7", SAYS.format("another"))


ASK = """
import ctypes, rocm_sdk
{calls}
library = ctypes.CDLL("libhipsparse.so.4")
library.sparse.restype = ctypes.c_char_p
paths = {{line.split()[-1] for line in open("/proc/self/maps") if "libamdhip64" in line}}
print(library.sparse().decode(), len(paths))
"""


@pytest.mark.parametrize("rpath", ["none", "rpath", "runpath"])
@pytest.mark.parametrize("names", ["'hipsparse'", "'amdhip64', 'hipsparse'", "'hipsparse', 'amdhip64'"])
def test_the_file_takes_the_place_of_the_sdks_own(sdk: Site, other: Path, rpath: str, names: str) -> None:
    """However it comes in, and with RPATHs that lead to the SDK's own: one copy, the one that was named."""
    sdk.rpath = rpath
    hip = sdk.library("libamdhip64.so.7", SAYS.format("the SDK's"))
    roc = sdk.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    sdk.library("libhipsparse.so.4", SPARSE, (roc, hip), LIBRARIES)
    by_variable = ASK.format(calls=f"rocm_sdk.preload_libraries({names})")
    assert sdk.output(by_variable) == "the SDK's 1"
    assert sdk.output(by_variable, ROCM_SDK_LIBRARY_amdhip64=str(other)) == "another 1"
    by_argument = f"rocm_sdk.initialize_process(preload_shortnames=[{names}], overrides={{'amdhip64': {str(other)!r}}})"
    assert sdk.output(ASK.format(calls=by_argument)) == "another 1"


def test_each_function_tells_it(sdk: Site, other: Path) -> None:
    program = f"""
        import pathlib, rocm_sdk
        overrides = {{{{"amdhip64": pathlib.Path({str(other)!r})}}}} if {{argument}} else None
        print(rocm_sdk.locate("amdhip64", overrides=overrides).found_via)
        print(rocm_sdk.find_libraries("amdhip64", overrides=overrides)[0])
        (step, *_) = rocm_sdk.load_plan("hipsparse", overrides=overrides).steps
        print({str(other)!r} in step.members)
        (hip,) = rocm_sdk.preload_libraries("amdhip64", overrides=overrides)
        print(hip.location.found_via)
    """
    told = f"override\n{other}\nTrue\noverride"
    assert sdk.output(program.format(argument=True)) == told
    assert sdk.output(program.format(argument=False), ROCM_SDK_LIBRARY_amdhip64=str(other)) == told


def test_the_argument_counts_before_the_variable(sdk: Site, other: Path, tmp_path: Path) -> None:
    third = compile_library(tmp_path / "libamdhip64.so.7", "libamdhip64.so.7", SAYS.format("third"))
    calls = f"rocm_sdk.initialize_process(preload_shortnames=['hipsparse'], overrides={{'amdhip64': {str(third)!r}}})"
    assert sdk.output(ASK.format(calls=calls), ROCM_SDK_LIBRARY_amdhip64=str(other)) == "third 1"


def test_what_is_opened_at_run_time(sdk: Site, tmp_path: Path) -> None:
    comgr = compile_library(tmp_path / "libamd_comgr.so.3", "libamd_comgr.so.3", "int other;")
    program = "import rocm_sdk; print([step.path for step in rocm_sdk.load_plan('amdhip64').steps][1])"
    assert sdk.output(program, ROCM_SDK_LIBRARY_amd_comgr=str(comgr)) == str(comgr)


def test_it_needs_no_package(sdk: Site, other: Path) -> None:
    shutil.rmtree(sdk.path / "_rocm_sdk_core")
    program = "import rocm_sdk; print(rocm_sdk.locate('amdhip64').path)"
    assert sdk.output(program, ROCM_SDK_LIBRARY_amdhip64=str(other)) == str(other)


def test_an_empty_value_is_none(sdk: Site) -> None:
    program = "import rocm_sdk; print(rocm_sdk.locate('amdhip64').found_via)"
    assert sdk.output(program, ROCM_SDK_LIBRARY_amdhip64="") == "file name"


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("amdhip64", "libamdhip64.so.7", "EnvironmentOverrideError", "'libamdhip64.so.7' is not an absolute path"),
        ("amdhip64", "/nonexistent/libamdhip64.so.7", "LibraryNotFoundError", "/nonexistent/libamdhip64.so.7"),
        ("amdhip64", "/usr", "", "/usr"),
        ("amdhip64", "{text}", "BadLibraryError", "{text}"),
        (
            "amdhip64",
            "{rccl}",
            "EnvironmentOverrideError",
            "the SONAME of {rccl} is librccl.so.1, and not one of amdhip64",
        ),
        ("amdhip46", "{rccl}", "UnknownLibraryError", "unknown ROCm library name 'amdhip46'"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_names_the_variable(  # noqa: PLR0917
    sdk: Site, tmp_path: Path, name: str, value: str, error: str, words: str
) -> None:
    names = {"rccl": str(compile_library(tmp_path / "librccl.so.1", "librccl.so.1")), "text": str(tmp_path / "text")}
    (tmp_path / "text").write_text("no library")
    program = """
        import rocm_sdk
        try:
            rocm_sdk.preload_libraries("hipsparse")
        except rocm_sdk.RocmSdkError as error:
            print(type(error).__name__, error.code, error.message, error.fix)
    """
    said = sdk.output(program, **{f"ROCM_SDK_LIBRARY_{name}": value.format(**names)})
    assert said.startswith(error)
    assert f"ROCM_SDK_LIBRARY_{name}: " in said
    assert words.format(**names) in said
    assert "None" not in said, "it says what to do"


@pytest.mark.parametrize("overrides", ["{'amdhip46': '/x'}", "{1: '/x'}", "{'amdhip64': 2}", "['amdhip64']"])
def test_what_cannot_be_an_argument(sdk: Site, overrides: str) -> None:
    program = f"""
        import rocm_sdk
        try:
            rocm_sdk.locate("amdhip64", overrides={overrides})
        except (rocm_sdk.UnknownLibraryError, TypeError, AttributeError) as error:
            print(type(error).__name__)
    """
    assert sdk.output(program) in {"UnknownLibraryError", "TypeError", "AttributeError"}


def test_a_program_with_the_rights_of_another_takes_none(
    sdk: Site, other: Path, other_user: OtherUser, tmp_path: Path
) -> None:
    """AT_SECURE is set where a program is set-user-ID: who starts it must not choose its libraries."""
    code = "import ctypes, rocm_sdk; print(ctypes.CDLL(None).getauxval(23), rocm_sdk.locate('amdhip64').found_via)"
    variables = variables_of_program(other_user, sdk.path) | {"ROCM_SDK_LIBRARY_amdhip64": str(other)}
    with program_with_rights(other_user, tmp_path, sdk.path) as (user, _):
        result = user.run("-B", "-c", code, **variables)
    assert result.stdout.split("\n")[0] == "1 file name", result.stderr


def test_programs_of_the_command_get_it_too(sdk: Site, other: Path) -> None:
    code = "import sys, rocm_sdk.cli; sys.exit(rocm_sdk.cli.main(['run', 'sh', '-c', 'echo $LD_LIBRARY_PATH']))"
    first, *rest = sdk.output(code, ROCM_SDK_LIBRARY_amdhip64=str(other)).split(":")
    assert first == str(other.parent)
    assert str(other.parent) not in rest


def test_one_with_another_file_name_is_among_the_loaded_libraries(sdk: Site, tmp_path: Path) -> None:
    """The library is found as an override, asked for or needed, and seen from another process."""
    other = compile_library(tmp_path / "other_name.so", "libamdhip64.so.7", SAYS.format("another"))
    hip = sdk.library("libamdhip64.so.7", SAYS.format("the SDK's"))
    sdk.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    program = """
        import os, subprocess, sys, rocm_sdk
        rocm_sdk.preload_libraries("rocsparse")
        found = [each.location for each in rocm_sdk.loaded_libraries()]
        print([(each.shortname, each.path) for each in found if each.found_via == "override"])
        words = [sys.executable, "-m", "rocm_sdk", "test", "--pid", str(os.getpid())]
        print(subprocess.run(words, capture_output=True, text=True).stdout)
    """
    said = sdk.output(program, ROCM_SDK_LIBRARY_amdhip64=str(other))
    assert said.startswith(f"[('amdhip64', '{other}')]\n")
    assert f"{other}    from override\n" in said


@pytest.mark.parametrize("items", [[("amdhip64",)], [["amdhip64", "/x"]], [None], ["ab"]])
def test_a_mapping_whose_items_are_no_pairs(sdk: Site, items: object) -> None:
    program = f"""
        import rocm_sdk
        class Overrides(dict):
            def items(self):
                return {items!r}
        try:
            rocm_sdk.locate("amdhip64", overrides=Overrides(a="b"))
        except TypeError as error:
            print(error)
    """
    assert sdk.output(program).startswith("overrides: items() gives pairs of a short name and a path, not ")
