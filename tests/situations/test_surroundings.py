"""What a check finds in the surroundings of an SDK: OpenCL, tools, places of comgr, variables, a topology."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from other_user import OtherUser, open_directory
from sample_device_code import bundle, code_object, library, objects
from sample_hiprtc import hiprtc
from sample_machine import Machine
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, compile_library, run_interpreter

import rocm_sdk
from rocm_sdk import errors
from rocm_sdk.cli import main
from rocm_sdk.fit.comgr_places import place_problems
from rocm_sdk.installed.view import current

# ---- OpenCL


def test_drivers_of_opencl(sdk: Site, tmp_path: Path) -> None:
    """With an ICD loader where the system's linker would find it."""
    compile_library(tmp_path / "libOpenCL.so.1", "libOpenCL.so.1")
    driver = sdk.library("libamdocl64.so.2")
    install(sdk)
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    variables = {"OCL_ICD_VENDORS": str(vendors), "LD_LIBRARY_PATH": str(tmp_path)}

    def test(text: str | None) -> list[str]:
        if text is not None:
            (vendors / "amdocl64.icd").write_text(text)
        said = run_test(sdk.path, "--only", "opencl", **variables)
        assert said.codes <= {"W-OCL-001"}
        return [each["cause"] + each["fix"] for each in said.problems]

    (none,) = test(None)
    assert f"{vendors} names are: none" in none
    assert "rocm-sdk env --opencl" in none
    assert "/gone/libamdocl64.so, which does not exist" in test("/gone/libamdocl64.so\n")[0]
    assert test(f"{driver}\n") == []
    assert "are: libamdocl64.so, which does not exist" in test("libamdocl64.so\n")[0]
    compile_library(tmp_path / "libamdocl64.so", "libamdocl64.so")
    assert test("libamdocl64.so\n") == []


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
    assert "SIGSEGV" in found["rocm-smi"][1]
    assert found == {
        "hipcc": ("E-TOOL-003", "the program ran for more than 2 s"),
        "rocm-smi": ("E-TOOL-001", found["rocm-smi"][1]),
        "rocgdb": ("E-TOOL-001", "exit status 2: rocgdb: no such option"),
        "offload-arch": ("E-TOOL-002", f"{sdk.path}/bin/offload-arch is not there"),
    }
    assert said.subject("tools")["count"] == len(scripts)


def test_a_list_of_a_framework_that_nobody_can_parse(sdk: Site) -> None:
    sdk.write("torch/__init__.py")
    path = sdk.write("torch/_rocm_init.py", "-" * 100_000 + "1")
    said = run_test(sdk.path, "--only", "bindings")
    words = f"the libraries that torch preloads: {path}: its expressions are nested too deeply"
    assert words in str(said.subject("bindings"))
    assert "E-TEST-001" not in said.codes


# ---- GPUs


