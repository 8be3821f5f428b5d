"""Wheels of autumn 2026, in small: what `check` says of each, as a reading of their files by hand says it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checked_files import Call, codes, compile_library, document, wheel
from programs import completed
from sample_device_code import code_object
from sample_site import Site, clean_environment
from written_elf import shared_library


@pytest.fixture
def call(tmp_path: Path) -> Call:
    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        values = clean_environment() | {"HOME": str(tmp_path)} | environment
        return completed([sys.executable, "-m", "rocm_sdk", *words], env=values)

    return run


# ---- GPU code


def object_file(path: Path, flags: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(code_object(flags, size=64))
    return path


@pytest.mark.parametrize(("place", "cache"), [("meta/hsa", "ops/aot"), ("kernels/x", "cache")])
def test_a_directory_for_each_gpu(tmp_path: Path, call: Call, place: str, cache: str) -> None:
    """aiter: a package opens the files of its own GPU, and has kernels that were compiled ahead for one of the GPUs."""
    for target, flags in (("gfx942", 0x54C), ("gfx1030", 0x36)):
        object_file(tmp_path / "pkg" / place / target / "fmha/a.co", flags)
    for number in range(9):
        object_file(tmp_path / "pkg" / cache / f"kernel{number}/x.hsaco", 0x36)
    said = call("check", str(tmp_path / "pkg"), "--gpu", "gfx942")
    assert said.returncode == 0, said.stdout
    assert said.stdout.endswith("; runs on gfx942; kernel0, kernel1, kernel2 and 6 more: no code for it\n")
    assert call("check", str(tmp_path / "pkg"), "--gpu", "gfx1030").returncode == 0
    verdict = document(call, tmp_path / "pkg", "--gpu", "gfx1100")
    (found,) = verdict["problems"]  # type: ignore[misc]
    assert (found["code"], found["facts"]["libraries"]) == ("E-CODE-001", Path(place).name)
    said = call("check", str(tmp_path / "pkg" / cache), "--gpu", "gfx942")  # there is nothing else
    assert said.returncode == 1
    assert len(said.stdout) < 700


def test_images_that_a_gpu_lacks(tmp_path: Path, call: Call) -> None:
    """hipengine: AOTriton, and no GPU code that we read."""
    images = tmp_path / "pkg/lib/aotriton.images/amd-gfx11xx/flash"
    images.mkdir(parents=True)
    (images / "a.aks2").write_bytes(b"x")
    compile_library(tmp_path / "pkg/lib/libaotriton_v2.so", "libaotriton_v2.so")
    remark = "on gfx942: AOTriton has no images for it (gfx11xx)"
    assert remark in str(document(call, tmp_path / "pkg", "--gpu", "gfx942,gfx1100")["verdict"])
    assert "AOTriton" not in str(document(call, tmp_path / "pkg", "--gpu", "gfx1100")["verdict"])


# ---- what loads

MODULE = "void *PyInit__c(void) { return 0; }"


def packed(directory: Path, files: dict[str, Path | bytes], name: str = "sample-1-py3-none-any.whl") -> Path:
    return wheel(directory / name, files)


def failing_library(path: Path, what: str) -> Path:
    """Compile a library that nothing here completes: it lacks a function, or a library of another package."""
    if what == "function":
        return compile_library(path, path.name, "int gone(void); int f(void) { return gone(); }")
    needed = compile_library(path.parent / "away/libtorch.so", "libtorch.so")
    made = compile_library(path, path.name, needed=(needed,))
    needed.unlink()
    return made


@pytest.mark.parametrize("more", [0, 1])
def test_more_sources_than_are_searched(tmp_path: Path, call: Call, more: int) -> None:
    """What was not searched may name the library."""
    module = compile_library(tmp_path / "_c.so", None, MODULE)
    part = failing_library(tmp_path / "libPluginForTests.so", "function")
    files = {"pkg/_c.so": module, "pkg/plugins/libPluginForTests.so": part, "pkg/x.py": b"#" * ((64 << 20) + more)}
    verdict = document(call, packed(tmp_path, files))
    assert ("nothing in the package names it" in str(verdict["verdict"])) == (not more)
    assert verdict["loads"] is (not more)


@pytest.mark.parametrize("what", ["function", "library"])
def test_a_part_that_nothing_imports(tmp_path: Path, call: Call, what: str) -> None:
    """fbtriton, mojolearn: plug-ins for tests, and an adapter that another package opens."""
    module = compile_library(tmp_path / "_c.so", None, MODULE)
    part = failing_library(tmp_path / "libPluginForTests.so", what)
    files: dict[str, Path | bytes] = {"pkg/_c.so": module, "pkg/plugins/libPluginForTests.so": part}
    verdict = document(call, packed(tmp_path, files))
    assert (verdict["loads"], codes(verdict)) == (True, [])
    assert "libPluginForTests.so does not load, and nothing in the package names it" in str(verdict["verdict"])
    named = files | {"pkg/__init__.py": b"ctypes.CDLL(here / 'libPluginForTests.so')"}
    opened = compile_library(tmp_path / "opener.so", None, 'const char *name = "libPluginForTests.so";')
    source = "void *PyInit_n(void) { return 0; }"
    needing = compile_library(tmp_path / "n.so", None, source, (part,), ("-Wl,-rpath,$ORIGIN/plugins",))
    for each in (
        named,
        files | {"pkg/_c.so": part, "pkg/other.so": module},  # the module itself
        {name: path for name, path in files.items() if path is part},  # no module that Python imports
        files | {"pkg/opener.so": opened},
        files | {"pkg/n.so": needing},
    ):
        verdict = document(call, packed(tmp_path, each))
        assert verdict["loads"] is False, verdict["verdict"]


@pytest.mark.parametrize(("first", "second", "path"), [("base", "ops", "/opt/rocm/lib"), ("z", "a", "/nowhere")])
def test_the_order_in_which_a_module_brings_in(tmp_path: Path, call: Call, first: str, second: str, path: str) -> None:
    """amd-mori: the linker opens all that a module needs before what these need."""
    package = tmp_path / "pkg"
    base = compile_library(package / f"lib{first}.so", f"lib{first}.so", "int base(void) { return 1; }")
    text = "int base(void); int ops(void) { return base(); }"
    ops = compile_library(package / f"lib{second}.so", f"lib{second}.so", text, (base,), (f"-Wl,-rpath,{path}",))
    source = "int ops(void); int PyInit__c(void) { return ops(); }"
    flags = ("-Wl,-rpath,$ORIGIN,--enable-new-dtags",)
    module = compile_library(package / "_c.so", None, source, (ops, base), flags)
    assert completed([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(module)!r})"]).returncode == 0
    files: dict[str, Path | bytes] = {f"pkg/{each.name}": each for each in (base, ops, module)}
    for subject in (package, packed(tmp_path, files)):
        verdict = document(call, subject)
        assert (verdict["loads"], codes(verdict), verdict["verdict"]) == (True, [], "loads; no GPU code of its own")
    gone = compile_library(tmp_path / "libgone.so.3", "libgone.so.3")
    files["pkg/_c.so"] = compile_library(tmp_path / "_c.so", None, source, (ops, base, gone), flags)
    said = call("check", str(packed(tmp_path, files)))
    assert "libgone.so.3" in said.stdout
    assert f"lib{first}.so" not in said.stdout
    text = "int base(void); int ops(void) { return base(); }"  # both lack it now
    files[f"pkg/{ops.name}"] = compile_library(
        tmp_path / ops.name, ops.name, text, (base, gone), (f"-Wl,-rpath,{path}",)
    )
    said = call("check", str(packed(tmp_path, files)))
    assert "libgone.so.3" in said.stdout
    assert f"lib{first}.so" not in said.stdout


def versioned(directory: Path, name: str, *versions: str) -> Path:
    """Compile a library with a function for each version."""
    text = "".join(f"V{each} {{ global: f{each}; }};\n" for each in versions)
    script = directory / f"{name}.map"
    script.write_text(text, encoding="utf-8")
    source = "".join(f"int f{each}(void) {{ return 1; }}\n" for each in versions)
    return compile_library(directory / name, name, source, flags=(f"-Wl,--version-script={script}",))


def test_what_several_libraries_lack(tmp_path: Path, call: Call) -> None:
    """jax-rocm10-pjrt: what no library has was said of the one whose version is known."""
    old, other = versioned(tmp_path, "liba.so.1", "1", "2"), tmp_path / "libb.so.1"
    compile_library(other, other.name, "int gone(void) { return 1; }")
    source = "int f2(void), gone(void); int f(void) { return f2() + gone(); }"
    file = compile_library(tmp_path / "libf.so", None, source, (old, other), ("-Wl,-rpath,$ORIGIN",))
    versioned(tmp_path, "liba.so.1", "1")
    compile_library(other, other.name, "int other(void) { return 1; }")
    (found,) = document(call, file)["problems"]  # type: ignore[misc]
    assert found["code"] == "E-LIB-020"
    said = found["cause"]
    assert "gone" not in said or "gone, which none of its libraries has" in said


def test_one_library_that_is_too_old_is_one_problem(tmp_path: Path, call: Call) -> None:
    """torch-scatter-rocm: eight files need versions that the system's libstdc++ does not have."""
    old = versioned(tmp_path, "liba.so.1", "1", "2", "3")
    files: dict[str, Path | bytes] = {"pkg/liba.so.1": tmp_path / "liba.so.1"}
    for number, wanted in enumerate("2332"):
        source = f"int f{wanted}(void); void *PyInit__c{number}(void) {{ return f{wanted}() ? 0 : 0; }}"
        made = compile_library(tmp_path / f"_c{number}.so", None, source, (old,), ("-Wl,-rpath,$ORIGIN",))
        files[f"pkg/_c{number}.so"] = made
    versioned(tmp_path, "liba.so.1", "1")
    verdict = document(call, packed(tmp_path, files))
    assert codes(verdict) == ["E-LIB-020"]
    (found,) = verdict["problems"]  # type: ignore[misc]
    assert "(and 3 more files)" in found["title"]


