"""`rocm-sdk check` of files that bring their libraries by an RPATH, and an LLVM of their own beside the SDK's."""

import os
from pathlib import Path

import pytest
from checked_files import Call, codes, compile_library, document
from compiled_files import compile_file
from programs import completed
from sample_site import Site

GPU = ("--gpu", "gfx1030")
LLVM = 'const char *llvm_version(void) { return "%s"; }'


@pytest.mark.parametrize("tag", ["--disable-new-dtags", "--enable-new-dtags"])
def test_a_library_where_an_rpath_leads(call: Call, tmp_path: Path, tag: str) -> None:
    helper = compile_library(tmp_path / "app/lib/libhelper.so.1", "libhelper.so.1", "int help(void) { return 0; }")
    flags = (f"-Wl,{tag}", "-Wl,-rpath,$ORIGIN/../lib")
    path = compile_library(
        tmp_path / "app/bin/plugin.so", None, "int help(void); int f(void) { return help(); }", (helper,), flags
    )
    assert codes(document(call, path, *GPU)) == []
    helper.rename(tmp_path / "libhelper.so.1")
    assert codes(document(call, path, *GPU)) == ["E-LIB-002"]
    compile_library(helper, "libhelper.so.1", "int other(void) { return 0; }")
    assert codes(document(call, path, *GPU)) == ["E-LIB-020"]


@pytest.fixture
def comgr(sdk: Site) -> Path:
    """Return the SDK's libamd_comgr, which asks the SDK's LLVM for its version, by a name with a version."""
    script = sdk.write("llvm.map", "LLVM_20.0 { global: llvm_version; };")
    flags = (f"-Wl,--version-script={script}",)
    llvm = sdk.library("libLLVM.so.20.0git", LLVM % "20", directory="lib/llvm/lib", flags=flags)
    source = "const char *llvm_version(void); const char *amd_comgr_version(void) { return llvm_version(); }"
    return sdk.library("libamd_comgr.so.3", source, (llvm,), flags=("-Wl,-rpath,$ORIGIN/llvm/lib",))


def program(path: Path, llvm: Path | None, comgr: Path) -> Path:
    """Compile a program that opens HIP and prints the version of LLVM, its own and the one that the comgr binds.

    The comgr is the SDK's; a program without an LLVM prints only the version of the comgr.
    """
    source = path.with_suffix(".c")
    source.write_text(f"""
#include <dlfcn.h>
#include <stdio.h>
const char *llvm_version(void);
int main(void) {{
    {"puts(llvm_version());" if llvm else ""}
    void *comgr = dlopen("{comgr}", RTLD_NOW);
    const char *(*version)(void) = comgr ? (const char *(*)(void))dlsym(comgr, "amd_comgr_version") : 0;
    puts(version ? version() : dlerror());
    return dlopen("libamdhip64.so.7", RTLD_NOW) == 0;
}}
""")
    libraries = [llvm, "-Wl,-rpath,$ORIGIN"] if llvm else []
    return compile_file(["cc", source, *libraries, "-ldl"], path)


def said_by(path: Path) -> list[str]:
    done = completed([path], env={"PATH": os.environ["PATH"]})
    return done.stdout.split()


@pytest.mark.parametrize(
    ("version", "answers"),
    [("", ["18", "18"]), ("LLVM_18.1", ["18", "20"]), ("LLVM_20.0", ["18", "18"]), (None, ["20"])],
    ids=["no versions", "versions of its own", "the same versions", "no LLVM"],
)
def test_an_llvm_of_its_own(call: Call, tmp_path: Path, comgr: Path, version: str | None, answers: list[str]) -> None:
    """The verdict is as the linker binds: functions of the program's LLVM for libamd_comgr are one problem."""
    llvm = None
    if version is not None:
        script = tmp_path / "script.map"
        script.write_text(f"{version} {{ global: llvm_version; }};")
        flags = (f"-Wl,--version-script={script}",) if version else ()
        llvm = compile_library(tmp_path / "libLLVM.so.18.1", "libLLVM.so.18.1", LLVM % "18", flags=flags)
    blender = program(tmp_path / "blender", llvm, comgr)
    assert said_by(blender) == answers
    found = document(call, blender, *GPU)
    assert found["loads"] is True
    assert codes(found) == (["W-BIND-001"] if answers == ["18", "18"] else [])
    if answers == ["18", "18"]:
        (said,) = found["problems"]  # type: ignore[misc]
        assert said["title"] == "libamd_comgr.so.3 gets functions of another file"
        assert f"llvm_version binds to {llvm}, though " in said["cause"]
        assert f"Link {blender} with a build of {llvm} whose symbols have versions" in said["fix"]


def test_a_library_comes_behind_the_sdk(call: Call, tmp_path: Path, comgr: Path) -> None:
    """As initialize_process loads it: what it has answers for nobody else."""
    path = compile_library(tmp_path / "plugin.so", None, LLVM % "18", (comgr,), ("-Wl,--no-as-needed",))
    assert codes(document(call, path, *GPU)) == []


@pytest.mark.usefixtures("comgr")
def test_an_llvm_of_the_system_is_no_other_release(call: Call, tmp_path: Path) -> None:
    """Distributions have libraries named libLLVM and libclang, too."""
    llvm = compile_library(tmp_path / "libLLVM.so.18.1", "libLLVM.so.18.1", LLVM % "18")
    path = compile_library(tmp_path / "plugin.so", None, "", (llvm,), ("-Wl,--no-as-needed", str(llvm)))
    llvm.unlink()
    assert codes(document(call, path, *GPU)) == ["E-LIB-002"]
