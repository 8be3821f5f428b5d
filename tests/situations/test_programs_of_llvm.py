"""Programs below lib/llvm/bin that ROCm starts by itself: they are looked at as libraries are, and not started."""

from pathlib import Path

import pytest
from compiled_files import compile_file
from sample_report import install, run_test
from sample_site import CORE, Site, compile_library

SOURCE = "int needed(void); int main(void) { return needed(); }"


def program(sdk: Site, name: str, library: Path, *flags: str) -> Path:
    """Compile a program that needs a library, and that ends its process if it is started."""
    path = sdk.path / CORE / "lib/llvm/bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return compile_file(["cc", "-Wl,--no-as-needed", "-x", "c", "-", "-x", "none", library, *flags], path, SOURCE)


@pytest.mark.parametrize(("name", "needed"), [("ld.lld", "libnoxml.so.2"), ("clang-22", "libnoedit.so.7")])
def test_what_a_program_needs_and_nothing_has(sdk: Site, tmp_path: Path, name: str, needed: str) -> None:
    path = program(sdk, name, compile_library(tmp_path / needed, needed, "int needed(void) { return 0; }"))
    install(sdk)
    found = run_test(sdk.path, "--only", "tools").only("E-LIB-002")
    assert found["title"] == f"{name} needs {needed}, which is in neither the SDK nor the system"
    assert found["path"] == str(path)


@pytest.mark.parametrize("flags", [(), ("-Wl,-rpath,$ORIGIN/../../nowhere",)])
def test_what_the_sdk_has(sdk: Site, flags: tuple[str, ...]) -> None:
    """A search path that leads nowhere is a fault; none is what some distributions have."""
    library = sdk.library("libneeded.so.1", "int needed(void) { return 0; }")
    path = program(sdk, "ld.lld", library, *flags)
    install(sdk)
    said = run_test(sdk.path, "--only", "tools")
    assert [each["path"] for each in said.problems if each["severity"] != "note"] == [str(path)][: len(flags)]
    assert said.codes <= {"E-LIB-004"}


@pytest.mark.parametrize("name", ["opt", "clang-format", "clang"])
def test_sound_and_other_programs(sdk: Site, tmp_path: Path, name: str) -> None:
    """A program that finds what it needs, and programs that ROCm does not start."""
    gone = compile_library(tmp_path / "libgone.so.1", "libgone.so.1", "int needed(void) { return 0; }")
    own = sdk.library("libneeded.so.1", "int needed(void) { return 0; }")
    program(sdk, name, own if name == "clang" else gone, "-Wl,-rpath,$ORIGIN/../..")
    install(sdk)
    assert run_test(sdk.path, "--only", "tools").codes <= {"E-TEST-002"}
