"""Each command that is printed as a fix is run here, in an environment with the broken installation, and helps.

The packages come from an index that is served on this machine, with the placeholders of the public one beside the right
packages. It is the site's own index (ROCM_SDK_INDEX), in place of AMD's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import venv
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from environments import environment_with_pip
from sample_devel import device_files, directory, make_archive, make_wheel, member
from sample_device_code import HIPK, bundle, code_object, kpack, message
from sample_device_code import library as split_library
from sample_machine import Machine
from sample_site import CORE, LIBRARIES, clean_environment, compile_library

import rocm_sdk
from rocm_sdk.installed.record import row_of
from rocm_sdk.problems import ENTRIES

PLACES = "-Wl,--disable-new-dtags,-rpath,$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_libraries/lib"
TOOL = """
import os, sys
def main():
    program = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_rocm_sdk_core/bin/rocm-smi")
    os.execv(program, [program, *sys.argv[1:]])
"""


MEMBERS = [
    directory("_rocm_sdk_devel"),
    member("_rocm_sdk_devel/__init__.py"),
    member("_rocm_sdk_devel/include/hip/hip_version.h", b"#define HIP_VERSION_MAJOR 7\n"),
    member("_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake", b"set(hip_VERSION 7)\n"),
]

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 100\n"


# ---- the packages


def compiled(folder: Path, soname: str, source: str = "", needed: tuple[Path, ...] = (), *flags: str) -> Path:
    return compile_library(folder / soname, soname, source, needed, (PLACES, *flags))


def write_wheels(folder: Path, wheels: Path) -> None:
    """A small SDK whose libraries need each other across packages, and the placeholders."""
    folder.mkdir()
    hsa = compiled(folder, "libhsa-runtime64.so.1")
    hip = compiled(folder, "libamdhip64.so.7", "int hipGetDeviceCount;", (hsa,))
    blas = compiled(folder, "librocblas.so.5", "int rocblas_create_handle;", (hip,))
    smi = compiled(folder, "librocm_smi64.so.7", "int rsmi_init;", (blas,))
    facts = (
        "__version__ = '{}'\nDEFAULT_TARGET_FAMILY = 'gfx942'\nAVAILABLE_TARGET_FAMILIES = ['gfx942', 'gfx1100']\n"
        'ALL_PACKAGES["libraries"].dist_package_template = "rocm-sdk-libraries"\n'
    )
    core = {
        "rocm_sdk_core/__init__.py": b"",
        "rocm_sdk_core/_dist_info.py": facts.format("7.10.0").encode(),
        "rocm_sdk_core/_cli.py": TOOL.encode(),
        f"{CORE}/__init__.py": b"",
        f"{CORE}/bin/rocm-smi": b"#!/bin/sh\necho no GPU\n",
        **{f"{CORE}/lib/{path.name}": path.read_bytes() for path in (hsa, hip, smi)},
    }
    scripts = {
        "rocm_sdk_core-7.10.0.dist-info/entry_points.txt": b"[console_scripts]\nrocm-smi = rocm_sdk_core._cli:main\n"
    }
    make_wheel(wheels, "rocm-sdk-core", core | scripts)
    for version in ("7.9.1", "7.10.0"):
        libraries = {
            "rocm_sdk_libraries/__init__.py": b"",
            "rocm_sdk_libraries/_dist_info.py": facts.format(version).encode(),
            f"{LIBRARIES}/__init__.py": b"",
            **{f"{LIBRARIES}/lib/{path.name}": path.read_bytes() for path in (blas,)},
            **{f"{LIBRARIES}/lib/rocblas/library/kernels_{n}.co": b"code" for n in range(10)},
        }
        make_wheel(wheels, "rocm-sdk-libraries", libraries, version)
    kernels = {"lib/librocrand.so.1#0": {"gfx1100": code_object(0x41)}}
    code = {
        f"{LIBRARIES}/lib/rocsparse/library/kernels_gfx1100.co": code_object(0x41, size=64),
        f"{LIBRARIES}/.kpack/rand_gfx1100.kpack": kpack(kernels),
    }
    make_wheel(wheels, "rocm-sdk-device-gfx1100", device_files("gfx1100") | code)
    devel = {"rocm_sdk_devel/__init__.py": b"", "rocm_sdk_devel/_devel.tar": make_archive(MEMBERS)}
    make_wheel(wheels, "rocm-sdk-devel", devel)
    make_wheel(wheels, "rocm-profiler", {"rocm_profiler/__init__.py": b""})
    needs = "Requires-Dist: rocm-sdk-core==7.10.0\nProvides-Extra: libraries\n"
    needs += "Requires-Dist: rocm-sdk-libraries==7.10.0; extra == 'libraries'\n"
    make_wheel(wheels, "rocm", {"rocm_selector/__init__.py": b""}, "7.10.0", needs)
    for name in ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel"):
        make_wheel(wheels, name, {f"{name.replace('-', '_')}_placeholder/__init__.py": b""}, "0.1.0")


def write_index(wheels: Path, index: Path) -> None:
    """The pages of PEP 503."""
    names: dict[str, list[Path]] = {}
    for wheel in wheels.iterdir():
        names.setdefault(wheel.name.partition("-")[0].replace("_", "-"), []).append(wheel)
    for name, files in names.items():
        page = index / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text("".join(f'<a href="{file.name}">{file.name}</a>\n' for file in files))
        for file in files:
            shutil.copy(file, page.parent)


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_arguments: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an index with the packages and the placeholders."""
    folder = tmp_path_factory.mktemp("index")
    write_wheels(folder / "built", folder / "wheels")
    write_index(folder / "wheels", folder / "simple")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple/"
    server.shutdown()
    server.server_close()


