"""The commands that are printed as fixes: each is run in an environment with the broken installation, and helps.

The packages come from an index that is served on this machine, with the placeholders of the public one beside the right
packages. The index is the site's own (ROCM_SDK_INDEX), in place of AMD's.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from of_files import ROWS as FILES
from of_packages import ROWS as PACKAGES
from of_python import ROWS as PYTHON
from programs import completed
from sample_device_code import HIPK, bundle, code_object, message
from sample_device_code import library as split_library
from sample_machine import Machine
from sample_site import LIBRARIES, compile_library
from sdk_environment import Environment, served

from rocm_sdk.installed.record import row_of
from rocm_sdk.problems import ENTRIES, problem


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


def library(environment: Environment, name: str) -> Path:
    (path,) = environment.site.glob(f"_rocm_sdk_*/lib/{name}")
    return path


def replace_library(environment: Environment, name: str, soname: str, *flags: str, needs: str = "") -> Path:
    path = library(environment, name)
    path.unlink()
    return compile_library(path, soname, "", (library(environment, needs),) if needs else (), flags)


def rename_within(environment: Environment) -> None:
    """Give the library another name than its SONAME; its row in RECORD has no digest, so nobody knows who did it."""
    path = replace_library(environment, "librocblas.so.5", "librocblas.so.9")
    write_with_record(environment, path, path.read_bytes(), has_digest=False)


def remove_metadata(environment: Environment) -> None:
    environment.run(f"rm -r {environment.site}/rocm*.dist-info")
    library(environment, "libhsa-runtime64.so.1").unlink()


def write_with_record(environment: Environment, path: Path, data: bytes, *, has_digest: bool = True) -> None:
    """Write a file and its row in RECORD, as an installer does that changes the first line of a script."""
    path.write_bytes(data)
    name = Path(os.path.relpath(path, environment.site)).as_posix()
    (record,) = (each for each in environment.site.glob("rocm*.dist-info/RECORD") if f"{name}," in each.read_text())
    row = row_of(name, data) if has_digest else row_of(name, data)._replace(digest="", size="")
    lines = record.read_text().splitlines()
    record.write_text("\n".join(",".join(row) if each.startswith(f"{row.path},") else each for each in lines) + "\n")


# Code -> what breaks.
CASES: dict[str, Callable[[Environment], object]] = {
    "E-LIB-023": remove_metadata,
    "E-LIB-001": lambda e: replace_library(e, "libamdhip64.so.7", "libamdhip64.so.7", "-Wl,-z,nodlopen"),
    "E-LIB-004": lambda e: replace_library(
        e, "libamdhip64.so.7", "libamdhip64.so.7", "-Wl,-rpath,$ORIGIN/nowhere", needs="libhsa-runtime64.so.1"
    ),
    "W-LIB-010": rename_within,
    "E-TOOL-002": lambda e: write_with_record(e, e.root / "bin/rocm-smi", b"#!/nowhere/python\n"),
}
# Situations whose fix is another command of pip's than of uv's, with which they are tried there.
BY_PIP = {
    *("core was uninstalled", "libraries were installed of another release", "rocm-profiler without core"),
    *("RECORD of core is gone", "placeholders are installed", "HSA is gone", "three files are gone"),
}
OF_PIP = {row.name: row for row in (*FILES, *PACKAGES, *PYTHON) if row.name in BY_PIP}


def helps(environment: Environment, code: str | None, breaks: Callable[[Environment], object]) -> None:
    breaks(environment)
    (found,) = environment.test()
    assert found["code"] == code
    assert not re.search(r"[<{]", found["fix"])
    environment.run(found["fix"])
    for path in environment.site.glob("_rocm_sdk_*/bin/*"):
        path.chmod(0o755)  # make_wheel keeps no modes
    assert environment.test() == []


@pytest.mark.slow
@pytest.mark.parametrize("code", CASES)
def test_it_helps(environment: Environment, code: str) -> None:
    helps(environment, code, CASES[code])


@pytest.mark.slow
@pytest.mark.parametrize("prepared", ["pip"], indirect=True)
@pytest.mark.parametrize("name", sorted(BY_PIP))
def test_pip_helps(environment: Environment, name: str) -> None:
    helps(environment, OF_PIP[name].code, OF_PIP[name].breaks)


# ---- fixes that an exception prints, or that need more than an environment


def fix_of_exception(environment: Environment, command: str, code: str) -> str:
    """Return the fix that a program ends with."""
    result = completed(command, shell=True, env=environment.variables, timeout=120)
    assert result.returncode != 0
    found, fix = re.findall(r"\[([EW]-[A-Z]+-\d+)\]\n  fix: (.*)", result.stderr)[-1]
    assert found == code
    return str(fix)


def preload(environment: Environment, name: str) -> str:
    return f"{environment.python} -c 'import rocm_sdk; rocm_sdk.preload_libraries(\"{name}\")'"


@pytest.mark.slow
def test_a_package_that_a_program_needs(environment: Environment) -> None:
    environment.uninstall("rocm-sdk-libraries")
    environment.run(fix_of_exception(environment, preload(environment, "rocblas"), "E-PKG-014"))
    environment.run(preload(environment, "rocblas"))


@pytest.mark.slow
def test_a_damaged_archive(environment: Environment) -> None:
    os.truncate(environment.site / "rocm_sdk_devel/_devel.tar", 200)
    environment.run(fix_of_exception(environment, "rocm-sdk init", "E-DEVEL-009"))
    environment.run("rocm-sdk init --check")


@pytest.mark.parametrize("prepared", ["uv"], indirect=True)
def test_static_tls(environment: Environment) -> None:
    path = library(environment, "librocm_smi64.so.7")
    source = "__thread char big[1 << 20]; int rsmi_init; char *use(void) { return big; }"
    compile_library(path, path.name, source, (), ("-ftls-model=initial-exec",))
    fix = fix_of_exception(environment, preload(environment, "rocm_smi64"), "E-LIB-018")
    environment.run(f"{fix}; {preload(environment, 'rocm_smi64')}")


@pytest.mark.slow
def test_a_gpu_without_packages(environment: Environment, machine: Machine) -> None:
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


@pytest.mark.parametrize("prepared", ["uv"], indirect=True)
def test_a_library_without_code_for_a_gpu(environment: Environment) -> None:
    """The device package has it."""
    kernels = environment.site / LIBRARIES / "lib/rocsparse/library/kernels_gfx942.co"
    kernels.parent.mkdir(parents=True)
    kernels.write_bytes(code_object(0x54C, size=64))
    environment.run(check_gpu(environment, "E-CODE-001"))
    assert check_gpu(environment, "E-CODE-001") == ""


@pytest.mark.parametrize("prepared", ["uv"], indirect=True)
def test_a_library_that_the_packages_have_no_code_of(environment: Environment) -> None:
    """Installing what is installed is not a fix."""
    environment.install("rocm-sdk-device-gfx1100==7.10.0")
    kernels = environment.site / LIBRARIES / "lib/hipblaslt/library/kernels_gfx942.co"
    kernels.parent.mkdir(parents=True)
    kernels.write_bytes(code_object(0x54C, size=64))
    assert check_gpu(environment, "E-CODE-001") == ""
    assert "no package of this one has the code" in check_gpu(environment, "W-CODE-006")


@pytest.mark.slow
def test_an_archive_of_kernels_that_is_missing(environment: Environment) -> None:
    marker = message({"kernel_name": "lib/librocrand.so.1", "kpack_search_paths": ["../.kpack/rand_@GFXARCH@.kpack"]})
    text = "".join(f"\\x{byte:02x}" for byte in marker)
    section = f'.section .rocm_kpack_ref,"a",@progbits\nmarker:\n.ascii "{text}"'
    split_library(environment.site / LIBRARIES / "lib/librocrand.so.1", [bundle({})], magic=HIPK, more=section)
    environment.run(check_gpu(environment, "E-CODE-002"))
    assert check_gpu(environment, "E-CODE-002") == ""
    (environment.site / LIBRARIES / ".kpack/rand_gfx1100.kpack").unlink()
    fix = check_gpu(environment, "E-CODE-002")
    assert "rocm-sdk-device-gfx1100 is installed but incomplete" in fix
    environment.run(fix)
    assert check_gpu(environment, "E-CODE-002") == ""


# ---- their form


def test_a_shell_takes_each_command() -> None:
    lines = {fix.text for entry in ENTRIES.values() for fix in entry.fixes if fix.is_command}
    for line in lines:
        done = completed(["bash", "-n", "-c", line])
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize(
    "name",
    ["two  blanks", "a\nline", "a tab\t", " ends ", "it's", "$HOME", "`id`", "\u202eright to left", "\udcff"],
    ids=["blanks", "line", "tab", "ends", "quote", "variable", "command", "direction", "byte"],
)
def test_a_fix_names_the_very_file(tmp_path: Path, name: str) -> None:
    """The command `rm` removes the very file, or nothing; never another file."""
    wrong, right = tmp_path / " ".join(name.split()), tmp_path / name
    for each in (wrong, right):
        each.mkdir(exist_ok=True)
    fix = problem("W-PKG-007", str(right)).fix
    assert fix is not None and "\n" not in fix
    result = completed(["sh", "-c", fix])
    assert wrong == right or wrong.exists()
    assert (result.returncode == 0) == (not right.exists())
