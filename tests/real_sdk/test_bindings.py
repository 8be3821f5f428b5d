"""The file that each symbol binds to: the foreseen bindings of AMD's libraries are the dynamic linker's."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from linker_bindings import compare, debugging, linker_bindings
from sample_site import run_interpreter, run_python

pytestmark = pytest.mark.slow

NAMES = ("amdhip64", "rocm_smi64", "amd_comgr", "hiprand", "hipsparse", "hiprtc-builtins", "rocsparse", "hsa-runtime64")

FORESEE = f"""
import json, rocm_sdk
bindings = rocm_sdk.bindings(*{NAMES!r}, every=True)
print(json.dumps([bindings.references, bindings.missing, bindings.pairs]))
"""
LOAD = f"""
import json, rocm_sdk
rocm_sdk.preload_libraries(*{NAMES!r})
print(json.dumps(rocm_sdk.process_bindings(every=True).references))
"""


@pytest.mark.parametrize("read_ahead", ["0", "1"], ids=["files found by the linker", "files opened by path"])
def test_each_reference_binds_as_foreseen(each_debian_sdk: Path, read_ahead: str, tmp_path: Path) -> None:
    site = str(each_debian_sdk)
    references, missing, pairs = json.loads(run_python(FORESEE, PYTHONPATH=site).stdout)
    assert not missing
    assert {pair[-1] for pair in pairs} <= {"meant", "vague", "weak", "c++-runtime", "c-library"}
    variables = {"PYTHONPATH": site, "ROCM_SDK_READ_AHEAD": read_ahead}
    bound = json.loads(run_python(LOAD, **variables, **debugging(tmp_path / "told")).stdout)
    linker = linker_bindings(tmp_path / "told")
    foreseen = compare("foreseen", _of(references), linker)
    assert foreseen["compared"] > 15_000
    assert foreseen["not known"] == 0
    assert foreseen["without relocation"] <= 5  # HIP asks dlsym for pthread_setaffinity_np
    process = compare("of the process", [each for each in _of(bound) if site in each[0]], linker)
    assert process["compared"] > 15_000
    assert process["not known"] < process["compared"] / 20


def _of(references: list[list[str]]) -> list[tuple[str, str, str, str, str]]:
    return [(library, symbol, version, to, verdict) for library, symbol, version, to, _, verdict in references]


def test_another_copy_of_a_library_is_a_fault(debian_sdk: Callable[[str], Path], tmp_path: Path) -> None:
    """ROCm's real rocm_smi, opened globally by hand before a library that has its functions too."""
    real = debian_sdk("rpath") / "_rocm_sdk_core/lib/librocm_smi64.so.1"
    source = "int rsmi_init(long flags) { return flags; } int amdsmi_init(void) { return rsmi_init(7); }"
    stand_in = tmp_path / "libamd_smi.so.26"
    os.system(f"echo '{source}' | cc -shared -fPIC -x c - -o {stand_in} -Wl,-soname,libamd_smi.so.26")
    program = f"""
import ctypes, rocm_sdk
ctypes.CDLL({str(real)!r}, ctypes.RTLD_GLOBAL)
(found,) = [each for each in rocm_sdk.bindings(files=[{str(stand_in)!r}]).references]
print(found.symbol, found.bound_to, found.instead, found.verdict)
"""
    found = run_python(program, PYTHONPATH=str(debian_sdk("rpath"))).stdout.split()
    assert found == ["rsmi_init", str(real), str(stand_in), "other-function"]


_MAPPED = """
import os, sys, rocm_sdk
rocm_sdk.preload_libraries(sys.argv[1])
mapped = {line.split()[-1] for line in open("/proc/self/maps")}
print(*(path for path in mapped if path.startswith(sys.argv[2])), sep="\\n")
"""


def test_the_tree_is_what_a_fresh_interpreter_loads(each_debian_sdk: Path) -> None:
    """`rocm-sdk tree` has loaded libraries of the system, which a process that loads the SDK need not have."""
    site = str(each_debian_sdk)
    for name in NAMES:
        tree = json.loads(run_interpreter("-m", "rocm_sdk", "tree", name, "--json", PYTHONPATH=site).stdout)
        shown = {each["path"] for step in tree["steps"] for each in (step, *step["brings"])}
        mapped = run_interpreter("-c", _MAPPED, name, f"{site}/", PYTHONPATH=site).stdout.splitlines()
        assert {os.path.realpath(path) for path in shown} == set(mapped)