# ---- the environment


class Environment:
    """A virtual environment with the SDK, to which a broken one is set back."""

    def __init__(self, folder: Path, installer: str, index: str) -> None:
        self.index = index
        self.root = folder / "venv"
        self.python = self.root / "bin/python"
        tools = folder / "tools"
        tools.mkdir()
        (tools / "rocm_sdk").symlink_to(Path(rocm_sdk.__file__).parent)
        self.variables = clean_environment() | {
            "PYTHONPATH": str(tools),
            "PATH": os.pathsep.join((str(self.root / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
            "ROCM_SDK_INDEX": index,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_NO_CONFIG": "1",
            "UV_CACHE_DIR": str(folder / "uv-cache"),
        }
        if installer == "pip":
            environment_with_pip(self.root)
        else:
            venv.create(self.root, symlinks=True)
        (self.site,) = self.root.glob("lib/python*/site-packages")
        for name in ("pip", "setuptools", "pkg_resources"):  # many files, which no test changes
            if (self.site / name).exists():
                (self.site / name).rename(folder / name)
                (self.site / name).symlink_to(folder / name)
        self.installer = installer
        self.install("rocm[libraries]==7.10.0", "rocm-sdk-devel==7.10.0")
        script = self.root / "bin/rocm-sdk"
        script.write_text(f'#!/bin/sh\nexec {self.python} -m rocm_sdk "$@"\n')
        script.chmod(0o755)
        self._kept = folder / "kept"
        shutil.copytree(self.root, self._kept, symlinks=True)

    def set_back(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root, symlinks=True)

    def install(self, *requirements: str) -> None:
        self._change("install", *requirements)
        for path in self.site.glob("_rocm_sdk_*/bin/*"):
            path.chmod(0o755)  # make_wheel keeps no modes

    def uninstall(self, *names: str) -> None:
        self._change("uninstall", *([] if self.installer == "uv" else ["--yes"]), *names)

    def _change(self, action: str, *words: str) -> None:
        tool = ["uv", "pip"] if self.installer == "uv" else [str(self.python), "-m", "pip"]
        words = (*(("--index-url", self.index) if action == "install" else ()), *words)
        place = ["--python", str(self.python)] if self.installer == "uv" else []
        self.run(" ".join([*tool, action, *place, *(f"'{word}'" for word in words)]))

    def run(self, command: str, **variables: str) -> str:
        result = subprocess.run(
            command,
            shell=True,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
        return result.stdout

    def test(self, *words: str, **variables: str) -> list[dict[str, Any]]:
        """The errors and warnings of `rocm-sdk test`, but for those of this machine."""
        command = [str(self.python), "-m", "rocm_sdk", "test", "--json", *words]
        result = subprocess.run(
            command, env=self.variables | variables, capture_output=True, text=True, check=False, timeout=120
        )
        assert result.stdout, result.stderr
        problems = json.loads(result.stdout)["problems"]
        return [each for each in problems if each["severity"] != "note" and each["code"] not in OF_THIS_MACHINE]


OF_THIS_MACHINE = {"W-OCL-001"}


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


HIPRTC_THAT_COMPILES_NOTHING = """
int hipGetDeviceCount(int *count) { return *count = 0; }
int hiprtcCreateProgram(void) { return 0; }
int hiprtcCompileProgram(void) { return 6; }
const char *hiprtcGetErrorString(int status) { return status == 6 ? "HIPRTC_ERROR_COMPILATION" : "?"; }
int hiprtcGetProgramLogSize(void *program, unsigned long *size) { return *size = 9, 0; }
int hiprtcGetProgramLog(void *program, char *log) { return __builtin_strcpy(log, "no header"), 0; }
"""


def replace_library(
    environment: Environment, name: str, soname: str, *flags: str, needs: str | None = None, source: str = ""
) -> None:
    path = library(environment, name)
    path.unlink()
    compile_library(path, soname, source, (library(environment, needs),) if needs is not None else (), flags)


def remove_metadata(environment: Environment) -> None:
    for path in environment.site.glob("rocm*.dist-info"):
        shutil.rmtree(path)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def extract(environment: Environment) -> Path:
    environment.run("rocm-sdk init")
    return environment.site / "_rocm_sdk_devel"


def change_same_size(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def change_with_record(environment: Environment) -> None:
    path = environment.site / LIBRARIES / "lib/rocblas/library/kernels_1.co"
    (record,) = environment.site.glob("rocm_sdk_libraries-*.dist-info/RECORD")
    change_same_size(path)
    row = row_of(path.relative_to(environment.site).as_posix(), path.read_bytes())
    lines = record.read_text().splitlines()
    record.write_text("\n".join(",".join(row) if each.startswith(f"{row.path},") else each for each in lines) + "\n")


def put_placeholder(environment: Environment) -> None:
    environment.uninstall("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm")
    environment.install("rocm==0.1.0", "rocm-sdk-core==0.1.0")


CASES = (
    Case("E-PKG-001", lambda e: e.uninstall("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm")),
    Case("E-PKG-002", lambda e: e.install("rocm-sdk-libraries==7.9.1")),
    Case("E-PKG-003", lambda e: (e.site / LIBRARIES / "__init__.py").unlink()),
    Case("W-PKG-007", lambda e: (e.site / "~ocm_sdk_core").mkdir()),
    Case("E-PKG-011", lambda e: (e.install("rocm-profiler==7.10.0"), e.uninstall("rocm-sdk-core"))),
    Case("E-PKG-013", lambda e: (e.site / "rocm_sdk_core/_dist_info.py").write_text("__version__ = open('x')\n")),
    Case("E-PKG-013", lambda e: (e.site / "rocm_sdk_core-7.10.0.dist-info/RECORD").unlink()),
    Case(
        "E-PKG-016", lambda e: (e.site / "rocm_sdk_libraries/_dist_info.py").write_text("DEFAULT_TARGET_FAMILY = 'x'\n")
    ),
    Case("E-PKG-017", put_placeholder),
    Case("E-FILE-001", lambda e: library(e, "libhsa-runtime64.so.1").unlink()),
    Case("E-FILE-002", lambda e: (e.site / LIBRARIES / "lib/rocblas/library/kernels_1.co").write_text("other")),
    Case(
        "E-FILE-003", lambda e: change_same_size(e.site / LIBRARIES / "lib/rocblas/library/kernels_1.co"), ("--deep",)
    ),
    Case("E-FILE-004", lambda e: (e.site / LIBRARIES / "lib/rocblas/library/kernels_1.co").chmod(0o200)),
    Case("E-FILE-005", lambda e: (e.site / CORE / "bin/rocm-smi").chmod(0o644)),
    Case("E-FILE-006", lambda e: (e.site / LIBRARIES / "lib/rocblas/library/kernels_1.co").write_text(POINTER)),
    Case("E-FILE-008", lambda e: shutil.rmtree(e.site / LIBRARIES / "lib/rocblas")),
    Case("E-INDEX-001", change_with_record, ("--index-digests", "--only", "files,index")),
    Case("E-LIB-023", lambda e: (remove_metadata(e), library(e, "libhsa-runtime64.so.1").unlink())),
    Case("E-LIB-001", lambda e: replace_library(e, "libamdhip64.so.7", "libamdhip64.so.7", "-Wl,-z,nodlopen")),
    Case("E-LIB-003", lambda e: e.uninstall("rocm-sdk-libraries")),
    Case(
        "E-LIB-004",
        lambda e: replace_library(
            e, "libamdhip64.so.7", "libamdhip64.so.7", "-Wl,-rpath,$ORIGIN/nowhere", needs="libhsa-runtime64.so.1"
        ),
    ),
    Case("E-LIB-006", lambda e: truncate(library(e, "libhsa-runtime64.so.1"))),
    Case("W-LIB-010", lambda e: replace_library(e, "librocblas.so.5", "librocblas.so.9")),
    Case("E-API-003", lambda e: replace_library(e, "libamdhip64.so.7", "libamdhip64.so.7")),
    Case(
        "E-API-005",
        lambda e: replace_library(e, "libamdhip64.so.7", "libamdhip64.so.7", source=HIPRTC_THAT_COMPILES_NOTHING),
    ),
    Case("E-TOOL-002", lambda e: (e.root / "bin/rocm-smi").write_text("#!/nowhere/python\n")),
    Case("E-TOOL-001", lambda e: (e.root / "bin/rocm-smi").write_text("#!/bin/sh\nexit 3\n")),
    Case("E-DEVEL-002", lambda e: (extract(e) / "include/hip/hip_version.h").write_text("other")),
    Case("E-DEVEL-003", lambda e: next(extract(e).glob("lib/cmake/**/*.cmake")).write_text("set(x 2\n")),
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


# ---- fixes that an exception prints, or that need more than an environment


def fix_of_exception(environment: Environment, command: str) -> tuple[str, str]:
    """The code and the fix that a program ends with."""
    result = subprocess.run(
        command, shell=True, env=environment.variables, capture_output=True, text=True, check=False, timeout=120
    )
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
    """The fix that `rocm-sdk check-gpu` prints for a gfx1100; "" where there is nothing wrong."""
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
# test_devel_not_extracted.py, selftest/test_prefix.py and closure/test_in_place_killed.py.
_ELSEWHERE = {
    *("E-PKG-014", "E-DEVEL-009", "E-LIB-018", "E-GPU-002", "E-CODE-001", "E-CODE-002"),
    *("N-LIB-014", "E-LIB-015", "E-CODE-017", "N-DEVEL-013", "E-PKG-022"),
    *("E-PREFIX-003", "E-PREFIX-004"),
}


def test_every_fix_that_the_table_calls_tried_is_tried() -> None:
    tried = {code for code, entry in ENTRIES.items() if any(fix.proof == "tried" for fix in entry.fixes)}
    assert tried == {case.code for case in CASES} | _ELSEWHERE
