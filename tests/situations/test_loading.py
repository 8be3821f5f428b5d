"""Libraries that this system, processor or process cannot load, or whose loading kills or never ends."""

import ctypes
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import completed
from sample_report import install, run_test
from sample_site import CORE, Site, clean_environment, compile_library

# The address space of the process is limited (`ulimit -v`): the files are intact, and nothing is to be reinstalled.

MEGABYTE = 1 << 20
CALL = """
import resource, rocm_sdk
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (8 << 20), resource.RLIM_INFINITY))
try:
    rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
except rocm_sdk.LibraryLoadError as error:
    print(error.code, error.message, error.fix, sep="\\n")
"""


def test_the_limit_of_the_address_space_is_named(linked_site: Site) -> None:
    path = linked_site.library("libamdhip64.so.7", "char large[64 << 20] = {1};")
    size = path.stat().st_size
    environment = clean_environment() | {"PYTHONPATH": str(linked_site.path)}
    done = subprocess.run([sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=True)
    code, message, fix = done.stdout.splitlines()
    assert code == "E-LIB-025"
    assert "libamdhip64.so.7 cannot be loaded: there is no memory for it" in message
    assert "the limit of the address space of this process is" in message
    assert "ulimit -v unlimited" in fix
    assert size > 64 * MEGABYTE


def test_an_import_without_memory() -> None:
    """With each limit the import works, or the error says nothing of an installation."""
    said = set()
    for limit in range(8, 20):

        def lower(size: int = limit * MEGABYTE) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

        command = [sys.executable, "-c", "import rocm_sdk"]
        done = completed(command, preexec_fn=lower)
        if "no memory for the extension of rocm_sdk" in done.stderr:
            said.add("words")
        assert "make wheel" not in done.stderr
        assert "make develop" not in done.stderr
        assert "apt-get" not in done.stderr
    assert said == {"words"}


# A library hangs while it is loaded, as rocprofiler-sdk did without /dev/kfd.


@pytest.fixture
def hanging(linked_site: Site) -> Site:
    hang = "#include <unistd.h>\n__attribute__((constructor)) static void wait_for_ever(void) { for (;;) pause(); }"
    linked_site.library("librocprofiler-sdk.so.1", hang)
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    install(linked_site)
    return linked_site


def test_a_hanging_constructor_is_named_and_the_others_are_loaded(hanging: Site) -> None:
    said = run_test(hanging.path, "--only", "libraries", "--seconds", "1")
    assert said.codes == {"E-LIB-008"}
    found = said.only("E-LIB-008")
    assert found["title"] == "librocprofiler-sdk.so.1 does not finish loading"
    likely = "; there is no /dev/kfd here, which is the likely reason" if not Path("/dev/kfd").exists() else ""
    assert found["cause"].startswith(f"constructors of the library ran for more than 1 s{likely}")
    assert "rocm-sdk gpus" in found["fix"]
    assert said.subject("libraries")["count"] == 2


def test_the_loader_names_a_hanging_constructor_too(hanging: Site) -> None:
    code = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['rocprofiler-sdk'])"
    environment = clean_environment() | {"PYTHONPATH": str(hanging.path), "ROCM_SDK_LOAD_WATCH": "0.2"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    process.kill()
    process.communicate()
    assert "librocprofiler-sdk.so.1 has been loading for 0.2 s" in line


# The SDK was built on a newer system than this one.


def test_both_versions_of_glibc_are_named(linked_site: Site, attempt: Callable[..., Any], tmp_path: Path) -> None:
    """A library that is linked with a C library of the future."""
    versions = tmp_path / "versions"
    versions.write_text("GLIBC_2.99 { global: from_the_future; };")
    libc = compile_library(
        tmp_path / "libc.so.6",
        "libc.so.6",
        "int from_the_future(void) { return 0; }",
        flags=(f"-Wl,--version-script={versions}",),
    )
    source = "int from_the_future(void); int use(void) { return from_the_future(); }"
    smi = linked_site.library("librocm_smi64.so.1", source, (libc,))
    linked_site.library("libamdhip64.so.7", needed=(smi,))
    install(linked_site)
    present = platform.libc_ver()[1]
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-LIB-005")
    assert f"librocm_smi64.so.1 needs glibc 2.99: this system has glibc {present}" in outcome.message
    said = run_test(linked_site.path, "--only", "libraries")
    (found,) = said.problems
    assert (found["code"], found["cause"]) == ("E-LIB-005", f"this system has glibc {present}")
    assert set(found["breaks"]) == {"amdhip64", "rocm_smi64"}


# A minimal container lacks a library that the distribution brings: libnuma, libatomic ...

CANDIDATES = {
    "libnuma.so.1": "libnuma1",
    "libibverbs.so.1": "libibverbs1",
    "libva.so.2": "libva2",
    "libdw.so.1": "libdw1",
}


def is_loadable(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


@pytest.fixture
def missing() -> str:
    """Return a library that is not on this system."""
    name = next((name for name in CANDIDATES if not is_loadable(name)), None)
    if name is not None:
        return name
    pytest.skip(f"all of {', '.join(CANDIDATES)} are installed here")


def test_a_missing_library_of_the_system_is_named_with_its_package(
    linked_site: Site, attempt: Callable[..., Any], tmp_path: Path, missing: str
) -> None:
    host = compile_library(tmp_path / missing, missing)
    smi = linked_site.library("librocm_smi64.so.1", needed=(host,))
    linked_site.library("libamdhip64.so.7", needed=(smi,))
    install(linked_site)
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-LIB-002")
    assert f"librocm_smi64.so.1 needs {missing}, which is in neither the SDK nor the system" in outcome.message
    assert outcome.fix == f"apt-get install {CANDIDATES[missing]}"
    said = run_test(linked_site.path, "--only", "libraries")
    (found,) = said.problems
    assert found["code"] == "E-LIB-002"
    assert found["title"] == f"librocm_smi64.so.1 needs {missing}, which is in neither the SDK nor the system"
    assert set(found["breaks"]) == {"amdhip64", "rocm_smi64"}
    assert found["fix"] == outcome.fix


def test_a_library_of_the_system_that_no_table_knows(linked_site: Site, tmp_path: Path) -> None:
    host = compile_library(tmp_path / "libnobody_knows.so.3", "libnobody_knows.so.3")
    linked_site.library("libamdhip64.so.7", needed=(host,))
    install(linked_site)
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-002")
    assert "libnobody_knows.so.3" in found["fix"]


# A constructor kills the program that loads libraries for the test: what it had in hand does not count as checked.

KILLS = """
#include <signal.h>
#include <unistd.h>
__attribute__((constructor)) static void kill_the_parent(void) { kill(getppid(), SIGKILL); }
"""


@pytest.fixture
def killing(linked_site: Site) -> Site:
    linked_site.library("librocprofiler-sdk.so.1", KILLS)
    for number in range(8):
        linked_site.library(f"libother{number}.so.1")
    install(linked_site)
    return linked_site


def test_a_killing_constructor_is_named_and_the_others_are_loaded(killing: Site) -> None:
    said = run_test(killing.path, "--only", "libraries")
    assert said.codes == {"E-LIB-021"}
    titles = {found["title"] for found in said.problems}
    assert "librocprofiler-sdk.so.1 could not be checked" in titles
    assert len(titles) <= len(os.sched_getaffinity(0))  # what was in hand
    (found,) = (found for found in said.problems if found["title"].startswith("librocprofiler-sdk"))
    assert "was killed by SIGKILL while it loaded this one and perhaps others" in found["cause"]
    assert found["fix"] == "rocm-sdk test --only libraries"
    assert said.subject("libraries")["count"] == 9


def test_the_exit_status_tells_a_killed_check(killing: Site) -> None:
    assert run_test(killing.path, "--only", "libraries").status == 1


# A platform directory was moved: RPATHs do not lead to what they need.


def test_an_rpath_that_leads_nowhere_is_named(linked_site: Site) -> None:
    hip = linked_site.library("libamdhip64.so.7")
    moved = linked_site.path / CORE / "other/libhiprtc.so.7"
    moved.parent.mkdir()
    compile_library(moved, "libhiprtc.so.7", needed=(hip,), flags=("-Wl,-rpath,$ORIGIN/nowhere",))
    install(linked_site)
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-004")
    assert found["title"] == "libhiprtc.so.7 does not find libamdhip64.so.7"
    assert str(hip) in found["cause"]


@pytest.mark.parametrize(
    ("runpath", "codes"), [("/usr/lib/nowhere", ["W-LIB-011", "N-LIB-019"]), ("$ORIGIN", ["N-LIB-019"])]
)
def test_a_library_that_this_system_lacks_and_the_sdk_has(site: Site, runpath: str, codes: list[str]) -> None:
    """The loader finds what a RUNPATH does not, as where there is none: Debian's libhsa-runtime64 needs libelf so."""
    sysdeps = site.path / CORE / "lib/rocm_sysdeps/lib"
    sysdeps.mkdir(parents=True)
    elf = compile_library(sysdeps / "libelf-of-the-sdk.so.1", "libelf-of-the-sdk.so.1")
    site.library("libhsa-runtime64.so.1", needed=(elf,), flags=(f"-Wl,--enable-new-dtags,-rpath,{runpath}",))
    install(site)
    report = run_test(site.path, "--only", "libraries")
    assert [found["code"] for found in report.problems] == codes


def test_exhausted_static_tls_is_named(linked_site: Site, attempt: Callable[..., Any]) -> None:
    """Libraries with initial-exec TLS have used up the reserve of the process."""
    source = "__thread char big[1 << 20]; char *use(void) { return big; }"
    linked_site.library("libamdhip64.so.7", source, flags=("-ftls-model=initial-exec",))
    install(linked_site)
    outcome = attempt(linked_site, "initialize_process(preload_shortnames=['amdhip64'])")
    assert (outcome.error, outcome.code) == ("LibraryLoadError", "E-LIB-018")
    assert "the library takes 1048576 bytes" in outcome.message
    assert "glibc.rtld.optional_static_tls" in outcome.fix
    found = run_test(linked_site.path, "--only", "libraries").only("E-LIB-018")
    assert "glibc.rtld.optional_static_tls" in found["fix"]


# Packages were copied from a machine with another processor.

S390, MACHINE_OFFSET = 22, 18  # e_machine


@pytest.fixture
def foreign(linked_site: Site) -> Path:
    path = linked_site.library("libamdhip64.so.7")
    data = bytearray(path.read_bytes())
    data[MACHINE_OFFSET] = S390
    path.write_bytes(data)
    install(linked_site)
    return path


def test_a_whole_sdk_of_another_machine_may_be_looked_at(linked_site: Site, foreign: Path, tmp_path: Path) -> None:
    said = run_test(tmp_path, "--target", str(linked_site.path))
    assert (said.status, said.codes) == (0, {"N-LIB-021"})
    assert said.subject("files")["count"] > 3
    assert foreign.exists()
