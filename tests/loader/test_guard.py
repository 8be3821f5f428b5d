"""Libraries that define the same functions, and call them by name.

Each library calls its own functions, in any order of requests. The stand-ins are like rocm_smi64 and amd_smi: amd_smi
contains rocm_smi's functions.
"""

from itertools import permutations
from pathlib import Path

import pytest
from sample_site import CORE, LIBRARIES, Site, compile_library, run_python

# Each answers with its own number. Devices are found by the function that the library calls by name.
SMI = """
int rsmi_init(void) {{ return {number}; }}
int rsmi_count(void) {{ return {number}; }}
int {name}_asks(void) {{ return 10 * rsmi_init() + rsmi_count(); }}
"""
# Both have an object of this name, as C++ singletons are: made by both constructors, freed by both destructors.
DOUBLE_FREE = """
#include <stdlib.h>
void *rsmi_singleton;
__attribute__((constructor)) static void make(void) {{ rsmi_singleton = malloc(10000); }}
__attribute__((destructor)) static void end(void) {{ free(rsmi_singleton); }}
"""
# The constructor finds a table of its own by a function; the other library's has no such entry.
CRASH = """
static int table[3] = {{0, {number}, {number}}}; int *rsmi_table(void) {{ return {number} == 1 ? 0 : table; }}
__attribute__((constructor)) static void start(void) {{ if ({number} == 2) rsmi_table()[1]++; }}
"""
FORKS = """
import ctypes, os, sys, rocm_sdk
def check(names, rtld_global):
    rocm_sdk.preload_libraries(*names, rtld_global=rtld_global)
    own = {"rocm_smi64": ("librocm_smi64.so.7", "smi", 11), "amd_smi": ("libamd_smi.so.26", "amdsmi", 22)}
    for soname, function, answer in own.values():
        try:
            library = ctypes.CDLL(soname)
        except OSError:
            continue
        found = getattr(library, function + "_asks")()
        assert found == answer, (names, rtld_global, soname, found)
def in_child(function, *arguments):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            function(*arguments)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert status == 0, (arguments, status)
"""


def smi(site: Site, number: int, more: str = "") -> Path:
    soname, name = ("librocm_smi64.so.7", "smi") if number == 1 else ("libamd_smi.so.26", "amdsmi")
    return site.library(soname, (SMI + more).format(number=number, name=name))


