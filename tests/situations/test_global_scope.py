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
PRELOAD = f"import rocm_sdk; rocm_sdk.preload_libraries('amd_smi')\n{COUNT}"


class Sdk(Site):
    """An SDK with rocm_smi64, which finds 1 device, and amd_smi, which finds 8."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, rpath="rpath")
        self.library("libamdhip64.so.7", "int hipInit(void) { return 0; }")
        self.library("libamd_comgr.so.3")
        smi = self.library("librocm_smi64.so.7", SMI.format(number=1, name="smi"))
        self.library("libamd_smi.so.26", SMI.format(number=8, name="amdsmi"))
        self.library("librccl.so.1", "int rccl;", (smi,), LIBRARIES)
        install(self)
        self.lib = self.path / CORE / "lib"
        self.smi = str(smi)
        self.first = OPEN_GLOBAL.format(self.smi)


@pytest.fixture
def sdk(tmp_path: Path) -> Sdk:
    return Sdk(tmp_path / "site")


# ---- rocm_smi64 is global, then amd_smi is opened (rocm-systems 7643, pytorch 186516) ----


@pytest.mark.parametrize("wish", [None, "rocm_smi64"])
def test_7643_a_foreign_amd_smi_behind_a_global_rocm_smi64(
    sdk: Sdk, tmp_path: Path, program: Callable[..., int], wish: str | None
) -> None:
    """The right answer is to preload amd_smi before. ROCM_SDK_ISOLATE changes nothing: other code made it global.

    The import opens libamd_smi by its name, which LD_LIBRARY_PATH leads to another package.
    """
    (tmp_path / "other").mkdir()
    source = SMI.format(number=8, name="amdsmi")
    foreign = compile_library(tmp_path / "other/libamd_smi.so.26", "libamd_smi.so.26", source)
    imported = f"{sdk.first}library = ctypes.CDLL('libamd_smi.so.26')\n"
    variables = {"LD_LIBRARY_PATH": str(foreign.parent)} | ({"ROCM_SDK_ISOLATE": wish} if wish else {})
    assert sdk.output(f"{imported}print(library.amdsmi_count())", **variables) == "0"
    said = run_test(sdk.path, "--pid", str(program(sdk.path, f"import rocm_sdk\n{imported}", **variables)))
    found = said.only("W-BIND-001")
    assert (found["path"], "ISOLATE" in found["fix"]) == (str(foreign), False)
    call = 'rocm_sdk.preload_libraries("amd_smi", "rocm_smi64")'
    assert f"Preload amd_smi with rocm_sdk before other code opens {sdk.smi}: {call}" in found["fix"]
    fixed = f"import rocm_sdk; {call}\n{imported}"
    assert sdk.output(f"{fixed}print(library.amdsmi_count())", **variables) == "8"
    assert run_test(sdk.path, "--pid", str(program(sdk.path, fixed, **variables))).codes == set()


@pytest.mark.parametrize("names", [("amd_smi",), ("rccl", "amd_smi", "rocm_smi64")], ids=["alone", "among others"])
@pytest.mark.parametrize("opened", ["rocm_smi64", "other"])
def test_7643_the_loader_opens_amd_smi_behind_a_global_definer(
    sdk: Sdk, tmp_path: Path, names: tuple[str, ...], opened: str
) -> None:
    """The guard opens it RTLD_DEEPBIND by itself: 8 of 8 devices, and no warning of what does not happen."""
    other = compile_library(tmp_path / "libother.so", "libother.so", SMI.format(number=4, name="other"))
    first = OPEN_GLOBAL.format(str(other)) if opened == "other" else sdk.first
    done = sdk.run(
        f"{first}import rocm_sdk; rocm_sdk.preload_libraries(*{names!r})\n{COUNT_AMD}", PYTHONWARNINGS="error"
    )
    assert (done.stdout.strip(), done.stderr) == ("8", "")
    plan = sdk.output(f"{first}import rocm_sdk; print(rocm_sdk.load_plan('amd_smi').steps[0].reason)")
    assert "bound with RTLD_DEEPBIND: " in plan
    assert "is in the global scope, and both have rocm_smi's functions" in plan


@pytest.mark.parametrize(
    ("wish", "advice"), [(None, "ISOLATE=roctx64"), ("roctx64", 'preload_libraries("roctracer64", ')]
)
def test_7643_the_wish_is_not_advised_again(
    sdk: Sdk, program: Callable[..., int], wish: str | None, advice: str
) -> None:
    """Where the loader may have made roctx64 global, its variable helps; where that is set already, it has not."""
    code = "import rocm_sdk\n"
    for name in ("roctx64", "roctracer64"):
        source = f"int who(void) {{ return {len(name)}; }} int {name}(void) {{ return who(); }}"
        code += OPEN_GLOBAL.format(str(sdk.library(f"lib{name}.so.4", source)))
    variables = {"ROCM_SDK_ISOLATE": wish} if wish else {}
    said = run_test(sdk.path, "--pid", str(program(sdk.path, code, **variables)))
    assert advice in said.only("W-BIND-001")["fix"]


def test_7643_a_wish_for_deepbind_is_not_warned_of(sdk: Sdk) -> None:
    done = sdk.run(f"{sdk.first}{PRELOAD}", PYTHONWARNINGS="error", ROCM_SDK_ISOLATE="amd_smi:deepbind")
    assert done.stdout.split() == ["8", "1"]


# ---- where RTLD_DEEPBIND does harm ----


def test_7643_not_under_address_sanitizer(sdk: Sdk) -> None:
    """The sanitizer's dlopen ends the process at RTLD_DEEPBIND: the loader leaves it out, and says why."""
    runtime = completed(["gcc", "-print-file-name=libasan.so"]).stdout.strip()
    variables = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
    deep = f"import ctypes, os; ctypes.CDLL('{sdk.lib}/libamd_smi.so.26', mode=os.RTLD_DEEPBIND | os.RTLD_NOW)"
    refused = sdk.run(deep, check=False, **variables)
    assert (refused.returncode != 0, "RTLD_DEEPBIND" in refused.stderr) == (True, True)
    done = sdk.run(f"{sdk.first}{PRELOAD}", **variables)
    assert done.stdout.split()[0] == "0"
    assert "will call rsmi_init and other functions of" in done.stderr
    assert "RTLD_DEEPBIND, which would keep them apart, would pass by dlopen of " in done.stderr
    assert Path(runtime).resolve().name.partition(".so")[0] in done.stderr


