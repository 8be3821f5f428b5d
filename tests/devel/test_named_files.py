"""Headers, static libraries, bitcode and tools by name, in Python and as `rocm-sdk path`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ended import assert_refused, succeeded
from sample_devel import DevelSite, link, member, sample_members, write

TREE = "_rocm_sdk_devel"
CORE = "_rocm_sdk_core"
MORE = [
    member(f"{TREE}/lib/llvm/amdgcn/bitcode/ocml.bc", b"BC"),
    member(f"{TREE}/lib/llvm/include/llvm/IR/Module.h", b""),
    member(f"{TREE}/include/rocblas.h", b""),
    member(f"{TREE}/bin/data", b"not to be run"),
]

FOUND = [
    ("find_headers", "--header", "hip", "include", "directory name"),
    ("find_headers", "--header", "amdhip64", "include", "directory name"),
    ("find_headers", "--header", "hip/hip_runtime.h", "include", "file name"),
    ("find_headers", "--header", "hip/hip_runtime", "include", "file name"),
    ("find_headers", "--header", "rocblas", "include", "file name"),
    ("find_headers", "--header", "LLVM", "lib/llvm/include", "directory name"),
    ("find_static_library", "--static", "static", "lib/libstatic.a", "file name"),
    ("find_bitcode", "--bitcode", "ocml", "lib/llvm/amdgcn/bitcode/ocml.bc", "file name"),
    ("find_tool", "--tool", "tool", "bin/tool", "file name"),
    ("find_tool", "--tool", "clang-20", "lib/llvm/bin/clang-20", "file name"),
]


@pytest.fixture
def site(devel_site: DevelSite) -> DevelSite:
    devel_site.install_devel([*sample_members(), *MORE])
    return devel_site


def ask(site: DevelSite, call: str) -> list[str]:
    """Return the answer as a list, or the class, the message and the fix of the error."""
    code = f"""
import json, rocm_sdk
try:
    print(json.dumps(rocm_sdk.{call}))
except rocm_sdk.RocmSdkError as error:
    print(json.dumps([type(error).__name__, error.message, error.fix]))
"""
    answer = succeeded([sys.executable, "-c", code], env=site.environment())
    assert answer.stderr == ""
    result: list[str] = json.loads(answer.stdout)
    return result


@pytest.mark.parametrize("row", FOUND)
def test_what_the_tree_has(site: DevelSite, row: tuple[str, ...]) -> None:
    """The first question extracts the tree."""
    function, option, name, path, found_via = row
    assert ask(site, f"{function}({name!r})") == [name, str(site.tree / path), "devel", found_via]
    assert site.command("path", option, name).stdout == f"{site.tree / path}\n"


def test_core_comes_first_and_nothing_is_extracted_for_it(site: DevelSite) -> None:
    for name in ("bin/hipcc", "lib/llvm/amdgcn/bitcode/ocml.bc", "include/hip/version.h"):
        write(site.path / CORE / name, b"")
    (site.path / CORE / "bin/hipcc").chmod(0o755)
    assert ask(site, "find_tool('hipcc')") == ["hipcc", f"{site.path}/{CORE}/bin/hipcc", "core", "file name"]
    assert ask(site, "find_bitcode('ocml')")[1] == f"{site.path}/{CORE}/lib/llvm/amdgcn/bitcode/ocml.bc"
    assert ask(site, "find_headers('hip')")[1] == f"{site.path}/{CORE}/include"
    assert not site.tree.exists()


def test_without_extraction(site: DevelSite) -> None:
    kind, message, fix = ask(site, "find_headers('hip', extract=False)")
    assert (kind, fix) == ("LibraryNotFoundError", "extract the development tree: rocm-sdk init")
    assert f"looked into {site.path}/{CORE}/include" in message
    assert not site.tree.exists()
    site.command("init")
    assert ask(site, "find_headers('hip', extract=False)")[1] == f"{site.tree}/include"


@pytest.mark.parametrize(
    ("call", "near"),
    [
        ("find_headers('hipp')", "hip"),
        ("find_static_library('statik')", "static"),
        ("find_bitcode('ocmll')", "ocml"),
        ("find_tool('clangg-20')", "clang-20"),
    ],
)
def test_what_is_not_there(site: DevelSite, call: str, near: str) -> None:
    kind, message, fix = ask(site, call)
    assert kind == "LibraryNotFoundError"
    assert message.startswith("the SDK has no ")
    assert f"{site.path}/{CORE}/" in message
    assert f"{site.tree}/" in message
    assert near in fix.removeprefix("did you mean ").removesuffix("?").split(" or ")


@pytest.mark.parametrize("archive", ["_devel.tar", "_devel.tar.xz"])
def test_a_wrong_name_extracts_nothing(devel_site: DevelSite, archive: str) -> None:
    """The archive's headers say what it has."""
    devel_site.install_devel([*sample_members(), *MORE], archive=archive)
    before = sorted(devel_site.path.iterdir())
    for call, near in (("find_tool('clangg-20')", "clang-20"), ("find_headers('hipp')", "hip")):
        kind, message, fix = ask(devel_site, call)
        assert kind == "LibraryNotFoundError"
        assert f"{devel_site.tree}/" in message
        assert near in fix.removeprefix("did you mean ").removesuffix("?").split(" or ")
    assert ask(devel_site, "find_tool('quite-another')")[2].endswith(
        f"tar -tf {devel_site.path}/rocm_sdk_devel/{archive}"
    )
    result = devel_site.command("run", "clangg-20", check=False)
    assert (result.returncode, result.stdout) == (127, "")
    assert result.stderr == (
        "rocm-sdk: clangg-20: no such program in the SDK or in PATH\n  fix: did you mean clang-20?\n"
    )
    assert sorted(devel_site.path.iterdir()) == before


