"""Reports about libraries that other code opened RTLD_GLOBAL before the loader came, and what helps."""

from collections.abc import Callable
from pathlib import Path

import pytest
from programs import completed
from sample_report import install, run_test
from sample_site import CORE, LIBRARIES, Site, compile_library

# Both count devices by functions of rocm_smi that they call by name, and have; each finds as many as its number.
SMI = """
int rsmi_init(void) {{ return {number}; }}
int rsmi_count(void) {{ return {number}; }}
int {name}_count(void) {{ return rsmi_init() == {number} && rsmi_count() == {number} ? {number} : 0; }}
"""
OPEN_GLOBAL = "import ctypes; ctypes.CDLL({!r}, mode=ctypes.RTLD_GLOBAL)\n"
COUNT_AMD = "print(ctypes.CDLL('libamd_smi.so.26').amdsmi_count())"
COUNT = f"{COUNT_AMD}; print(ctypes.CDLL('librocm_smi64.so.7').smi_count())"


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    """Return the library directory of an SDK with rocm_smi64, which finds 1 device, and amd_smi, which finds 8."""
    site = Site(tmp_path / "site", rpath="rpath")
    site.library("libamdhip64.so.7", "int hipInit(void) { return 0; }")
    site.library("libamd_comgr.so.3")
    site.library("librocm_smi64.so.7", SMI.format(number=1, name="smi"))
    site.library("libamd_smi.so.26", SMI.format(number=8, name="amdsmi"))
    site.library("librccl.so.1", "int rccl;", (site.path / CORE / "lib/librocm_smi64.so.7",), LIBRARIES)
    install(site)
    return site.path / CORE / "lib"


def site_of(lib: Path) -> Site:
    return Site(lib.parents[1])


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return the libamd_smi of another package, under the SONAME of the SDK's."""
    (tmp_path / "other").mkdir()
    return compile_library(tmp_path / "other/libamd_smi.so.26", "libamd_smi.so.26", SMI.format(number=8, name="amdsmi"))


# ---- rocm_smi64 is global, then amd_smi is opened (rocm-systems 7643, pytorch 186516) ----


@pytest.mark.parametrize("wish", [None, "rocm_smi64"])
def test_7643_a_foreign_amd_smi_behind_a_global_rocm_smi64(
    lib: Path, foreign: Path, program: Callable[..., int], wish: str | None
) -> None:
    """The right answer is to preload amd_smi before. ROCM_SDK_ISOLATE changes nothing: other code made it global.

    The import opens libamd_smi by its name, which LD_LIBRARY_PATH leads to the other package.
    """
    site = site_of(lib)
    other = OPEN_GLOBAL.format(f"{lib}/librocm_smi64.so.7")
    imported = "library = ctypes.CDLL('libamd_smi.so.26')\n"
    variables = {"LD_LIBRARY_PATH": str(foreign.parent)} | ({"ROCM_SDK_ISOLATE": wish} if wish else {})
    assert site.output(f"{other}{imported}print(library.amdsmi_count())", **variables) == "0"
    said = run_test(site.path, "--pid", str(program(site.path, f"import rocm_sdk\n{other}{imported}", **variables)))
    found = said.only("W-BIND-001")
    assert found["path"] == str(foreign)
    assert "ISOLATE" not in found["fix"]
    call = 'rocm_sdk.preload_libraries("amd_smi", "rocm_smi64")'
    assert f"Preload amd_smi with rocm_sdk before other code opens {lib}/librocm_smi64.so.7: {call}" in found["fix"]
    fixed = f"import rocm_sdk; {call}\n{other}{imported}"
    assert site.output(f"{fixed}print(library.amdsmi_count())", **variables) == "8"
    assert run_test(site.path, "--pid", str(program(site.path, fixed, **variables))).codes == set()


