"""The commands that are printed as fixes: each is run in an environment with the broken installation, and helps.

The packages come from an index that is served on this machine, with the placeholders of the public one beside the right
packages. The index is the site's own (ROCM_SDK_INDEX), in place of AMD's.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from programs import completed
from rows import ROWS
from sample_device_code import HIPK, bundle, code_object, message
from sample_device_code import library as split_library
from sample_machine import Machine
from sample_site import LIBRARIES, compile_library
from sdk_environment import Environment, served

from rocm_sdk.installed.record import row_of
from rocm_sdk.problems import ENTRIES


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of an index with the packages and the placeholders."""
    with served(tmp_path_factory.mktemp("index")) as address:
        yield address


@pytest.fixture(scope="module", params=["pip", "uv"])
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, index: str) -> Environment:
    return Environment(tmp_path_factory.mktemp("fixes"), request.param, index)


@pytest.fixture
def environment(prepared: Environment) -> Environment:
    prepared.set_back()
    return prepared


# ---- what breaks, and how it is met


class Case(NamedTuple):
    """A row of CASES."""

    code: str
    breaks: Callable[[Environment], object]
    words: tuple[str, ...] = ()  # of `rocm-sdk test`


def library(environment: Environment, name: str) -> Path:
    (path,) = environment.site.glob(f"_rocm_sdk_*/lib/{name}")
    return path


def replace_library(
    environment: Environment, name: str, soname: str, *flags: str, needs: str | None = None, source: str = ""
) -> None:
    path = library(environment, name)
    path.unlink()
    compile_library(path, soname, source, (library(environment, needs),) if needs is not None else (), flags)


def rename_within(environment: Environment) -> None:
    """Give the library another name than its SONAME, as a packager might have done."""
    path = library(environment, "librocblas.so.5")
    replace_library(environment, path.name, "librocblas.so.9")
    write_with_record(environment, path, path.read_bytes())


def remove_metadata(environment: Environment) -> None:
    for path in environment.site.glob("rocm*.dist-info"):
        shutil.rmtree(path)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def write_with_record(environment: Environment, path: Path, data: bytes) -> None:
    """Write a file and its row in RECORD, as an installer does.

    An installer changes the interpreter in the first line of a script, for example.
    """
    path.write_bytes(data)
    name = Path(os.path.relpath(path, environment.site)).as_posix()
    (record,) = (each for each in environment.site.glob("rocm*.dist-info/RECORD") if f"{name}," in each.read_text())
    row = row_of(name, data)
    lines = record.read_text().splitlines()
    record.write_text("\n".join(",".join(row) if each.startswith(f"{row.path},") else each for each in lines) + "\n")


CASES = (
    Case("E-LIB-023", lambda e: (remove_metadata(e), library(e, "libhsa-runtime64.so.1").unlink())),
    Case("E-LIB-001", lambda e: replace_library(e, "libamdhip64.so.7", "libamdhip64.so.7", "-Wl,-z,nodlopen")),
    Case(
        "E-LIB-004",
        lambda e: replace_library(
            e, "libamdhip64.so.7", "libamdhip64.so.7", "-Wl,-rpath,$ORIGIN/nowhere", needs="libhsa-runtime64.so.1"
        ),
    ),
    Case("W-LIB-010", rename_within),
    Case("E-TOOL-002", lambda e: write_with_record(e, e.root / "bin/rocm-smi", b"#!/nowhere/python\n")),
)