def test_a_directory_that_is_a_link_may_have_it(devel_site: DevelSite) -> None:
    devel_site.install_devel([*sample_members(), link(f"{TREE}/lib/host-math/lib", "../rocm_sysdeps")])
    assert ask(devel_site, "find_static_library('statik')")[0] == "LibraryNotFoundError"
    assert devel_site.tree.exists()


def test_a_file_that_cannot_be_run_is_no_tool(site: DevelSite) -> None:
    assert ask(site, "find_tool('data')")[0] == "LibraryNotFoundError"


@pytest.mark.parametrize("name", ["", ".", "..", "../bin/tool", "/bin/sh", "a\0b", "hip/../../x", "hip//x"])
@pytest.mark.parametrize("function", ["find_headers", "find_static_library", "find_bitcode", "find_tool"])
def test_a_name_leads_nowhere_else(site: DevelSite, function: str, name: str) -> None:
    assert ask(site, f"{function}({name!r})")[0] == "UnknownLibraryError"
    assert not site.tree.exists()


def test_without_the_development_package(site: DevelSite) -> None:
    shutil.rmtree(site.path / "rocm_sdk_devel")
    kind, message, fix = ask(site, "find_headers('hip')")
    assert kind == "PackageNotInstalledError"
    assert message.startswith("the runtime packages have no headers 'hip', and ")
    assert "devel" in fix


def test_the_command_says_it_in_its_own_words(site: DevelSite) -> None:
    result = site.command("path", "--tool", "hipc", check=False)
    assert_refused(result, 1, "rocm-sdk: the SDK has no tool 'hipc'")
    assert "Traceback" not in result.stderr
    assert "not allowed with" in site.command("path", "--tool", "hipcc", "--header", "hip", check=False).stderr


def test_what_is_found_compiles(site: DevelSite, tmp_path: Path) -> None:
    include = ask(site, "find_headers('hip')")[1]
    source = tmp_path / "program.c"
    source.write_text("#include <hip/hip_runtime.h>\nint main(void) { return 0; }\n")
    subprocess.run(["cc", f"-I{include}", str(source), "-o", os.devnull], check=True)