@pytest.mark.parametrize("names", [("amd_smi",), ("amdhip64", "amd_smi"), ("rccl", "amd_smi", "rocm_smi64")])
@pytest.mark.parametrize("opened", ["rocm_smi64", "other"])
def test_7643_the_loader_opens_amd_smi_behind_a_global_definer(
    lib: Path, tmp_path: Path, names: tuple[str, ...], opened: str
) -> None:
    """The guard opens it RTLD_DEEPBIND by itself: 8 of 8 devices, and no warning of what does not happen."""
    other = compile_library(tmp_path / "libother.so", "libother.so", SMI.format(number=4, name="other"))
    first = OPEN_GLOBAL.format(str(other) if opened == "other" else f"{lib}/librocm_smi64.so.7")
    code = f"{first}import rocm_sdk; rocm_sdk.preload_libraries(*{names!r})\n{COUNT_AMD}"
    done = site_of(lib).run(code, PYTHONWARNINGS="error")
    assert (done.stdout.strip(), done.stderr) == ("8", "")
    plan = f"{first}import rocm_sdk; print(rocm_sdk.load_plan('amd_smi').steps[0].reason)"
    assert "bound with RTLD_DEEPBIND: " in site_of(lib).output(plan)
    assert "is in the global scope, and both have rocm_smi's functions" in site_of(lib).output(plan)


@pytest.mark.parametrize(
    ("wish", "advice"), [(None, "ISOLATE=roctx64"), ("roctx64", 'preload_libraries("roctracer64", ')]
)
def test_7643_the_wish_is_not_advised_again(
    lib: Path, program: Callable[..., int], wish: str | None, advice: str
) -> None:
    """Where the loader may have made roctx64 global, its variable helps; where that is set already, it has not."""
    site = site_of(lib)
    for name in ("roctx64", "roctracer64"):
        site.library(f"lib{name}.so.4", f"int who(void) {{ return {len(name)}; }} int {name}(void) {{ return who(); }}")
    code = "import rocm_sdk\n" + "".join(
        OPEN_GLOBAL.format(f"{lib}/lib{name}.so.4") for name in ("roctx64", "roctracer64")
    )
    variables = {"ROCM_SDK_ISOLATE": wish} if wish else {}
    said = run_test(site.path, "--pid", str(program(site.path, code, **variables)))
    assert advice in said.only("W-BIND-001")["fix"]


def test_7643_a_wish_for_deepbind_is_not_warned_of(lib: Path) -> None:
    first = OPEN_GLOBAL.format(f"{lib}/librocm_smi64.so.7")
    code = f"{first}import rocm_sdk; rocm_sdk.preload_libraries('amd_smi')\n{COUNT}"
    done = site_of(lib).run(code, PYTHONWARNINGS="error", ROCM_SDK_ISOLATE="amd_smi:deepbind")
    assert done.stdout.split() == ["8", "1"]


# ---- where RTLD_DEEPBIND does harm ----


@pytest.fixture
def address_sanitizer() -> str:
    """Return the runtime of AddressSanitizer, as LD_PRELOAD brings it into an interpreter."""
    return completed(["gcc", "-print-file-name=libasan.so"]).stdout.strip()


def test_7643_not_under_address_sanitizer(lib: Path, address_sanitizer: str) -> None:
    """The sanitizer's dlopen ends the process at RTLD_DEEPBIND.

    So the loader leaves RTLD_DEEPBIND out, and says what will happen and why.
    """
    first = OPEN_GLOBAL.format(f"{lib}/librocm_smi64.so.7")
    variables = {"LD_PRELOAD": address_sanitizer, "ASAN_OPTIONS": "detect_leaks=0"}
    deep = f"import ctypes, os; ctypes.CDLL('{lib}/libamd_smi.so.26', mode=os.RTLD_DEEPBIND | os.RTLD_NOW)"
    refused = site_of(lib).run(deep, check=False, **variables)
    assert refused.returncode != 0
    assert "RTLD_DEEPBIND" in refused.stderr
    code = f"{first}import rocm_sdk; rocm_sdk.preload_libraries('amd_smi')\n{COUNT}"
    done = site_of(lib).run(code, **variables)
    assert done.stdout.split()[0] == "0"
    assert "will call rsmi_init and other functions of" in done.stderr
    assert "the sanitizer's runtime refuses RTLD_DEEPBIND" in done.stderr
    assert Path(address_sanitizer).resolve().name.partition(".so")[0] in done.stderr


