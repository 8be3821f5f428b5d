"""A graphics driver's libLLVM and the SDK's in one process."""

from __future__ import annotations

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