@pytest.mark.parametrize("name", ["pkg/quantize.dll", "pkg/core.cp313-win_amd64.pyd"])
def test_libraries_for_windows(tmp_path: Path, call: Call, name: str) -> None:
    """hip-quant, xerv-crayon: their tag says that they are for any system."""
    said = str(document(call, packed(tmp_path, {name: b"MZ", "pkg/__init__.py": b""}))["verdict"])
    assert f"its libraries are for Windows ({Path(name).name})" in said
    assert "pure Python" not in said


def test_the_sdks_own_wheel_is_no_second_hip(tmp_path: Path, site: Site, call: Call) -> None:
    own = site.library("libamdhip64.so.7")
    copy = packed(tmp_path, {"_rocm_sdk_core/lib/libamdhip64.so.7": own}, "rocm_sdk_core-7.10.0-py3-none-any.whl")
    assert codes(document(call, copy, PYTHONPATH=str(site.path))) == []
    other = packed(tmp_path, {"pkg/libamdhip64.so.7": own}, "sample-1-py3-none-any.whl")
    assert codes(document(call, other, PYTHONPATH=str(site.path))) == ["W-LIB-026"]


def test_the_tag_is_not_judged_by_variants_for_other_makers(tmp_path: Path, call: Call) -> None:
    """bitsandbytes: its library for another maker's GPUs needs a newer glibc."""
    newer = 'extern int x(void); __asm__(".symver x,pthread_create@GLIBC_2.34"); int f(void) { return x(); }'
    hip = compile_library(tmp_path / "libamdhip64.so.7", "libamdhip64.so.7")
    ours = compile_library(tmp_path / "libb_rocm70.so", None, needed=(hip,))
    files: dict[str, Path | bytes] = {
        "b/libb_rocm70.so": ours,
        "b/libb_cpu.so": compile_library(tmp_path / "c.so", None),
    }
    tag = f"py3-none-manylinux_2_24_{os.uname().machine}"
    for name, is_told in (("libb_xpu2025.so", False), ("libb_rocm71.so", True)):
        needed = (hip,) if is_told else ()
        more = compile_library(tmp_path / name, None, newer, needed)
        verdict = document(call, packed(tmp_path, files | {f"b/{name}": more}, f"sample-1-{tag}.whl"))
        assert ("W-PKG-030" in codes(verdict)) == is_told


