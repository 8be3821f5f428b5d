"""The findings of single subjects, beyond the corpus of tests/failures."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from other_user import OtherUser, open_directory
from sample_devel import DevelSite
from sample_device_code import code_object
from sample_hiprtc import hiprtc
from sample_machine import Machine
from sample_report import install, installs, run_test
from sample_site import CORE, LIBRARIES, Site, compile_library

import rocm_sdk
from rocm_sdk.doctor.file_faults import put_aside

# ---- packages


def test_a_profiler_without_core(tmp_path: Path) -> None:
    site = DevelSite(tmp_path)
    site.install("rocm-profiler", {"rocm_profiler/__init__.py": b""})
    said = run_test(site.path, "--only", "packages")
    assert said.codes == {"E-PKG-011"}
    assert installs(said.only("E-PKG-011")["fix"], "rocm-sdk-core==7.10.0")


def test_what_is_in_the_way_goes_to_a_free_name(tmp_path: Path) -> None:
    """A file that an earlier fix has put aside stays."""
    path, taken = tmp_path / "lib.so", tmp_path / "lib.so.rocm-sdk-old"
    taken.symlink_to("/nowhere")
    assert put_aside(str(path)) == {"aside": f"mv {path} {taken}2", "removal": f"rm {taken}2"}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("METADATA", "Name: other\nVersion: 7.10.0\n\n", "METADATA does not say rocm-sdk-core 7.10.0"),
        ("METADATA", "Name: rocm-sdk-core\nVersion: 7.1.0\n\n", "METADATA does not say rocm-sdk-core 7.10.0"),
        ("RECORD", "", "RECORD does not list itself"),
        ("RECORD", "\udcff", "RECORD is not valid text"),
        ("RECORD", None, "RECORD: No such file or directory"),
    ],
)
def test_damaged_metadata(sdk: Site, name: str, text: str | None, words: str) -> None:
    path = sdk.path / "rocm_sdk_core-7.10.0.dist-info" / name
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    found = run_test(sdk.path, "--only", "packages").only("E-PKG-013")
    assert words in found["cause"]
    assert "rocm-sdk-core==7.10.0" in found["fix"]


def test_damaged_facts(sdk: Site) -> None:
    """The test itself does not need them; the loader says which line it is."""
    path = sdk.write("rocm_sdk_core/_dist_info.py", "__version__ = '7.10.0'\nPY_PACKAGE_SUFFIX_NONCE = open('x')\n")
    said = run_test(sdk.path, "--skip", "gpus")
    found = said.only("E-PKG-013")
    assert f"{path}, line 2" in found["cause"]
    assert any(each.startswith("check E-FILE-002: ") for each in found["breaks"])
    assert said.subject("libraries")["count"] == 3


# ---- libraries


def problems_of(site: Site) -> dict[str, str]:
    install(site)
    return {found["code"]: found["title"] for found in run_test(site.path, "--only", "libraries").problems}


def test_a_crash_and_an_exit(sdk: Site) -> None:
    constructor = "#include <stdlib.h>\n__attribute__((constructor)) static void c(void) {{ {}; }}"
    sdk.library("librocm_smi64.so.1", constructor.format("abort()"))
    sdk.library("libroctx64.so.4", constructor.format("exit(3)"))
    install(sdk)
    said = run_test(sdk.path, "--only", "libraries")
    assert "was killed by SIGABRT" in said.only("E-LIB-007")["cause"]
    assert "with status 3" in said.only("E-LIB-009")["cause"]
    assert said.subject("libraries")["count"] == 5


def test_two_libraries_of_one_soname(sdk: Site) -> None:
    sdk.library("libamdhip64.so.7", package=LIBRARIES)
    assert problems_of(sdk)["W-LIB-016"].endswith("have one SONAME")


def test_two_libraries_of_one_soname_in_one_directory(sdk: Site) -> None:
    """A copy under another name; the file that the name leads to is the other one. A link is not a copy."""
    whole = sdk.path / CORE / "lib/libamdhip64.so.7"
    (whole.parent / "libamdhip64.so.6.9").write_bytes(whole.read_bytes())
    install(sdk)
    (whole.parent / "libamdhip64.so").symlink_to(whole.name)
    (whole.parent / "libamdhip64.so.7.0").hardlink_to(whole)
    found = run_test(sdk.path, "--only", "libraries").only("W-LIB-016")
    assert found["path"] == str(whole.parent / "libamdhip64.so.6.9")
    assert found["title"] == f"{found['path']} and {whole} have one SONAME"


def test_an_rpath_of_the_build_machine(sdk: Site) -> None:
    sdk.library("librocm_smi64.so.1", flags=("-Wl,-rpath,/build/rocm/lib",))
    assert problems_of(sdk)["W-LIB-011"] == "librocm_smi64.so.1 looks for libraries outside the SDK"


def test_a_function_that_another_version_has(sdk: Site, tmp_path: Path) -> None:
    newer = compile_library(tmp_path / "libamdhip64.so.7", "libamdhip64.so.7", "int added(void) { return 1; }")
    sdk.library("librocm_smi64.so.1", "int added(void); int use(void) { return added(); }", (newer,))
    install(sdk)
    found = run_test(sdk.path, "--only", "libraries").only("E-LIB-020")
    assert "undefined symbol: added" in found["cause"]


def test_without_rpaths_they_are_loaded_after_what_they_need(site: Site) -> None:
    hip = site.library("libamdhip64.so.7")
    site.library("libhipsparse.so.1", needed=(hip,), package=LIBRARIES)
    assert set(problems_of(site)) == {"N-LIB-019"}


@pytest.mark.parametrize(("is_linked", "code"), [(False, "N-LIB-019"), (True, "E-LIB-004")])
def test_an_rpath_of_upstream_that_stays_in_its_package(site: Site, is_linked: bool, code: str) -> None:
    """Debian's hipBLASLt has such an RPATH.

    The RPATH is a fault only if the packager's RPATHs lead to the other packages.
    """
    hip = site.library("libamdhip64.so.7")
    upstream = ("-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib",)
    site.library("libhipblaslt.so.1", needed=(hip,), flags=upstream, package=LIBRARIES)
    packager = (f"-Wl,-rpath,$ORIGIN/../../{CORE}/lib",) if is_linked else ()
    site.library("libhipsparse.so.1", needed=(hip,), flags=packager, package=LIBRARIES)
    assert set(problems_of(site)) == {code}


def test_known_exceptions_are_named(sdk: Site) -> None:
    sdk.library(
        "libclang_rt.asan-x86_64.so", "#include <stdlib.h>\n__attribute__((constructor)) void c(void) { abort(); }"
    )
    install(sdk)
    said = run_test(sdk.path, "--only", "libraries")
    assert said.codes == set()
    assert "sanitizer" in said.subject("libraries")["not_tried"][0]


# ---- the API


def test_a_library_that_is_another(sdk: Site) -> None:
    sdk.library("libhiprtc.so.7")
    install(sdk)
    found = run_test(sdk.path, "--only", "api").only("E-API-003")
    assert found["title"] == "hiprtc has no function hiprtcCreateProgram"


@pytest.mark.parametrize(
    ("compile", "code", "cause"),
    [
        ("return 0;", code_object(0x36, size=64), None),
        ("return 0;", code_object(0x41, size=64), "the code is for gfx1100"),
        ("return 0;", b"not code", "the compiled code cannot be read: neither an ELF file"),
        ("return 6;", b"x", "hiprtcCompileProgram answers HIPRTC_ERROR_COMPILATION (6): no such header"),
        ("__builtin_trap();", b"x", "it was killed by SIG"),
    ],
    ids=["right", "for another GPU", "no code", "an error", "a crash"],
)
def test_run_time_compilation(sdk: Site, compile: str, code: bytes, cause: str | None) -> None:  # noqa: A002
    """The code that hiprtc compiled is read by our own reader."""
    sdk.library("libhiprtc.so.7", hiprtc(compile, code))
    install(sdk)
    said = run_test(sdk.path, "--only", "api")
    if cause is None:
        assert said.codes == set()
        assert not [each for each in said.subject("api")["not_tried"] if "compilation" in each]
        return
    found = said.only("E-API-005")
    assert found["title"] == "hiprtc compiles no kernel for gfx1030"
    assert cause in found["cause"]


# ---- the environment


def test_a_topology_with_too_many_nodes(sdk: Site, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for node in range(1025):
        machine.cpu(node)
    root = str(machine.root)
    found = run_test(sdk.path, "--only", "gpus", ROCM_SDK_ROOTFS=root).only("E-GPU-007")
    assert (
        found["title"] == f"the kernel's topology in {machine.root}/sys/class/kfd/kfd/topology has more than 1024 nodes"
    )
    with pytest.raises(rocm_sdk.errors.TopologyError, match="has more than 1024 nodes") as refused:
        rocm_sdk.gpus(root=root)
    assert refused.value.code == "E-GPU-007"


# ---- OpenCL


def test_no_driver_file(sdk: Site, tmp_path: Path) -> None:
    """With an ICD loader where the system's linker would find it."""
    loader = compile_library(tmp_path / "libOpenCL.so.1", "libOpenCL.so.1")
    driver = sdk.library("libamdocl64.so.2")
    install(sdk)
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    variables = {"OCL_ICD_VENDORS": str(vendors), "LD_LIBRARY_PATH": str(loader.parent)}
    found = run_test(sdk.path, "--only", "opencl", **variables).only("W-OCL-001")
    assert f"{vendors} names are: none" in found["cause"]
    assert "rocm-sdk env --opencl" in found["fix"]
    icd = vendors / "amdocl64.icd"
    icd.write_text("/gone/libamdocl64.so\n")
    found = run_test(sdk.path, "--only", "opencl", **variables).only("W-OCL-001")
    assert "/gone/libamdocl64.so, which does not exist" in found["cause"]
    icd.write_text(f"{driver}\n")
    assert run_test(sdk.path, "--only", "opencl", **variables).codes == set()


