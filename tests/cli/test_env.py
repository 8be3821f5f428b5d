"""`rocm-sdk env`: what real shells make of it."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import assert_refused
from sample_device_code import bundle, library, objects
from sample_machine import Machine
from sample_site import LIBRARIES, Site, compile_library
from system_programs import find

from rocm_sdk.devel.compilers import has_bitcode

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]

EXPECTED = {
    "ROCM_PATH": "{root}",
    "ROCM_HOME": "{root}",
    "HIP_DEVICE_LIB_PATH": "{root}/lib/llvm/amdgcn/bitcode",
    "CMAKE_PREFIX_PATH": "{root}/lib/cmake",
    "PKG_CONFIG_PATH": "{root}/lib/pkgconfig:/else where",
    "PATH": "{root}/bin:/usr/bin:/bin",
    "LDFLAGS": "-Wl,-rpath-link,{root}/lib -Wl,-z,now",
}


def variables_after(shell: str, script: str, text: str) -> dict[str, str]:
    """Return the environment of a program that a shell starts, after the shell has evaluated `text`."""
    program = find(shell)
    before = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": "/else where", "LDFLAGS": "-Wl,-z,now", "TEXT": text}
    with tempfile.TemporaryDirectory() as home:  # fish writes into it
        before["HOME"] = home
        output = subprocess.run([program, "-c", script], env=before, capture_output=True, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in output.split("\0") if line)


@pytest.mark.parametrize(
    ("shell", "options", "script"),
    [
        ("sh", [], 'eval "$TEXT"; env -0'),
        ("bash", ["--sh"], 'set -eu; eval "$TEXT"; env -0'),
        ("zsh", ["--sh"], 'set -eu; eval "$TEXT"; env -0'),
        ("fish", ["--fish"], "echo $TEXT | source; env -0"),
    ],
)
def test_shells_take_it(call: Call, devel_tree: Path, shell: str, options: list[str], script: str) -> None:
    result = call("env", *options)
    assert (result.returncode, result.stderr) == (0, "")
    after = variables_after(shell, script, result.stdout)
    expected = {name: value.format(root=devel_tree) for name, value in EXPECTED.items()}
    assert {name: after.get(name) for name in expected} == expected
    assert (devel_tree / "lib/cmake/hip/hip-config.cmake").is_file()


@pytest.mark.parametrize(
    ("shell", "options", "script"),
    [("sh", ["--sh"], 'eval "$TEXT"; env -0'), ("fish", ["--fish"], "echo $TEXT | source; env -0")],
)
def test_odd_directories(shell: str, options: list[str], script: str) -> None:
    from rocm_sdk.cli.env import _FORMS, Variables

    odd = '/it\'s $HOME \\ "here"'
    text = "\n".join(_FORMS[options[0][2:]](Variables({"ROCM_PATH": odd}, {"PATH": f"{odd}/bin"}, [])))
    after = variables_after(shell, script, text)
    assert (after["ROCM_PATH"], after["PATH"]) == (odd, f"{odd}/bin:/usr/bin:/bin")


@pytest.mark.parametrize("name", ["tree", "a tree, with 'marks'"])
def test_a_linker_finds_what_libraries_need(tmp_path: Path, name: str) -> None:
    """Libraries of the tree say nothing of each other's directory; make and CMake give LDFLAGS to a shell as it is."""
    from rocm_sdk.cli.env import _linker_options

    root = tmp_path / name
    (root / "lib/rocm_sysdeps/lib").mkdir(parents=True)
    below = compile_library(root / "lib/rocm_sysdeps/lib/libbelow.so", "libbelow.so", "int below(void) { return 1; }")
    text = "int below(void); int hip(void) { return below(); }"
    hip = compile_library(root / "lib/libhip.so", "libhip.so", text, (below,))
    (tmp_path / "main.c").write_text("int hip(void); int main(void) { return hip(); }")
    words = f"gcc {tmp_path}/main.c -x none {shlex.quote(str(hip))} -o {tmp_path}/program"
    alone = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert "undefined reference to `below'" in alone.stderr
    subprocess.run(["sh", "-c", f"{words} {_linker_options(str(root))}"], check=True)