ALLOCATOR = """
#include <stddef.h>
void *__libc_malloc(size_t size);
int allocator_calls;
void *malloc(size_t size) { allocator_calls++; return __libc_malloc(size); }
"""
CXX_ALLOCATOR = """
#include <stddef.h>
void *__libc_malloc(size_t size);
void *_Znwm(size_t size) { return __libc_malloc(size); }
"""


@pytest.mark.parametrize("source", [ALLOCATOR, CXX_ALLOCATOR], ids=["malloc", "operator new"])
def test_7643_not_where_a_preloaded_allocator_would_be_passed_by(lib: Path, tmp_path: Path, source: str) -> None:
    allocator = compile_library(tmp_path / "liballocator.so", "liballocator.so", source)
    first = OPEN_GLOBAL.format(f"{lib}/librocm_smi64.so.7")
    code = f"{first}import rocm_sdk; rocm_sdk.preload_libraries('amd_smi')\n{COUNT}"
    done = site_of(lib).run(code, LD_PRELOAD=str(allocator))
    assert done.stdout.split()[0] == "0"
    assert f"would keep them apart, would pass by the program's allocator ({allocator})" in done.stderr
    wished = site_of(lib).run(code, LD_PRELOAD=str(allocator), ROCM_SDK_ISOLATE="amd_smi:deepbind")
    assert (wished.stdout.split()[0], wished.stderr) == ("8", "")


# ---- torch opens the libraries by itself, leaf first and RTLD_GLOBAL (pytorch 188454) ----

TORCH = """
import ctypes
def preload(names=("libamdhip64.so.7", "{first}", "{second}")):
    for name in names:
        ctypes.CDLL("{lib}/" + name, mode=ctypes.RTLD_GLOBAL)
"""
INIT = """
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "rocm_smi64", "rccl", "amd_smi"])
"""


def torch(lib: Path, first: str, second: str) -> str:
    return TORCH.format(lib=lib, first=first, second=second)


SMIS = ("librocm_smi64.so.7", "libamd_smi.so.26")


@pytest.mark.parametrize("order", [SMIS, SMIS[::-1]])
def test_188454_torch_preloads_behind_rocm_init(lib: Path, order: tuple[str, str]) -> None:
    done = site_of(lib).run(f"{torch(lib, *order)}{INIT}preload()\n{COUNT}", PYTHONWARNINGS="error")
    assert done.stdout.split() == ["8", "1"]


@pytest.mark.parametrize(("first", "counts"), [(SMIS[0], ["8", "1"]), (SMIS[1], ["8", "1"])])
def test_188454_torch_preloads_one_before_rocm_init(lib: Path, first: str, counts: list[str]) -> None:
    """Libraries that torch has opened are bound; a library that the loader opens behind them calls its functions."""
    code = f"{torch(lib, first, first)}preload()\n{INIT}{COUNT}"
    done = site_of(lib).run(code, PYTHONWARNINGS="error")
    assert done.stdout.split() == counts


def test_188454_torch_has_bound_both_before_rocm_init(lib: Path) -> None:
    """Nothing binds a library a second time.

    The wrong bindings are told, with a fix.
    """
    told = "\nprint(*(f'{each.code} {each.fix}' for each in rocm_sdk.check_process()), sep='\\n')"
    done = site_of(lib).run(f"{torch(lib, *SMIS)}preload()\n{INIT}{COUNT}{told}")
    amd, smi, *problems = done.stdout.splitlines()
    assert (amd, smi) == ("0", "1")
    (problem,) = problems
    assert problem.startswith("W-BIND-001 Preload amd_smi with rocm_sdk before other code opens ")