def test_a_driver_that_the_linker_is_to_find(sdk: Site, tmp_path: Path) -> None:
    compile_library(tmp_path / "libOpenCL.so.1", "libOpenCL.so.1")
    sdk.library("libamdocl64.so.2")
    install(sdk)
    icd = tmp_path / "vendors/amdocl64.icd"
    icd.parent.mkdir()
    icd.write_text("libamdocl64.so\n")
    variables = {"OCL_ICD_VENDORS": str(icd.parent), "LD_LIBRARY_PATH": str(tmp_path)}
    found = run_test(sdk.path, "--only", "opencl", **variables).only("W-OCL-001")
    assert "are: libamdocl64.so, which does not exist" in found["cause"]
    compile_library(tmp_path / "libamdocl64.so", "libamdocl64.so")
    assert run_test(sdk.path, "--only", "opencl", **variables).codes == set()


def test_drivers_that_this_user_may_not_list(other_user: OtherUser) -> None:
    with open_directory() as directory:
        site = Site(directory / "site-packages")
        site.library("libamdhip64.so.7")
        site.library("libamdocl64.so.2")
        compile_library(directory / "libOpenCL.so.1", "libOpenCL.so.1")
        (directory / "vendors").mkdir(mode=0o700)
        paths = {"PYTHONPATH": str(site.path), "LD_LIBRARY_PATH": str(directory)}
        words = ("-m", "rocm_sdk", "test", "--only", "opencl", "--json")
        result = other_user.run(*words, OCL_ICD_VENDORS=str(directory / "vendors"), **paths)
    (found,) = json.loads(result.stdout)["problems"]
    assert (found["code"], found["path"]) == ("W-OCL-001", "libOpenCL.so.1")
    assert "are: unknown (Permission denied)" in found["cause"]


