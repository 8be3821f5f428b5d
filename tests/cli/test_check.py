"""`rocm-sdk check`: whether files load with the SDK and run on a GPU, asked of real libraries and wheels."""

import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from checked_files import Call, codes, compile_library, document, wheel
from compiled_files import compile_file
from ended import assert_failed
from sample_device_code import FLAGS, bundle, code_object, kernel_index, library, objects
from sample_site import CORE, LIBRARIES, Site

from rocm_sdk.fit.verdicts.requirements import requirements

SCRATCH = "rocm-sdk-check-"

TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
GPU = ("--gpu", "gfx1030")
RUNPATH = ("-Wl,-rpath,$ORIGIN/lib:$ORIGIN",)
IN_PROCESS = "loads in a process that has called rocm_sdk (amdhip64); alone it does not find libamdhip64.so.7"


@pytest.fixture
def hip(sdk: Site) -> Path:
    """Return the SDK's HIP, with versions of symbols."""
    script = sdk.write("hip.map", "hip_4.2 { global: hip*; }; hip_7.0 { global: hipNew; } hip_4.2;")
    source = "int hipMalloc(void) { return 0; } int hipNew(void) { return 1; }"
    return sdk.library("libamdhip64.so.7", source, flags=(f"-Wl,--version-script={script}",))


def test_a_library_that_fits(call: Call, hip: Path, tmp_path: Path) -> None:
    path = library(tmp_path / "libapp.so", [bundle(objects("gfx1030", "gfx942"))], hip)
    said = call("check", str(path), "--gpu", "gfx1030")
    assert (said.returncode, said.stdout) == (0, f"{path}: loads; runs on gfx1030\n")
    other = call("check", str(path), "--gpu", "gfx1030,gfx1100")
    assert other.returncode == 1
    lines = other.stdout.splitlines()
    assert lines[0] == f"{path}: loads; runs on gfx1030; does not run on gfx1100; app: no code for it"
    assert lines[1].startswith("  E-CODE-001: ")
    unasked = document(call, path, ROCM_SDK_ROOTFS=str(tmp_path))
    assert (unasked["works"], unasked["verdict"]) == (None, "loads; for which GPU? --gpu names one")


@pytest.mark.usefixtures("hip")
def test_a_library_for_another_release(call: Call, tmp_path: Path) -> None:
    """A problem names the release once, though two needed libraries are there in other versions."""
    older = tmp_path / "old"
    needed = (
        compile_library(older / "libamdhip64.so.5", "libamdhip64.so.5"),
        compile_library(older / "librocsparse.so.0", "librocsparse.so.0"),
    )
    path = compile_library(tmp_path / "libapp.so", None, "", needed)
    found = document(call, path, *GPU)
    assert codes(found) == ["E-LIB-024"]
    assert found["verdict"] == "does not load: it is for ROCm 5.0 to 5.7; no GPU code of its own"
    text = call("check", str(path)).stdout
    assert "E-LIB-024: it was built for ROCm 5.0 to 5.7, the SDK is 7.10.0 and has libamdhip64.so.7" in text
    assert "the file needs libamdhip64.so.5 and 1 more of ROCm, which" in text


@pytest.mark.usefixtures("hip")
def test_symbols_that_the_sdk_does_not_have(call: Call, tmp_path: Path, sdk: Site) -> None:
    names = [f"hipGone{number}" for number in range(5)]
    newer = tmp_path / "newer"
    source = "".join(f"int {name}(void) {{ return 0; }}" for name in names)
    script = sdk.write("newer.map", "hip_9.0 { global: *; };")
    stub = compile_library(
        newer / "libamdhip64.so.7", "libamdhip64.so.7", source, (), (f"-Wl,--version-script={script}",)
    )
    calls = "".join(f"extern int {name}(void);" for name in names)
    path = compile_library(
        tmp_path / "libapp.so", None, f"{calls} int f(void) {{ return {'+'.join(f'{n}()' for n in names)}; }}", (stub,)
    )
    found = document(call, path, *GPU)
    assert codes(found) == ["E-LIB-020"]
    assert "libapp.so" in str(found["problems"])
    assert "it needs hip_9.0 of libamdhip64.so.7, and " in str(found["problems"])