@pytest.mark.parametrize("functions", [("hipModuleLaunchKernel", "hiprtcCreateProgram"), ("hipMalloc", "own_helper")])
def test_functions_of_hip_without_an_entry_and_without_an_sdk(
    tmp_path: Path, call: Call, functions: tuple[str, ...]
) -> None:
    """mlrs-rocm, catboost-rs-rocm: Rust names no library for them."""
    calls = "".join(f"int {name}(void);" for name in functions) + "void *PyInit__c(void) { return 0; }"
    source = f"{calls} int f(void) {{ return {' + '.join(f'{name}()' for name in functions)}; }}"
    verdict = document(call, packed(tmp_path, {"_c.so": compile_library(tmp_path / "_c.so", None, source)}))
    assert (verdict["loads"], codes(verdict)) == (None, [])
    assert "no SDK is here for libamdhip64.so" in str(verdict["verdict"])


# ---- bindings


@pytest.mark.parametrize("name", ["hip_python", "rocm_bindings_hip"])
@pytest.mark.parametrize("rpath", ["none", "runpath"])
def test_bindings_open_a_library_that_needs_others(tmp_path: Path, call: Call, name: str, rpath: str) -> None:
    """The library is opened by the path that rocm_sdk returns; the linker does not find what it needs."""
    site = Site(tmp_path / "site-packages", rpath=rpath)
    runtime = site.library("libhsa-runtime64.so.1")
    hip = site.library("libamdhip64.so.7", needed=(runtime,))
    site.library("libhiprtc.so.7")
    where = {"PYTHONPATH": str(site.path)}
    by_hand = site.run(f"import ctypes; ctypes.CDLL({str(hip)!r})", check=False)
    assert (by_hand.returncode == 0) == (rpath == "runpath")
    module = compile_library(tmp_path / "_c.so", None, MODULE)  # Cython has compressed the names
    verdict = document(call, packed(tmp_path, {"pkg/_c.so": module}, f"{name}-7.10.0-py3-none-any.whl"), **where)
    process = verdict["process"]
    assert isinstance(process, dict)
    assert verdict["loads"] is True
    wanted = ([], None) if rpath == "runpath" else (["libhsa-runtime64.so.1"], ["amdhip64"])
    assert (process["unfound_alone"], process["shortnames"]) == wanted
    assert ("alone it does not find libhsa-runtime64.so.1" in str(verdict["verdict"])) == (rpath == "none")