@pytest.fixture(params=["none", "rpath"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    """Return an SDK with rocm_smi64 and amd_smi.

    The library rccl needs the former, and rocprofiler-sdk the latter; amdhip64 needs neither.
    """
    site = Site(tmp_path / "site", rpath=request.param)
    hip = site.library("libamdhip64.so.7", "int hipInit(void) { return 0; }")
    site.library("librccl.so.1", "int rccl;", (smi(site, 1), hip), LIBRARIES)
    site.library("librocprofiler-sdk.so.1", "int profiler;", (smi(site, 2),))
    return site


@pytest.mark.always
def test_each_calls_its_own_in_any_order_and_scope(both: Site) -> None:
    """With what needs them before, between and after; some of the libraries come only by what needs them."""
    names = ("rocm_smi64", "amd_smi", "rccl", "rocprofiler-sdk")
    orders = [order for count in (2, 3, 4) for order in permutations(names, count)]
    program = f"for order in {orders!r}:\n    for scope in (None, True, False):\n        in_child(check, order, scope)"
    both.run(FORKS + program)


def test_plain_dlopen_calls_the_others(both: Site) -> None:
    """The reason for the guard is shown here: the test above can fail."""
    lib = both.path / CORE / "lib"
    program = f"""
        import ctypes
        ctypes.CDLL("{lib}/librocm_smi64.so.7", mode=ctypes.RTLD_GLOBAL)
        print(ctypes.CDLL("{lib}/libamd_smi.so.26", mode=ctypes.RTLD_GLOBAL).amdsmi_asks())
    """
    assert both.output(program) == "11"


@pytest.mark.parametrize("more", [DOUBLE_FREE, CRASH], ids=["double free at exit", "constructor that crashes"])
@pytest.mark.parametrize("names", list(permutations(("rocm_smi64", "amd_smi"))))
def test_objects_are_made_and_freed_once(site: Site, more: str, names: tuple[str, ...]) -> None:
    files = [smi(site, 1, more), smi(site, 2, more)]
    site.run(f"import rocm_sdk; rocm_sdk.preload_libraries(*{names!r}, rtld_global=True)", check=True)
    plain = f"import ctypes\nfor file in {list(map(str, files))!r}: ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)"
    assert run_python(plain, check=False).returncode < 0


def test_what_the_plan_says(both: Site) -> None:
    program = """
        import rocm_sdk
        for step in rocm_sdk.load_plan("amdhip64", "rccl", "amd_smi").steps:
            print(step.soname, "global" if step.rtld_global else "local", step.requested, step.reason, sep="|")
    """
    first, second, hip, rccl, amd = (line.split("|") for line in both.output(program).splitlines())
    reason = "bound before anything is global: both have rocm_smi's functions, and call them by name"
    assert sorted((first, second)) == [
        ["libamd_smi.so.26", "local", "False", reason],
        ["librocm_smi64.so.7", "local", "False", reason],
    ]
    assert hip[:3] == ["libamdhip64.so.7", "global", "True"]
    assert rccl[:3] == ["librccl.so.1", "local", "True"]
    assert "; local, because librocm_smi64.so.7 comes with it: a copy of libamd_smi" in rccl[3]
    assert amd == [
        "libamd_smi.so.26", "global", "True", "an earlier step brings it in; global now that it is bound",
    ]  # fmt: skip


def test_results_are_those_that_were_asked_for(both: Site) -> None:
    program = """
        import rocm_sdk
        libraries = rocm_sdk.preload_libraries("rccl", "amd_smi", "rocm_smi64")
        print(*(library.location.shortname for library in libraries))
        assert all(library.seconds > 1e-5 and library.requested and library.handle for library in libraries), libraries
        assert not any(library.already_loaded for library in libraries)
        assert all(library.already_loaded for library in rocm_sdk.preload_libraries("rocm_smi64", "amd_smi"))
    """
    assert both.output(program) == "rccl amd_smi rocm_smi64"


def test_a_library_that_binds_its_own_needs_no_guard(site: Site) -> None:
    """As newer builds do it: no relocation names rocm_smi's functions."""
    for number, soname, name in ((1, "librocm_smi64.so.7", "smi"), (2, "libamd_smi.so.26", "amdsmi")):
        site.library(soname, SMI.format(number=number, name=name), flags=("-Wl,-Bsymbolic",))
    plan = "import rocm_sdk; print(*(s.shortname for s in rocm_sdk.load_plan('rocm_smi64', 'amd_smi').steps))"
    assert site.output(plan) == "rocm_smi64 amd_smi"
    program = (
        FORKS + "for order in (('rocm_smi64', 'amd_smi'), ('amd_smi', 'rocm_smi64')): in_child(check, order, True)"
    )
    site.run(program)


@pytest.mark.parametrize("rtld_global", [None, True])
def test_a_copy_of_another_package_that_is_opened_later(both: Site, tmp_path: Path, rtld_global: bool | None) -> None:
    """RTLD_LOCAL searches the global scope first, too: it finds its own functions unless ours are there."""
    copy = compile_library(tmp_path / "libamd_smi.so", "libamd_smi.so", SMI.format(number=3, name="theirs"))
    program = f"""
        import ctypes, rocm_sdk
        rocm_sdk.preload_libraries("rccl", rtld_global={rtld_global})
        print(ctypes.CDLL({str(copy)!r}, mode=ctypes.RTLD_LOCAL).theirs_asks())
    """
    assert both.output(program) == ("33" if rtld_global is None else "11")


def test_a_row_that_true_overrides_is_told(both: Site) -> None:
    result = both.run("import rocm_sdk; rocm_sdk.preload_libraries('rccl', rtld_global=True)")
    assert "librccl.so.1 becomes global by rtld_global=True, with librocm_smi64.so.7: a copy of" in result.stderr
    result = both.run("import rocm_sdk; rocm_sdk.preload_libraries('rccl')")
    assert "global" not in result.stderr


def test_a_later_request_keeps_local_what_an_earlier_one_did(both: Site) -> None:
    """The library rccl needs a library that is in the process: a global opening would make that global, too."""
    program = """
        import ctypes, rocm_sdk
        rocm_sdk.preload_libraries("rocm_smi64")
        print(*(step.rtld_global for step in rocm_sdk.load_plan("rccl").steps))
        rocm_sdk.preload_libraries("rccl")
        print(hasattr(ctypes.CDLL(None), "rsmi_init"))
    """
    assert both.output(program).splitlines() == ["False True", "False"]


def test_hip_is_global_whatever_brings_it_in(both: Site) -> None:
    program = """
        import ctypes, rocm_sdk
        assert not hasattr(ctypes.CDLL(None), "hipInit")
        rocm_sdk.preload_libraries("rccl")
        assert hasattr(ctypes.CDLL(None), "hipInit")
        assert not hasattr(ctypes.CDLL(None), "rsmi_init")
        assert not hasattr(ctypes.CDLL(None), "rccl")
    """
    both.run(program)
    both.run("import ctypes, rocm_sdk; rocm_sdk.preload_libraries('rccl', rtld_global=False);"
             "assert not hasattr(ctypes.CDLL(None), 'hipInit')")  # fmt: skip


def test_a_library_in_the_global_scope_before_us_is_passed_by(both: Site, tmp_path: Path) -> None:
    """By RTLD_DEEPBIND; tests/situations has where that does harm, and what is said then."""
    other = compile_library(tmp_path / "libother_smi.so", "libother_smi.so", SMI.format(number=4, name="other"))
    program = f"""
        import ctypes, rocm_sdk
        ctypes.CDLL({str(other)!r}, mode=ctypes.RTLD_GLOBAL)
        rocm_sdk.preload_libraries("amd_smi")
        print(ctypes.CDLL("libamd_smi.so.26").amdsmi_asks())
    """
    result = both.run(program)
    assert (result.stdout.strip(), result.stderr) == ("22", "")


def test_torch_opens_all_again_with_rtld_global(both: Site) -> None:
    """A preload of torch 2.14 by its own patterns after `_rocm_init` binds nothing a second time."""
    program = """
        import ctypes, glob, os, rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "rocm_smi64", "rccl", "amd_smi"])
        core = os.path.dirname(rocm_sdk.locate("amdhip64").path)
        for pattern in ("libamdhip64.so*", "librocm_smi64.so*", "libamd_smi.so*"):
            for file in glob.glob(f"{core}/{pattern}"):
                ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL)
        print(ctypes.CDLL("libamd_smi.so.26").amdsmi_asks(), ctypes.CDLL("librocm_smi64.so.7").smi_asks())
    """
    assert both.output(program) == "22 11"


def test_a_library_that_cannot_be_bound_first_is_the_one_that_fails(both: Site) -> None:
    broken = SMI.format(number=2, name="amdsmi") + "int absent(void); int (*use)(void) = absent;"
    both.library("libamd_smi.so.26", broken)
    program = """
        import rocm_sdk
        try:
            rocm_sdk.preload_libraries("rocm_smi64", "amd_smi")
        except OSError as error:
            print(error.code, error.message)
        print(*(library.location.shortname for library in rocm_sdk.loaded_libraries() if library.requested))
    """
    said, loaded = both.output(program).splitlines()
    assert said.startswith("E-LIB-020 cannot load amd_smi: ")
    assert "undefined symbol: absent" in said
    assert loaded == "rocm_smi64"


# ---- LLVM ----


def test_what_needs_llvm_stays_local_unless_hip_needs_it_too(site: Site) -> None:
    llvm = site.library("libLLVM.so.20.0", "int llvm;", directory="lib/llvm/lib")
    hip = site.library("libamdhip64.so.7", "int hip;")
    lt = site.library("libhipblaslt.so.1", "int lt;", (llvm, hip), LIBRARIES)
    site.library("librocblas.so.5", "int rocblas;", (lt,), LIBRARIES)
    site.library("libhiprand.so.1", "int rand_;", (hip,), LIBRARIES)
    names = "'rocblas', 'hiprand', 'hipblaslt'"
    shown = f"import rocm_sdk; print(*(s.soname for s in rocm_sdk.load_plan({names}).steps if s.rtld_global))"
    assert site.output(shown) == "libhiprand.so.1 libamdhip64.so.7"
    program = f"""
        import ctypes, rocm_sdk
        rocm_sdk.preload_libraries({names})
        print(*(name for name in ("llvm", "lt", "rocblas", "hip", "rand_") if hasattr(ctypes.CDLL(None), name)))
    """
    assert site.output(program) == "hip rand_"
    site.library("libamdhip64.so.7", "int hip;", (llvm,))
    assert site.output(shown) == "librocblas.so.5 libhiprand.so.1 libhipblaslt.so.1"


# ---- ROCM_SDK_ISOLATE ----


def test_the_user_keeps_a_library_local(both: Site) -> None:
    program = """
        import ctypes, rocm_sdk
        rocm_sdk.preload_libraries("amdhip64", "rocprofiler-sdk", rtld_global=True)
        print(*(name for name in ("hipInit", "profiler", "rsmi_init") if hasattr(ctypes.CDLL(None), name)))
        print(rocm_sdk.load_plan("amd_smi").steps[0].rtld_global)
    """
    assert both.output(program).split("\n") == ["hipInit profiler rsmi_init", "True"]
    assert both.output(program, ROCM_SDK_ISOLATE="amd_smi").split("\n") == ["hipInit", "False"]


def test_the_user_wishes_deepbind(both: Site, tmp_path: Path) -> None:
    other = compile_library(tmp_path / "libother_smi.so", "libother_smi.so", SMI.format(number=4, name="other"))
    program = f"""
        import ctypes, rocm_sdk
        ctypes.CDLL({str(other)!r}, mode=ctypes.RTLD_GLOBAL)
        rocm_sdk.preload_libraries("rocprofiler-sdk")
        print(ctypes.CDLL("libamd_smi.so.26").amdsmi_asks())
    """
    assert both.output(program) == "22"
    reason = "import rocm_sdk; print(rocm_sdk.load_plan('amd_smi').steps[0].reason)"
    assert both.output(reason, ROCM_SDK_ISOLATE="amd_smi:deepbind").startswith(
        "bound with RTLD_DEEPBIND: ROCM_SDK_ISOLATE"
    )
    assert both.output(program, ROCM_SDK_ISOLATE="rccl,amd_smi:deepbind") == "22"


@pytest.mark.parametrize("value", ["amdhip64", "amd_smi:deep", "no_such_library", "amdhip64:deepbind", ":deepbind"])
def test_a_wish_that_makes_no_sense(both: Site, value: str) -> None:
    result = both.run("import rocm_sdk; rocm_sdk.load_plan('amd_smi')", check=False, ROCM_SDK_ISOLATE=value)
    assert f"ROCM_SDK_ISOLATE={value}: '{value}' is not the name of a library" in result.stderr
    assert "E-ENV-008" in result.stderr