def test_symbols_without_versions_are_demangled(call: Call, tmp_path: Path, sdk: Site) -> None:
    wanted = "extern int _ZN7rocblas4gemmEi(int), _ZN7rocblas4axpyEv(void), third(void), fourth(void);"
    uses = "int f(void) { return _ZN7rocblas4gemmEi(1) + _ZN7rocblas4axpyEv() + third() + fourth(); }"
    path = compile_library(tmp_path / "libapp.so", None, wanted + uses, (sdk.path / CORE / "lib/libamdhip64.so.7",))
    text = call("check", str(path), *GPU).stdout
    assert "and 1 more, which none of its libraries has" in text
    assert "rocblas::gemm(int)" in text
    assert call("check", str(path), *GPU).returncode == 1


def test_what_a_host_program_defines_is_not_missing(call: Call, tmp_path: Path) -> None:
    """A library that nobody has may define it, and Python has what begins with Py."""
    gone = compile_library(tmp_path / "gone/libgone.so.1", "libgone.so.1")
    path = compile_library(tmp_path / "a.so", None, "extern int there(void); int f(void) { return there(); }", (gone,))
    assert codes(document(call, path, *GPU)) == ["E-LIB-002"]
    python = compile_library(tmp_path / "b.so", None, "extern int Py_Some(void); int f(void) { return Py_Some(); }")
    assert document(call, python, *GPU)["works"] is True


def test_a_newer_glibc(call: Call, tmp_path: Path, sdk: Site) -> None:
    script = sdk.write("libc.map", "GLIBC_9.1 { global: *; };")
    stub = compile_library(
        tmp_path / "stub/libc.so.6",
        "libc.so.6",
        "int future(void) { return 0; }",
        (),
        (f"-Wl,--version-script={script}", "-nostdlib"),
    )
    path = compile_library(
        tmp_path / "libapp.so",
        None,
        "extern int future(void); int f(void) { return future(); }",
        (stub,),
        ("-nostdlib",),
    )
    found = document(call, path, *GPU)
    assert codes(found) == ["E-LIB-005"]
    assert "libapp.so needs glibc 9.1" in str(found["problems"])


def test_a_file_for_another_machine(call: Call, tmp_path: Path) -> None:
    path = compile_library(tmp_path / "libapp.so", None)
    content = bytearray(path.read_bytes())
    content[18:20] = (0xF3).to_bytes(2, "little")  # RISC-V
    path.write_bytes(content)
    assert codes(document(call, path, *GPU)) == ["E-LIB-012"]


def test_programs(call: Call, tmp_path: Path, hip: Path) -> None:
    source = "extern int hipMalloc(void); int main(void) { return hipMalloc(); }"
    for flags in (("-pie", "-fPIE"), ("-no-pie",)):
        program = compile_file(["cc", *flags, "-x", "c", "-", "-x", "none", hip], tmp_path / f"app{flags[0]}", source)
        assert document(call, program, *GPU)["works"] is True
    static = compile_file(["cc", "-static", "-x", "c", "-"], tmp_path / "static", "int main(void) { return 0; }")
    assert document(call, static, *GPU)["works"] is True