# ---- tools


def test_programs_start_or_do_not(sdk: Site) -> None:
    scripts = {
        "hipconfig": "echo HIP 7.10.0",
        "rocminfo": "echo there is no driver >&2; exit 1",  # as the real one does without a GPU
        "hipcc": "sleep 60",
        "rocm_agent_enumerator": "echo \"FileNotFoundError: '/sys/class/kfd'\" >&2; exit 1",  # as ROCm 5.2's does, too
        "rocm-smi": "kill -SEGV $$",
        "rocgdb": "echo rocgdb: no such option; exit 2",
        "offload-arch": None,
    }
    metadata = sdk.path / "rocm_sdk_core-7.10.0.dist-info"
    rows = "".join(f"bin/{name},,\n" for name in scripts)
    (metadata / "RECORD").write_text((metadata / "RECORD").read_text() + rows)
    entry_points = "".join(f"{name} = rocm_sdk_core._cli:main\n" for name in scripts)
    (metadata / "entry_points.txt").write_text(f"[console_scripts]\n{entry_points}")
    for name, body in scripts.items():
        if body is not None:
            sdk.write(f"bin/{name}", f"#!/bin/sh\n{body}\n").chmod(0o755)
    begin = time.monotonic()
    said = run_test(sdk.path, "--only", "tools", "--seconds", "2")
    assert time.monotonic() - begin < 30
    found = {each["path"].rpartition("/")[2]: (each["code"], each["cause"]) for each in said.problems}
    assert found == {
        "hipcc": ("E-TOOL-003", "the program ran for more than 2 s"),
        "rocm-smi": ("E-TOOL-001", found["rocm-smi"][1]),
        "rocgdb": ("E-TOOL-001", "exit status 2: rocgdb: no such option"),
        "offload-arch": ("E-TOOL-002", f"{sdk.path}/bin/offload-arch is not there"),
    }
    assert "SIGSEGV" in found["rocm-smi"][1]
    assert said.subject("tools")["count"] == len(scripts)


