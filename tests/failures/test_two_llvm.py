"""A graphics driver's libLLVM and the SDK's in one process."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sample_report import install, run_test
from sample_site import CORE, Site, compile_library


def llvm(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    script = path.with_suffix(".versions")
    script.write_text(f"LLVM_{version} {{ global: LLVMGetVersion; }};")
    flags = (f"-Wl,--version-script={script}",)
    return compile_library(path, path.name, "int LLVMGetVersion(void) { return 1; }", flags=flags)


@pytest.mark.parametrize(("version", "codes"), [("18.1", {"E-PROC-001", "W-PROC-002"}), ("15.0", {"W-PROC-002"})])
def test_only_symbols_of_one_version_collide(
    linked_site: Site, tmp_path: Path, program: Callable[..., int], version: str, codes: set[str]
) -> None:
    install(linked_site)
    ours = llvm(linked_site.path / CORE / "lib/llvm/lib/libLLVM.so.18.1", "18.1")
    theirs = llvm(tmp_path / f"driver/libLLVM-{version.partition('.')[0]}.so.1", version)
    code = f"import ctypes; ctypes.CDLL({str(ours)!r}); ctypes.CDLL({str(theirs)!r})"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert said.codes == codes
    assert said.only("W-PROC-002")["path"] == str(theirs)


@pytest.mark.parametrize("of_sdk", [False, True], ids=["the SDK has none", "the SDK has it"])
def test_what_a_library_of_the_sdk_needs_is_no_mixture(
    linked_site: Site, tmp_path: Path, program: Callable[..., int], *, of_sdk: bool
) -> None:
    """comgr of a distribution needs the system's libLLVM. One in the place of the SDK's own is another ROCm's."""
    theirs = llvm(tmp_path / "system/libLLVM.so.19.1", "19.1")
    comgr = linked_site.library("libamd_comgr.so.3", needed=(theirs,))
    if of_sdk:
        llvm(linked_site.path / CORE / "lib/llvm/lib/libLLVM.so.19.1", "19.1")
    install(linked_site)
    code = f"import ctypes; ctypes.CDLL({str(theirs)!r}); ctypes.CDLL({str(comgr)!r})"
    said = run_test(linked_site.path, "--pid", str(program(linked_site.path, code)))
    assert said.codes == ({"W-PROC-002"} if of_sdk else set())