def test_json(call: Call, devel_tree: Path) -> None:
    result = call("env", "--json")
    assert json.loads(result.stdout) == {
        "schema": 1,
        "set": {
            "ROCM_PATH": str(devel_tree),
            "ROCM_HOME": str(devel_tree),
            "HIP_DEVICE_LIB_PATH": f"{devel_tree}/lib/llvm/amdgcn/bitcode",
        },
        "prepend": {
            "CMAKE_PREFIX_PATH": f"{devel_tree}/lib/cmake",
            "PKG_CONFIG_PATH": f"{devel_tree}/lib/pkgconfig",
            "PATH": f"{devel_tree}/bin",
        },
        "options": {
            "LDFLAGS": f"-Wl,-rpath-link,{devel_tree}/lib",
        },
        "unset": [],
    }


def test_for_extensions_of_torch(call: Call, devel_tree: Path) -> None:
    result = call("env", "--for", "torch-extension", PATH="/usr/bin:/bin")
    assert (result.returncode, result.stdout) == (0, f"export ROCM_HOME={devel_tree}\n")
    assert call("path", "--home").stdout == f"{devel_tree}\n"
    document = json.loads(call("path", "--home", "--json").stdout)
    assert (document["path"], document["package"]) == (str(devel_tree), "devel")
    assert_refused(call("env", "--for", "cmake"), 2, "fix: take one of build, torch-extension")


def test_without_a_development_package_home_is_core(call: Call, sdk: Site) -> None:
    assert call("path", "--home").stdout == f"{sdk.path}/_rocm_sdk_core\n"
    assert call("env", "--for", "torch-extension").stdout == f"export ROCM_HOME={sdk.path}/_rocm_sdk_core\n"
    assert json.loads(call("path", "--home", "--json").stdout)["package"] == "core"
    assert call("path", "--root").returncode == 1


def test_without_the_cache_of_comgr(call: Call, devel_tree: Path) -> None:
    """Alone it needs no development tree; a build has it beside its own variables."""
    assert call("env", "--no-comgr-cache").stdout == "export AMD_COMGR_CACHE=0\n"
    assert not devel_tree.exists()
    text = call("env", "--for", "build", "--no-comgr-cache").stdout
    assert f"export ROCM_PATH={devel_tree}\n" in text
    assert "export AMD_COMGR_CACHE=0\n" in text