@pytest.mark.parametrize("has_compiler", [False, True])
def test_hipcc_of_an_sdk_without_a_compiler(sdk: Site, has_compiler: bool) -> None:
    """Debian's packages of ROCm have none."""
    program = sdk.write(f"{CORE}/bin/hipcc", "#!/bin/sh\n")
    if has_compiler:
        sdk.write(f"{CORE}/lib/llvm/bin/clang++", "#!/bin/sh\n").chmod(0o755)
    install(sdk)
    record = sdk.path / "rocm_sdk_core-7.10.0.dist-info/RECORD"
    record.write_text(record.read_text() + "bin/hipcc,,\n")
    sdk.write("bin/hipcc", "#!/bin/sh\necho failed to execute: clang++; exit 127\n").chmod(0o755)
    assert program.exists()
    said = run_test(sdk.path, "--only", "tools")
    assert said.codes == ({"E-TOOL-001"} if has_compiler else set())
    assert bool(said.subject("tools")["not_tried"]) is not has_compiler


def test_hipcc_that_fails_for_another_reason(sdk: Site) -> None:
    """Perl that lacks a module ends with 2, a shell that finds no program with 127."""
    sdk.write(f"{CORE}/bin/hipcc", "#!/bin/sh\n")
    install(sdk)
    record = sdk.path / "rocm_sdk_core-7.10.0.dist-info/RECORD"
    record.write_text(record.read_text() + "bin/hipcc,,\n")
    sdk.write("bin/hipcc", "#!/bin/sh\necho BEGIN failed--compilation aborted; exit 2\n").chmod(0o755)
    assert "BEGIN failed" in run_test(sdk.path, "--only", "tools").only("E-TOOL-001")["cause"]


@pytest.mark.parametrize("is_own", [False, True])
def test_a_tool_without_a_python_module(sdk: Site, is_own: bool) -> None:
    """amd-smi of ROCm 6.1 needs yaml, which no package of the SDK has."""
    sdk.write(f"{CORE}/bin/amd-smi", "#!/bin/sh\n")
    if is_own:
        sdk.write(f"{CORE}/libexec/amdsmi_cli/yaml.py", "")
    install(sdk)
    record = sdk.path / "rocm_sdk_core-7.10.0.dist-info/RECORD"
    record.write_text(record.read_text() + "bin/amd-smi,,\n")
    words = "echo \"ModuleNotFoundError: No module named 'yaml'\"; exit 1"
    sdk.write("bin/amd-smi", f"#!/bin/sh\n{words}\n").chmod(0o755)
    said = run_test(sdk.path, "--only", "tools")
    assert said.codes == ({"E-TOOL-002"} if is_own else set())
    assert ["needs the Python module yaml" in each for each in said.subject("tools")["not_tried"]] == [True] * (
        not is_own
    )


@pytest.mark.parametrize("rpath", [None, "$ORIGIN/../lib", "$ORIGIN/../nowhere"])
def test_a_script_of_the_wheel_itself(sdk: Site, rpath: str | None) -> None:
    """The packager's scripts are no entry points. The program has a copy relocation, as programs alone have."""
    library = sdk.library("libhsa-runtime64.so.1", "int runtime_version = 1; int more = 2;")
    program = sdk.path / CORE / "bin/rocminfo"
    program.parent.mkdir()
    source = "extern int runtime_version; int main(void) { return runtime_version - 1; }"
    command = ["cc", "-fPIE", "-pie", "-x", "c", "-", "-x", "none", str(library), "-o", str(program)]
    command += [f"-Wl,-rpath,{rpath}"] if rpath else []
    subprocess.run(command, input=source, text=True, check=True)
    relocations = subprocess.run(["readelf", "-rW", program], capture_output=True, text=True, check=True).stdout
    assert "_COPY" in relocations
    install(sdk)
    record = sdk.path / "rocm_sdk_core-7.10.0.dist-info/RECORD"
    record.write_text(record.read_text() + "bin/rocminfo,,\n")
    sdk.write("bin/rocminfo", f"#!/bin/sh\nexec {program}\n").chmod(0o755)
    said = run_test(sdk.path, "--only", "tools")
    assert said.subject("tools")["count"] == 1
    assert said.codes == {None: {"N-LIB-019"}, "$ORIGIN/../lib": set(), "$ORIGIN/../nowhere": {"E-LIB-004"}}[rpath]


def test_a_list_of_a_framework_that_nobody_can_parse(sdk: Site) -> None:
    sdk.write("torch/__init__.py")
    path = sdk.write("torch/_rocm_init.py", "-" * 100_000 + "1")
    said = run_test(sdk.path, "--only", "bindings")
    assert f"the libraries that torch preloads: {path}: its expressions are nested too deeply" in str(
        said.subject("bindings")
    )
    assert "E-TEST-001" not in said.codes
