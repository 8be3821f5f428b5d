"""The capsule `rocm_sdk._native._C_API`: another extension opens, plans, loads, explains and lists GPUs with it."""

import ctypes
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from programs import completed
from sample_machine import machine_of
from sample_site import Site, clean_environment

import rocm_sdk

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "csrc/include/rocm_sdk/capsule.h"
SOURCE = ROOT / "tests/extension/sample_extension.c"

# The functions of version 1, in the order of the structure: more may follow.
VERSION_1 = [
    "error_clear",
    "error_message",
    "problem_of_error",
    "problem_make",
    "problem_free",
    "sdk_open",
    "sdk_free",
    "sdk_version",
    "sdk_package_directory",
    "sdk_warning_count",
    "sdk_warning",
    "loader_locate",
    "plan_new",
    "plan_free",
    "plan_step_count",
    "plan_step",
    "loader_preload",
    "loader_preload_for",
    "loaded_free",
    "loaded_count",
    "loaded_library",
    "loaded_opened_count",
    "loaded_opened",
    "loaded_warning_count",
    "loaded_warning",
    "gpu_list_new",
    "gpu_list_free",
    "gpu_list_count",
    "gpu_list_get",
    "gpu_list_problem_count",
    "gpu_list_problem",
    "compatibility_check",
]

# Puts a capsule with other numbers in the place of the real one, then imports the extension.
OTHER_CAPSULE = """
import ctypes, rocm_sdk._native
class Capsule(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", ctypes.c_uint), ("loader_version", ctypes.c_char_p)]
other, name = Capsule({size}, {version}, b"0.0.1"), b"rocm_sdk._native._C_API"
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
rocm_sdk._native._C_API = new(ctypes.addressof(other), name, None)
try:
    import sample_extension
except ImportError as error:
    print(error)
"""