def test_a_wheel(call: Call, hip: Path, tmp_path: Path) -> None:
    helper = compile_library(tmp_path / "build/libhelper.so", "libhelper.so", "int help(void) { return 1; }")
    app = compile_library(
        tmp_path / "build/app.so", None, "extern int help(void); int f(void) { return help(); }", (helper, hip), RUNPATH
    )
    kernels = {
        "sample/lib/librocblas.so.9": library(tmp_path / "build/librocblas.so.9", [bundle(objects("gfx1030"))]),
        "sample/lib/rocblas/library/Kernels.so-000-gfx1030.hsaco": code_object(0x36, size=64),
        "sample/lib/rocblas/library/TensileLibrary_lazy_gfx1030.dat": kernel_index({"": []}),
    }
    path = wheel(
        tmp_path / f"sample-1-{TAG}-{TAG}-linux_{platform.machine()}.whl",
        {"sample/app.so": app, "sample/lib/libhelper.so": helper, **kernels},
    )
    found = document(call, path, *GPU)
    assert found["verdict"] == f"{IN_PROCESS}; runs on gfx1030; rocblas: fallback kernels only, which are slow"
    assert found["kind"] == "wheel"
    lacking = wheel(
        tmp_path / "sample-2-py3-none-any.whl",
        {"x/app.so": app, "x/libhelper.so": helper}
        | {name.replace("sample", "x"): content for name, content in kernels.items()}
        | {"x/lib/rocblas/library/TensileLibrary_lazy_gfx1030.dat": kernel_index({"gfx1030": ["gone"]})},
    )
    said = document(call, lacking, *GPU)
    assert codes(said) == ["N-LIB-030", "E-CODE-007"]  # a copy of rocBLAS
    assert f"{lacking}/x/lib/rocblas/library/gone.dat is not there" in str(said)
    assert "rocm-sdk-check-" not in str(said)
    (tmp_path / "wrong").mkdir()
    broken = wheel(tmp_path / "wrong" / path.name, {"sample/app.so": app})
    text = call("check", str(broken), *GPU).stdout
    assert "app.so needs libhelper.so, which is in neither the SDK nor the system" in text
    assert "rocm-sdk-check-" not in text


def test_a_wheel_that_needs_another_distribution(call: Call, tmp_path: Path) -> None:
    """The libraries may come with torch: nobody can tell whether the wheel loads."""
    torch = compile_library(tmp_path / "build/libtorch.so", "libtorch.so")
    app = compile_library(tmp_path / "build/app.so", None, "", (torch,))
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {"sample/app.so": app}, "torch (>=2)")
    found = document(call, path, *GPU)
    assert found["verdict"] == "cannot tell whether it loads: no package here has libtorch.so; no GPU code of its own"


@pytest.mark.slow
def test_a_wheel_for_another_python(call: Call, tmp_path: Path) -> None:
    app = compile_library(tmp_path / "app.so", None)
    for tag, word in (
        ("cp27-cp27mu-linux_x86_64", "cp27"),
        ("py3-none-win_amd64", "win_amd64"),
        ("py3-none-manylinux_9_0_x86_64", "glibc"),
        (f"{TAG}-{TAG}x-linux_x86_64", f"{TAG}x"),
        (f"{TAG}9-none-any", f"{TAG}9"),
        (f"{TAG}9-abi3-any", "abi3"),
    ):
        found = document(call, wheel(tmp_path / f"sample-1-{tag}.whl", {"sample/app.so": app}), *GPU)
        assert codes(found) == ["E-PKG-020"]
        assert word in str(found["problems"])
    fitting = f"py3-none-any.linux_{platform.machine()}", f"{TAG}-abi3-manylinux_2_5_{platform.machine()}"
    for tag in fitting:
        assert document(call, wheel(tmp_path / f"sample-1-{tag}.whl", {"sample/app.so": app}), *GPU)["works"] is True


def test_the_names_in_requirements() -> None:
    lines = [
        "rocm-sdk-core==7.10.0",
        "zope.interface (>=2)",
        "a_b[extra]>=1; python_version > '3'",
        "c ; extra == 'x'",
        "Torch2",
        "torch2",
    ]
    assert requirements(lines) == ("rocm-sdk-core", "zope-interface", "a-b", "torch2")