@pytest.mark.slow
def test_a_topology_with_too_many_nodes(sdk: Site, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for node in range(1025):
        machine.cpu(node)
    root = str(machine.root)
    found = run_test(sdk.path, "--only", "gpus", ROCM_SDK_ROOTFS=root).only("E-GPU-007")
    assert found["title"] == f"the kernel's topology in {root}/sys/class/kfd/kfd/topology has more than 1024 nodes"
    with pytest.raises(rocm_sdk.errors.TopologyError, match="has more than 1024 nodes") as refused:
        rocm_sdk.gpus(root=root)
    assert refused.value.code == "E-GPU-007"


# ---- comgr writes temporary files and a cache while a program runs: in a container with a read-only root it cannot

TEMPORARY, CACHE = "W-ENV-014", "W-ENV-015"


@pytest.fixture
def comgr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a comgr that has a cache, of the SDK that is the installed one."""
    site = Site(tmp_path / "site-packages")
    monkeypatch.syspath_prepend(str(site.path))
    for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR", "AMD_COMGR_CACHE", "AMD_COMGR_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return site.library("libamd_comgr.so.3")


def found_places() -> dict[str, tuple[str, str]]:
    """Return the place and the cause of each problem by its code."""
    return {each.code: (str(each.path), each.cause) for each in place_problems(current())}


def test_the_usual_places(comgr: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_places() == {}
    monkeypatch.setenv("TEMP", str(tmp_path / "none"))
    assert found_places() == {TEMPORARY: (str(tmp_path / "none"), f"TEMP={tmp_path}/none: there is no such directory")}
    monkeypatch.setenv("TMP", str(tmp_path))  # which comes first
    assert found_places() == {}
    monkeypatch.setenv("TMPDIR", "")  # LLVM takes it as it is
    assert list(found_places()) == [TEMPORARY]
    comgr.unlink()
    assert found_places() == {}, "nothing compiles"


def test_directories_of_others(other_user: OtherUser) -> None:
    with open_directory() as directory:
        site = Site(directory / "site-packages")
        site.library("libamd_comgr.so.3")
        install(site)
        places = {"TMPDIR": "/usr", "AMD_COMGR_CACHE_DIR": "/usr/comgr"}
        words = ("-m", "rocm_sdk", "test", "--only", "environment")
        output = other_user.run(*words, PYTHONPATH=str(site.path), **places).stdout
    assert TEMPORARY in output and CACHE in output
    assert "/usr/comgr: this user may not write to /usr" in output


def test_check_and_test_say_it(
    comgr: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone, site = str(tmp_path / "gone"), Site(comgr.parents[2])
    monkeypatch.setenv("TMPDIR", gone)
    app = library(tmp_path / "app.so", [bundle(objects("gfx1030"))])
    assert main(["check", str(app), "--gpu", "gfx1030"]) == 0, "it runs where the variable is another one"
    cause = f"{TEMPORARY}: ROCm has no place for its temporary files: TMPDIR={gone}: there is no such directory"
    assert cause in capsys.readouterr().out
    main(["check", str(site.library("libplain.so.1")), "--gpu", "gfx1030"])
    assert TEMPORARY not in capsys.readouterr().out, "it has no code that comgr could be asked for"
    install(site)
    problem = run_test(site.path, "--only", "environment", TMPDIR=gone).only(TEMPORARY)
    assert problem["fix"] == f"unset TMPDIR  # or: mkdir -p {gone}"
    assert (site.path / CORE / "lib").is_dir()


# A compiler that makes its temporary files as LLVM does; the test, with a time limit for tries.
_COMPILES = """
    extern char *getenv(const char *); extern int access(const char *, int);
    extern int snprintf(char *, unsigned long, const char *, ...);
    const char *names[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}, *place = 0;
    for (int i = 0; i < 4 && place == 0; i++) place = getenv(names[i]);
    char path[4096];
    snprintf(path, sizeof path, "%s/.", place != 0 ? place : "/tmp");
    return access(path, 2) != 0 ? 6 : 0;
"""
_TEST = """
import sys
from rocm_sdk.doctor.causes.culprits import Clock
Clock.__init__.__defaults__ = (float(sys.argv[1]),)
from rocm_sdk.cli import main
sys.exit(main(["test", "--only", "api,environment", "--json"]))
"""


@pytest.mark.parametrize("seconds", [3.0, -1.0])
@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("TEMP=0.6", "No such file or directory"),
        ("TMP=/etc/passwd", "Not a directory"),
        ("TEMPDIR=/nowhere", "No such file or directory"),
    ],
)
def test_the_variable_behind_temporary_files_is_read(
    linked_site: Site, monkeypatch: pytest.MonkeyPatch, seconds: float, setting: str, reason: str
) -> None:
    """The same problem with the same name, whether or not there is time to try."""
    linked_site.library("libhiprtc.so.7", hiprtc(_COMPILES, code_object(0x36, size=64)))
    linked_site.library("libamd_comgr.so.3", "int amd_comgr_get_version;")
    install(linked_site)
    name, _, value = setting.partition("=")
    for other in {"TMPDIR", "TMP", "TEMP", "TEMPDIR"} - {name}:
        monkeypatch.delenv(other, raising=False)
    done = run_interpreter("-c", _TEST, str(seconds), check=False, PYTHONPATH=str(linked_site.path), **{name: value})
    (found,) = [each for each in json.loads(done.stdout)["problems"] if each["severity"] != "note"]
    assert found["code"] == "E-ENV-010"
    assert found["title"] == f"{name} makes the compilation of a kernel with hiprtc fail"
    assert f" where {name}={value} leads ({reason}): " in found["cause"]
    assert found["fix"] == f"unset {name}"


# ---- names that are asked for: of libraries, of releases, of families, in a program or in a variable


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