# Situations, whose fixes are tried with uv there.
BY_PIP = (
    "core was uninstalled",
    "libraries were installed of another release",
    "the directory of core has no __init__.py",
    "one renamed directory is left over",
    "rocm-profiler without core",
    "the facts of core are no Python",
    "RECORD of core is gone",
    "core says that it is of another build",
    "placeholders are installed",
    "HSA is gone",
    "data has another size",
    "data has other contents",
    "data has no rights",
    "a program may not be executed",
    "data is a pointer of Git LFS",
    "three files are gone",
    "libraries were uninstalled",
    "HIP is shorter",
    "a file of the tree was changed",
    "a CMake package of the tree is empty",
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_it_helps(environment: Environment, case: Case) -> None:
    case.breaks(environment)
    found = environment.test(*case.words)
    assert [each["code"] for each in found] == [case.code], found
    command = found[0]["fix"]
    assert not re.search(r"[<{]", command), command
    environment.run(command)
    for path in environment.site.glob("_rocm_sdk_*/bin/*"):
        path.chmod(0o755)  # make_wheel keeps no modes
    left = environment.test(*case.words)
    assert left == [], left
    if case.code.startswith("E-DEVEL"):
        assert (environment.site / "_rocm_sdk_devel/__init__.py").exists()  # there is something that was tested


@pytest.mark.parametrize("prepared", ["pip"], indirect=True)
@pytest.mark.parametrize("name", BY_PIP)
def test_pip_helps(environment: Environment, name: str) -> None:
    (row,) = (row for row in ROWS if row.name == name)
    test_it_helps(environment, Case(str(row.code), row.breaks, tuple(row.words.split())))


# ---- fixes that an exception prints, or that need more than an environment


def fix_of_exception(environment: Environment, command: str) -> tuple[str, str]:
    """Return the code and the fix that a program ends with."""
    result = completed(command, shell=True, env=environment.variables, timeout=120)
    assert result.returncode != 0
    code, fix = re.findall(r"\[([EW]-[A-Z]+-\d+)\]\n  fix: (.*)", result.stderr)[-1]
    return code, fix


def test_a_package_that_a_program_needs(environment: Environment) -> None:
    environment.uninstall("rocm-sdk-libraries")
    program = f"{environment.python} -c 'import rocm_sdk; rocm_sdk.preload_libraries(\"rocblas\")'"
    code, fix = fix_of_exception(environment, program)
    assert code == "E-PKG-014"
    environment.run(fix)
    environment.run(program)


def test_a_damaged_archive(environment: Environment) -> None:
    truncate(environment.site / "rocm_sdk_devel/_devel.tar")
    code, fix = fix_of_exception(environment, "rocm-sdk init")
    assert code == "E-DEVEL-009"
    environment.run(fix)
    environment.run("rocm-sdk init --check")


def test_static_tls(environment: Environment) -> None:
    path = library(environment, "librocm_smi64.so.7")
    source = "__thread char big[1 << 20]; int rsmi_init; char *use(void) { return big; }"
    compile_library(path, path.name, source, (), ("-ftls-model=initial-exec",))
    program = f"{environment.python} -c 'import rocm_sdk; rocm_sdk.preload_libraries(\"rocm_smi64\")'"
    code, fix = fix_of_exception(environment, program)
    assert code == "E-LIB-018"
    environment.run(f"{fix}; {program}")


def test_a_gpu_without_packages(environment: Environment, machine: Machine) -> None:
    machine.cpu(0)
    machine.gpu(1, "gfx1100")
    words, variables = ("--only", "E-GPU-002"), {"ROCM_SDK_ROOTFS": str(machine.root)}
    (found,) = environment.test(*words, **variables)
    environment.run(found["fix"])
    assert environment.test(*words, **variables) == []


def check_gpu(environment: Environment, code: str) -> str:
    """Return the fix that `rocm-sdk check-gpu` prints for a gfx1100, "" where there is nothing wrong."""
    answer = environment.run("rocm-sdk check-gpu --json --gpu gfx1100 || true")
    (gpu,) = json.loads(answer)["gpus"]
    return next((str(found["fix"]) for found in gpu["problems"] if found["code"] == code), "")


def test_a_library_without_code_for_a_gpu(environment: Environment) -> None:
    """The device package has it."""
    kernels = environment.site / LIBRARIES / "lib/rocsparse/library/kernels_gfx942.co"
    kernels.parent.mkdir(parents=True)
    kernels.write_bytes(code_object(0x54C, size=64))
    environment.run(check_gpu(environment, "E-CODE-001"))
    assert check_gpu(environment, "E-CODE-001") == ""


def test_an_archive_of_kernels_that_is_missing(environment: Environment) -> None:
    marker = message({"kernel_name": "lib/librocrand.so.1", "kpack_search_paths": ["../.kpack/rand_@GFXARCH@.kpack"]})
    text = "".join(f"\\x{byte:02x}" for byte in marker)
    section = f'.section .rocm_kpack_ref,"a",@progbits\nmarker:\n.ascii "{text}"'
    split = environment.site / LIBRARIES / "lib/librocrand.so.1"
    split_library(split, [bundle({})], magic=HIPK, more=section)
    environment.run(check_gpu(environment, "E-CODE-002"))
    assert check_gpu(environment, "E-CODE-002") == ""
    (environment.site / LIBRARIES / ".kpack/rand_gfx1100.kpack").unlink()
    fix = check_gpu(environment, "E-CODE-002")
    assert "rocm-sdk-device-gfx1100 is installed but incomplete" in fix
    environment.run(fix)
    assert check_gpu(environment, "E-CODE-002") == ""


def test_a_library_that_the_packages_have_no_code_of(environment: Environment) -> None:
    """Installing what is installed is not a fix."""
    environment.install("rocm-sdk-device-gfx1100==7.10.0")
    kernels = environment.site / LIBRARIES / "lib/hipblaslt/library/kernels_gfx942.co"
    kernels.parent.mkdir(parents=True)
    kernels.write_bytes(code_object(0x54C, size=64))
    assert check_gpu(environment, "E-CODE-001") == ""
    assert "no package of this one has the code" in check_gpu(environment, "W-CODE-006")


# Codes whose fixes the tests above run without a row, or test_executable_stack.py, test_no_proc.py,
# test_development_tree.py, selftest/test_prefix_faults.py, closure/test_in_place_killed.py and
# field/test_trees_lack_files.py.
_ELSEWHERE = {
    *("E-PKG-014", "E-DEVEL-009", "E-LIB-018", "E-GPU-002", "E-CODE-001", "E-CODE-002"),
    *("N-LIB-014", "E-LIB-015", "E-CODE-017", "N-DEVEL-013", "E-PKG-022"),
    *("E-PREFIX-003", "E-PREFIX-004", "W-CODE-018", "W-DEVEL-015"),
}


def test_every_fix_that_the_table_calls_tried_is_tried() -> None:
    tried = {code for code, entry in ENTRIES.items() if any(fix.proof == "tried" for fix in entry.fixes)}
    in_situations = {row.code for row in ROWS if row.code is not None and row.is_mended}
    assert tried <= {case.code for case in CASES} | in_situations | _ELSEWHERE | {"E-INDEX-001"}