def test_damaged_code_is_told_once(call: Call, hip: Path, tmp_path: Path) -> None:
    """Also where the linker refuses the file, too: then that is said."""
    directory = tmp_path / "lib"
    directory.mkdir()
    library(directory / "libdamaged.so", [bundle(objects("gfx1030"))[:-100]], hip)
    found = document(call, directory, *GPU)
    assert codes(found) == ["E-LIB-006"]
    library(directory / "libother.so", [bundle(objects("gfx1030"))[:-100]], hip)
    found = document(call, directory / "libdamaged.so", *GPU)
    assert codes(found) == ["E-LIB-006"], found
    (directory / "libother.so").unlink()
    cut = library(directory / "libcut.so", [bundle(objects("gfx1030"))], hip)
    os.truncate(cut, cut.stat().st_size // 2)
    found = document(call, directory, *GPU)
    assert sorted(codes(found)) == ["E-LIB-006", "E-LIB-006"], found
    assert sum("libcut.so" in str(each) for each in found["problems"]) == 1, found  # type: ignore[attr-defined]


def test_what_is_no_elf_file(call: Call, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/broken.so").symlink_to("nothing")
    os.mkfifo(tmp_path / "lib/pipe.so")
    said = call("check", str(tmp_path / "lib"), *GPU)
    assert said.returncode == 3
    assert "there is nothing to check" in said.stdout + said.stderr


@pytest.mark.parametrize(("name", "is_damaged"), [("start.sh", False), ("liba.so.1", True), ("a.co", True)])
def test_text(call: Call, tmp_path: Path, name: str, is_damaged: bool) -> None:
    """A script was never a library: it is not called damaged."""
    (tmp_path / name).write_text("#!/bin/sh\n")
    said = call("check", str(tmp_path / name), *GPU)
    assert "there is nothing to check" in said.stdout
    assert said.returncode == (1 if is_damaged else 3)
    assert ("E-LIB-006: it is damaged: neither an ELF file" in said.stdout) == is_damaged


@pytest.mark.parametrize("name", ["../out.so", "/out.so", "sample//out.so"])
def test_a_wheel_that_leads_out_of_its_directory(call: Call, tmp_path: Path, name: str) -> None:
    path = wheel(tmp_path / "sample-1-py3-none-any.whl", {name: compile_library(tmp_path / "app.so", None)})
    assert_failed(call("check", str(path), *GPU), 1, "its name leads out of the wheel [E-CODE-004]")


def test_a_wheel_with_deep_directories(call: Call, tmp_path: Path) -> None:
    path = wheel(
        tmp_path / "sample-1-py3-none-any.whl", {f"{'d/' * 1000}app.so": compile_library(tmp_path / "app.so", None)}
    )
    said = call("check", str(path), *GPU)
    assert_failed(said, 1, "...: it lies in more than 128 directories [E-CODE-004]")
    assert len(said.stderr) < 1000


@pytest.mark.usefixtures("hip")
def test_two_hips(call: Call, tmp_path: Path) -> None:
    own = tmp_path / "package/lib/libamdhip64.so.7"
    compile_library(own, "libamdhip64.so.7", "int hipMalloc(void) { return 0; }")
    found = document(call, own.parent, *GPU)
    assert codes(found) == ["W-LIB-026"]
    assert found["works"] is True


def test_the_sdk(call: Call, sdk: Site) -> None:
    library(sdk.path / LIBRARIES / "lib/librocblas.so.5", [bundle(objects("gfx1030"))])
    said = call("check", *GPU)
    assert said.returncode == 0
    lines = said.stdout.splitlines()
    assert lines[0] == "SDK: loads; runs on gfx1030"
    assert "  rocblas                     exact code for gfx1030" in lines
    assert call("check", "--gpu", "gfx942").returncode == 1
    (sdk.path / CORE / "lib/libamdhip64.so.7").unlink()
    broken = document(call, *GPU)
    assert (broken["loads"], codes(broken)) == (False, ["E-LIB-002"])


def test_without_an_sdk(call: Call, sdk: Site, tmp_path: Path) -> None:
    hip = compile_library(tmp_path / "old/libamdhip64.so.6", "libamdhip64.so.6")
    path = compile_library(tmp_path / "libapp.so", None, "", (hip,))
    for package in (CORE, LIBRARIES):
        (sdk.path / package / "__init__.py").unlink()
        for file in (sdk.path / package / "lib").glob("*"):
            file.unlink()
    empty = tmp_path / "empty"
    empty.mkdir()
    found = document(call, path, "--sdk", empty, *GPU)
    cannot = "cannot tell whether it loads: no SDK is here for libamdhip64.so.6, and it is for ROCm 6.0 to 6.4"
    assert found["verdict"] == f"{cannot}; no GPU code of its own"


def test_an_sdk_in_a_directory(call: Call, hip: Path, tmp_path: Path) -> None:
    path = compile_library(tmp_path / "libapp.so", None, "", (hip,))
    assert document(call, path, "--sdk", hip.parents[1], *GPU)["works"] is True
    newer = tmp_path / "newer/libamdhip64.so.10"
    compile_library(newer, "libamdhip64.so.10")
    assert codes(document(call, path, "--sdk", newer.parent, *GPU)) == ["E-LIB-024"]


def test_a_name_that_stands_for_nothing(call: Call) -> None:
    said = call("check", "no-such-thing", *GPU)
    assert_failed(said, 2, "no-such-thing: there is no such file, and no such distribution is installed")
    said = call("check", "https://me:secret@host/a-1.whl", *GPU)
    assert_failed(said, 2, "https://host/a-1.whl: it is a URL, and nothing is downloaded")
    assert "secret" not in said.stdout + said.stderr


def test_several_names(call: Call, tmp_path: Path) -> None:
    good = compile_library(tmp_path / "good.so", None)
    (tmp_path / "empty").mkdir()
    said = call("check", str(good), str(tmp_path / "empty"), *GPU)
    assert said.returncode == 3
    assert len(said.stdout.splitlines()) == 2
    assert "nothing to check" in said.stdout


def torch_wheel(directory: Path, name: str, version: str, extras: tuple[str, ...] = ()) -> Path:
    """Write a package of torch's, the base with extras or the code for one target, and return its path."""
    lines = [
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}",
        *(f"Provides-Extra: {each}" for each in extras),
    ]
    stem = f"{name.replace('-', '_')}-{version}"
    path = directory / f"{stem}-py3-none-any.whl"
    module = f"{name.replace('-', '_')}/__init__.py"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(module, "")
        archive.writestr(f"{stem}.dist-info/METADATA", "\n".join(lines) + "\n\n")
        archive.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{stem}.dist-info/RECORD", f"{module},,\n{stem}.dist-info/RECORD,,\n")
    return path


def pip_install(site: Path, *wheels: Path) -> None:
    words = ["--quiet", "--no-deps", "--no-index", "--upgrade", "--target", str(site), *map(str, wheels)]
    subprocess.run([sys.executable, "-m", "pip", "install", *words], check=True)


@pytest.mark.slow
def test_the_packages_with_the_code_of_torch(call: Call, sdk: Site, tmp_path: Path) -> None:
    """As pip installs them: none, one of another version, one for another GPU, the right one."""
    base = torch_wheel(tmp_path, "torch", "2.12.0+rocm10.0.0", ("device-gfx1100", "device-gfx942"))
    pip_install(sdk.path, base)
    asked = ("torch", "--gpu", "gfx1100")
    found = document(call, *asked)
    assert codes(found) == ["E-PKG-021"]
    assert "amd-torch-device-gfx1100 is not installed" in str(found["problems"])
    assert "amd-torch-device-gfx1100==2.12.0+rocm10.0.0" in str(found["problems"])
    pip_install(sdk.path, torch_wheel(tmp_path, "amd-torch-device-gfx942", "2.12.0+rocm10.0.0"))
    assert "amd-torch-device-gfx942 is for other GPUs" in str(document(call, *asked)["problems"])
    pip_install(sdk.path, torch_wheel(tmp_path, "amd-torch-device-gfx1100", "2.11.0+rocm7.14.0"))
    assert "has version 2.11.0+rocm7.14.0, torch 2.12.0+rocm10.0.0" in str(document(call, *asked)["problems"])
    for old in sdk.path.glob("amd_torch_device_gfx1100-2.11.*.dist-info"):
        shutil.rmtree(old)  # a directory that is a target keeps it, and lists the two in any order
    pip_install(sdk.path, torch_wheel(tmp_path, "amd-torch-device-gfx1100", "2.12.0+rocm10.0.0"))
    assert codes(document(call, *asked)) == []
    assert "no package with its code" in str(document(call, "torch", "--gpu", "gfx1201")["problems"])


def test_images_of_aotriton(call: Call, tmp_path: Path) -> None:
    path = library(tmp_path / "build.so", [bundle(objects("gfx1100", "gfx1030"))])
    files: dict[str, Path | bytes] = {
        "torch/lib/libtorch_hip.so": path,
        "torch/lib/aotriton.images/amd-gfx11xx/flash/attn.aks2": b"images",
        "torch/lib/aotriton.images/amd-gfx90a/flash/attn.aks2": b"images",
    }
    packed = wheel(tmp_path / "sample-1-py3-none-any.whl", files)
    assert document(call, packed, "--gpu", "gfx1100")["verdict"] == "loads; runs on gfx1100"
    without = "loads; runs on gfx1030; AOTriton has no images for it (gfx11xx, gfx90a): attention takes slower kernels"
    assert document(call, packed, *GPU)["verdict"] == without


@pytest.fixture
def miopen(sdk: Site, tmp_path: Path) -> Path:
    """Return the home directory of a user of MIOpen."""
    sdk.library("libMIOpen.so.1", package=LIBRARIES)
    library(sdk.path / LIBRARIES / "lib/libMIOpenCKGroupedConv_gfx942.so", [bundle(objects("gfx942"))])
    sdk.write(f"{LIBRARIES}/share/miopen/db/gfx1030_36.db.txt")
    home = tmp_path / "home"
    for name in (
        ".cache/miopen/3.4.0.aaaa/gfx1030_36.ukdb",
        ".cache/miopen/3.5.1.bbbb/gfx1030_36.ukdb",
        ".config/miopen/gfx90a68.HIP.3_5_1.udb.txt",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(bytes(1000))
    return home


def test_what_miopen_will_not_use(call: Call, miopen: Path) -> None:
    found = document(call, *GPU, HOME=str(miopen))
    assert (found["works"], codes(found)) == (True, ["N-CODE-009", "N-CODE-009"])
    assert found["verdict"] == "loads; runs on gfx1030; MIOpenCKGroupedConv: compiled at first use"
    assert "N-CODE-009: " not in call("check", *GPU, HOME=str(miopen)).stdout
    assert call("check", *GPU, "-v", HOME=str(miopen)).stdout.count("  N-CODE-009: ") == 2, "notes, too"
    assert "1 file, 1.0 kB: 3.4.0.aaaa/gfx1030_36.ukdb: they are of older versions of MIOpen" in str(found)
    assert "1 file, 1.0 kB: gfx90a68.HIP.3_5_1.udb.txt: they are for other GPUs than gfx1030" in str(found)
    elsewhere = miopen / "elsewhere"
    quiet = {"HOME": "/nowhere", "MIOPEN_CUSTOM_CACHE_DIR": str(elsewhere), "MIOPEN_USER_DB_PATH": str(elsewhere)}
    assert codes(document(call, *GPU, **quiet)) == []
    other = document(call, "--gpu", "gfx1100", **quiet)
    assert "slow first use: MIOpen has no database for it" in str(other["verdict"])
    assert other["works"] is True


def test_a_variable_that_leads_away_from_the_databases(call: Call, miopen: Path) -> None:
    (miopen / "db").mkdir()
    environment = {"HOME": "/nowhere", "MIOPEN_SYSTEM_DB_PATH": str(miopen / "db")}
    assert codes(document(call, *GPU, **environment)) == ["W-ENV-009"]
    (miopen / "db/gfx1030_36.kdb").write_bytes(b"")
    assert codes(document(call, *GPU, **environment)) == []


def test_a_file_is_named_as_the_user_does(call: Call, tmp_path: Path) -> None:
    """Not by the directory in which it is looked at alone, also where TMPDIR is a link."""
    (tmp_path / "place").mkdir()
    (tmp_path / "link").symlink_to("place")
    path = tmp_path / "kernels.co"
    path.write_bytes(code_object(FLAGS["gfx942"]))
    damaged = tmp_path / "damaged.co"
    damaged.write_bytes(code_object(FLAGS["gfx942"])[:100])
    for each in (path, damaged, wheel(tmp_path / "sample-1-py3-none-any.whl", {"x/damaged.co": damaged, "y.co": path})):
        text = call("check", str(each), *GPU, "--json", TMPDIR=str(tmp_path / "link")).stdout
        assert f'"{each}' in text
        assert not re.search(f"{tmp_path}/(place|link)|{SCRATCH}", text)
    assert list((tmp_path / "place").iterdir()) == []