def test_for_extensions_and_some_gpus(call: Call, devel_tree: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.gpu(1, "gfx1100")
    words = ("env", "--for", "torch-extension", "--gpu", "discrete")
    lines = call(*words, ROCM_SDK_ROOTFS=str(machine.root)).stdout.splitlines()
    assert lines == [f"export ROCM_HOME={devel_tree}", "export HIP_VISIBLE_DEVICES=0"]


def test_what_the_tree_has_not_is_left_out(call: Call, devel_tree: Path) -> None:
    assert call("env").returncode == 0
    (devel_tree / "lib/llvm/amdgcn/bitcode").rename(devel_tree / "elsewhere")
    (devel_tree / "lib/pkgconfig").rename(devel_tree / "share")
    variables = json.loads(call("env", "--json").stdout)
    assert set(variables["set"]) == {"ROCM_PATH", "ROCM_HOME"}
    assert set(variables["prepend"]) == {"CMAKE_PREFIX_PATH", "PATH"}


def test_opencl(call: Call, sdk: Site, devel_tree: Path) -> None:
    assert devel_tree.parent == sdk.path
    assert_refused(call("env", "--opencl"), 1, "amdocl64")
    library = sdk.library("libamdocl64.so.2")
    assert json.loads(call("env", "--opencl", "--json").stdout)["set"]["OCL_ICD_VENDORS"] == str(library)
    icd = sdk.write("_rocm_sdk_core/etc/OpenCL/vendors/amdocl64.icd", "libamdocl64.so.2\n")
    assert json.loads(call("env", "--opencl", "--json").stdout)["set"]["OCL_ICD_VENDORS"] == str(icd.parent)


def test_without_the_development_package(call: Call) -> None:
    result = call("env")
    assert (result.returncode, result.stdout) == (1, "")
    assert "rocm-sdk-devel" in result.stderr or "rocm[devel]" in result.stderr


@pytest.fixture
def clang(tmp_path: Path) -> Path:
    """Return a directory with two clangs."""
    for name in ("clang++", "clang++-19"):
        (tmp_path / "a bin").mkdir(exist_ok=True)
        (tmp_path / "a bin" / name).write_text("#!/bin/sh\n")
        (tmp_path / "a bin" / name).chmod(0o755)
    return tmp_path / "a bin"


@pytest.mark.parametrize(("name", "driver"), [("clang", "clang++"), ("clang-19", "clang++-19"), ("clang++", "clang++")])
def test_a_compiler_that_is_not_of_the_sdk(call: Call, devel_tree: Path, clang: Path, name: str, driver: str) -> None:
    words = ("env", "--compiler", name, "--targets", "gfx1030,gfx906", "--json")
    variables = json.loads(call(*words, PATH=f"{clang}:{os.environ['PATH']}").stdout)["set"]
    assert variables["HIPCXX"] == str(clang / driver)
    assert variables["HIP_PLATFORM"] == "amd"
    assert shlex.split(variables["HIPFLAGS"]) == [
        f"--rocm-path={devel_tree}",
        f"--rocm-device-lib-path={devel_tree}/lib/llvm/amdgcn/bitcode",
        "--offload-arch=gfx1030",
        "--offload-arch=gfx906",
        "--start-no-unused-arguments",  # CMake's identification of the compiler links, and has no LDFLAGS
        f"-Wl,-rpath-link,{devel_tree}/lib",
        "--end-no-unused-arguments",
    ]
    by_path = json.loads(call("env", "--compiler", str(clang / name), *words[3:]).stdout)["set"]
    assert by_path == variables
    assert variables.get("HIP_CLANG_PATH") == (str(clang) if driver == "clang++" else None)


def test_hipcc_finds_a_clang_of_a_distribution(call: Call, devel_tree: Path, clang: Path, tmp_path: Path) -> None:
    """As in Debian: /usr/bin/clang++-14 leads to /usr/lib/llvm-14/bin, where it is clang++."""
    assert devel_tree
    own = tmp_path / "llvm-20/bin"
    own.mkdir(parents=True)
    shutil.copy(clang / "clang++", own / "clang")
    (own / "clang++").symlink_to("clang")
    (clang / "clang++-20").symlink_to(own / "clang++")
    words = ("env", "--compiler", str(clang / "clang-20"), "--targets", "gfx1030", "--json")
    variables = json.loads(call(*words).stdout)["set"]
    assert (variables["HIPCXX"], variables["HIP_CLANG_PATH"]) == (str(clang / "clang++-20"), str(own))


@pytest.mark.parametrize(
    ("built_for", "bitcode", "example"),
    [
        ("gfx1030;gfx942;gfx1100", ("942", "1030"), "gfx942,gfx1030"),
        ("gfx90a;gfx1100", ("90a", "1030"), "gfx90a"),
        ("gfx90a;gfx1100", (), "gfx1151"),  # an example, of which the SDK says nothing
    ],
)
def test_targets_of_the_machine(  # noqa: PLR0917
    call: Call, devel_tree: Path, clang: Path, sdk: Site, built_for: str, bitcode: tuple[str, ...], example: str
) -> None:
    """TheRock 7841: the targets of an example are targets that this SDK has code and bitcode for."""
    empty = Machine(clang.parent / "empty")
    call("init")
    for number in bitcode:
        (devel_tree / f"lib/llvm/amdgcn/bitcode/oclc_isa_version_{number}.bc").touch()
    library(sdk.path / LIBRARIES / "lib/librocblas.so.5", [bundle(objects(*built_for.split(";")))])
    words = ("env", "--compiler", str(clang / "clang"), "--json")
    assert_refused(call(*words, ROCM_SDK_ROOTFS=str(empty.root)), 1, f"fix: name the targets: --targets {example}\n")


def test_a_tree_without_bitcode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has bitcode for no target, whatever the working directory has."""
    (tmp_path / "None").mkdir()
    (tmp_path / "None/oclc_isa_version_942.bc").touch()
    monkeypatch.chdir(tmp_path)
    assert not has_bitcode(str(tmp_path / "tree"), "gfx942")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--compiler", "clang-99"], 1, "there is no clang++-99 in PATH"),
        (["--compiler", "/nowhere/clang"], 1, "there is no clang++ in /nowhere"),
        (["--targets", "gfx942"], 2, "--targets needs --compiler"),
    ],
)
def test_what_cannot_be_a_compiler(call: Call, devel_tree: Path, words: list[str], status: int, said: str) -> None:
    assert devel_tree
    result = call("env", *words, "--json", *(["--targets", "gfx942"] if status == 1 else []))
    assert (result.returncode, result.stdout) == (status, "")
    assert said in result.stderr