ALLOCATOR = """
#include <stddef.h>
void *__libc_malloc(size_t size);
void *{name}(size_t size) {{ return __libc_malloc(size); }}
"""


@pytest.mark.parametrize("name", ["malloc", "_Znwm"], ids=["malloc", "operator new"])
def test_7643_not_where_a_preloaded_allocator_would_be_passed_by(sdk: Sdk, tmp_path: Path, name: str) -> None:
    allocator = compile_library(tmp_path / "liballocator.so", "liballocator.so", ALLOCATOR.format(name=name))
    use = f"void *{name}(unsigned long size); void *amdsmi_use(void) {{ return {name}(1); }}"
    sdk.library("libamd_smi.so.26", SMI.format(number=8, name="amdsmi") + use, flags=("-fno-builtin", "-lstdc++"))
    variables = {"LD_PRELOAD": str(allocator)}
    done = sdk.run(f"{sdk.first}{PRELOAD}", **variables)
    assert done.stdout.split()[0] == "0"
    assert f"would keep them apart, would pass by {name} of {allocator};" in done.stderr
    wished = sdk.run(f"{sdk.first}{PRELOAD}", ROCM_SDK_ISOLATE="amd_smi:deepbind", **variables)
    assert (wished.stdout.split()[0], wished.stderr) == ("8", "")


# ---- torch opens the libraries by itself, leaf first and RTLD_GLOBAL (pytorch 188454) ----

TORCH = """
import ctypes
def preload():
    for name in ("libamdhip64.so.7", "{first}", "{second}"):
        ctypes.CDLL("{lib}/" + name, mode=ctypes.RTLD_GLOBAL)
"""
INIT = """
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "rocm_smi64", "rccl", "amd_smi"])
"""
SMIS = ("librocm_smi64.so.7", "libamd_smi.so.26")


def torch(sdk: Sdk, first: str, second: str) -> str:
    return TORCH.format(lib=sdk.lib, first=first, second=second)


@pytest.mark.parametrize("order", [SMIS, SMIS[::-1]], ids=["rocm_smi64 first", "amd_smi first"])
def test_188454_torch_preloads_behind_rocm_init(sdk: Sdk, order: tuple[str, str]) -> None:
    done = sdk.run(f"{torch(sdk, *order)}{INIT}preload()\n{COUNT}", PYTHONWARNINGS="error")
    assert done.stdout.split() == ["8", "1"]


@pytest.mark.parametrize("first", SMIS)
def test_188454_torch_preloads_one_before_rocm_init(sdk: Sdk, first: str) -> None:
    """Libraries that torch has opened are bound; a library that the loader opens behind them calls its functions."""
    done = sdk.run(f"{torch(sdk, first, first)}preload()\n{INIT}{COUNT}", PYTHONWARNINGS="error")
    assert done.stdout.split() == ["8", "1"]


def test_188454_torch_has_bound_both_before_rocm_init(sdk: Sdk) -> None:
    """Nothing binds a library a second time: the wrong bindings are told, with a fix."""
    told = "\nprint(*(f'{each.code} {each.fix}' for each in rocm_sdk.check_process()), sep='\\n')"
    done = sdk.run(f"{torch(sdk, *SMIS)}preload()\n{INIT}{COUNT}{told}")
    amd, smi, problem = done.stdout.splitlines()
    assert (amd, smi) == ("0", "1")
    assert problem.startswith("W-BIND-001 Preload amd_smi with rocm_sdk before other code opens ")