@pytest.fixture(
    scope="module",
    params=["gcc -std=c17 -x c", "clang -std=c17 -x c", "g++ -std=c++17 -x c++"],
    ids=lambda command: command.split()[0],
)
def extension(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the sample extension, linked with nothing.

    The extension is compiled against the limited API of CPython 3.10 where the interpreter has it (free-threaded ones
    do not).
    """
    directory = tmp_path_factory.mktemp("extension")
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        flags.append("-DPy_LIMITED_API=0x030A0000")
    include = (f"-I{HEADER.parent.parent}", "-isystem", sysconfig.get_path("include"))
    output = directory / "sample_extension.so"
    command = [*request.param.split(), *flags, *include, str(SOURCE), "-o", str(output)]
    result = completed(command)
    assert result.returncode == 0, result.stderr
    return directory


def call(site: Site, extension: Path, program: str) -> str:
    return site.output(f"import sys; sys.path.append({str(extension)!r})\n{program}")


def declared_members() -> list[tuple[str, str]]:
    """Return the members that the header declares: function without "rsdk_", member."""
    return re.findall(r"__typeof__\(rsdk_(\w+)\) \*(\w+);", HEADER.read_text())


def test_the_extension_links_nothing_of_the_library(extension: Path) -> None:
    undefined = subprocess.check_output(["nm", "-D", "-u", extension / "sample_extension.so"], text=True)
    assert "rsdk_" not in undefined


def test_it_opens_plans_and_loads(site: Site, extension: Path) -> None:
    library = site.library("libroctx64.so.4")
    answer = call(site, extension, f"import sample_extension as s; print(s.preload({str(site.path)!r}, 'roctx64'))")
    assert answer == str((1, str(library)))


def test_it_explains_an_error(site: Site, extension: Path) -> None:
    program = f"""
import sample_extension
try:
    sample_extension.preload({str(site.path)!r}, "roctx65")
except RuntimeError as error:
    print(error)
"""
    answer = call(site, extension, program)
    assert answer.startswith("E-API-004 unknown ROCm library name 'roctx65'")
    assert "roctx64" in answer


def test_it_lists_gpus(site: Site, extension: Path, tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "machine", "gfx1100")
    answer = call(site, extension, f"import sample_extension as s; print(s.targets({str(machine.root)!r}))")
    assert answer == "['gfx1100']"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_extension_of_the_page_compiles_as_printed(tmp_path: Path, compiler: str) -> None:
    page = (ROOT / "docs/embedding.md").read_text(encoding="utf-8").partition("\n## From another extension")[2]
    source, lines = re.findall(r"^```(?:cpp|sh)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "example.c").write_text(source, encoding="utf-8")
    for name, command in (("cc", f"{compiler} -std=c17 -Wall -Wextra -Wpedantic -Werror"), ("python", sys.executable)):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (tmp_path / name).chmod(0o755)
    variables = clean_environment()
    variables["PATH"] = f"{tmp_path}:{variables['PATH']}"
    done = completed(["bash", "-euc", lines], cwd=tmp_path, env=variables)
    assert (done.stdout, done.stderr) == (f"{len(rocm_sdk.gpus(root='/'))}\n", "")


def test_another_version_is_refused(site: Site, extension: Path) -> None:
    answer = call(site, extension, OTHER_CAPSULE.format(size=4096, version=2))
    assert answer == (
        "the installed rocm-sdk-loader has version 2 of the C API, and this extension needs 1: "
        "install an extension that was built for it"
    )


def test_an_older_package_is_refused(site: Site, extension: Path) -> None:
    answer = call(site, extension, OTHER_CAPSULE.format(size=32, version=1))
    assert answer.startswith("rocm-sdk-loader 0.0.1 is older than this extension")
    assert answer.endswith("upgrade rocm-sdk-loader")


def test_a_later_package_with_more_members_is_accepted(site: Site, extension: Path) -> None:
    assert call(site, extension, OTHER_CAPSULE.format(size=4096, version=1)) == ""


ABSENCE = """
import sys
sys.path[:] = [each for each in sys.path if "site-packages" not in each and not each.endswith("rocm_sdk")]
sys.meta_path = [each for each in sys.meta_path if "__editable__" not in str(getattr(each, "__module__", each))]
{before}
import sample_extension
"""


@pytest.mark.parametrize(("before", "name"), [("", "rocm_sdk"), ("sys.path.insert(0, {other!r})", "rocm_sdk._native")])
def test_a_missing_package_is_named(extension: Path, tmp_path: Path, before: str, name: str) -> None:
    """Nothing of this name is installed, or another package of this name is."""
    (tmp_path / "rocm_sdk").mkdir()
    (tmp_path / "rocm_sdk/__init__.py").touch()
    program = ABSENCE.format(before=before.format(other=str(tmp_path)))
    command = [sys.executable, "-c", f"import sys; sys.path.append({str(extension)!r})\n{program}"]
    ended = completed(command, cwd=tmp_path.parent)
    assert ended.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: No module named '{name}': this extension needs rocm-sdk-loader, which is not installed "
        "in this environment"
    )


def test_what_else_an_import_raises_stays(extension: Path, tmp_path: Path) -> None:
    (tmp_path / "rocm_sdk").mkdir()
    (tmp_path / "rocm_sdk/__init__.py").write_text("import not_there")
    program = ABSENCE.format(before=f"sys.path.insert(0, {str(tmp_path)!r})")
    command = [sys.executable, "-c", f"import sys; sys.path.append({str(extension)!r})\n{program}"]
    ended = completed(command, cwd=tmp_path.parent)
    assert ended.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'not_there'"


def test_the_order_of_members_is_kept() -> None:
    members = declared_members()
    assert all(function == member for function, member in members)
    assert [member for _, member in members][: len(VERSION_1)] == VERSION_1


def test_each_member_is_set() -> None:
    """No function that the header declares is NULL in the package."""
    import rocm_sdk._native as native

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(native._C_API, b"rocm_sdk._native._C_API")
    head = (ctypes.c_size_t * 3).from_address(address)
    words = (ctypes.c_void_p * (head[0] // ctypes.sizeof(ctypes.c_void_p))).from_address(address)
    assert head[0] == ctypes.sizeof(ctypes.c_void_p) * (3 + len(declared_members()))
    assert head[1] & 0xFFFFFFFF == 1
    assert all(words)