@pytest.mark.parametrize(
    ("name", "release"), [("rocm_llvm_python-7.2.2.562.46", "7.2"), ("hip_python_interop-10.0.1", "10.0")]
)
def test_bindings_whose_version_is_a_release(tmp_path: Path, call: Call, name: str, release: str) -> None:
    verdict = document(call, packed(tmp_path, {"pkg/__init__.py": b""}, f"{name}-py3-none-any.whl"))
    assert verdict["releases"] == {"first": release, "last": release}


@pytest.mark.parametrize("platform", ["manylinux_2_99", "linux"])
def test_a_newer_glibc_is_one_problem(tmp_path: Path, call: Call, platform: str) -> None:
    """amd-mori: six libraries need it, and the tag may say it already."""
    files: dict[str, Path | bytes] = {}
    for minor in (97, 98, 96):
        needs = {"libc.so.6": [f"GLIBC_2.{minor}"]}
        files[f"pkg/_c{minor}.so"] = shared_library(
            needed=["libc.so.6"], needed_versions=needs, defined=[f"PyInit__c{minor}"]
        )
    verdict = document(call, packed(tmp_path, files, f"sample-1-py3-none-{platform}_{os.uname().machine}.whl"))
    problems = verdict["problems"]
    assert isinstance(problems, list)
    assert codes(verdict) == (["E-LIB-005"] if platform == "linux" else ["E-PKG-020"])
    if platform == "linux":
        assert (problems[0]["facts"]["wanted"], problems[0]["facts"]["library"]) == (
            "2.98",
            "_c98.so (and 2 more files)",
        )
