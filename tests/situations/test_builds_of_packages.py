"""What packages beside an SDK are built for: CUDA and HIP at once, no GPU, nothing; and copies of ROCm in them."""

import json
import os
import re
from pathlib import Path

import pytest
from command_fixtures import Call
from compiled_files import compile_file
from sample_devel import DevelSite, make_wheel
from sample_device_code import bundle, library, objects
from sample_report import run_test
from sample_site import CORE, LIBRARIES, Site, compile_library

FOR_CPU = b"__version__ = '2.9.1'\ncuda: str | None = None\nhip: str | None = None\n"
FOR_HIP = FOR_CPU.replace(b"hip: str | None = None", b"hip: str | None = '7.10'")


def needing(directory: Path, name: str, *needed: str) -> bytes:
    """Return a library that needs others, which nothing has."""
    (directory / "needed").mkdir(exist_ok=True)
    others = [compile_library(directory / "needed" / each, each) for each in needed]
    return compile_library(directory / name, None, "int a;", tuple(others), ("-Wl,--no-as-needed",)).read_bytes()


def verdict(call: Call, word: object) -> dict[str, object]:
    (found,) = json.loads(call("check", str(word), "--gpu", "gfx942", "--json").stdout)["verdicts"]
    return dict(found)


def codes(found: dict[str, object]) -> list[str]:
    assert isinstance(found["problems"], list)
    return [each["code"] for each in found["problems"]]


# ---- libraries for several makers of GPUs in one package


@pytest.mark.parametrize(
    "row",
    [
        ("bitsandbytes", "libcudart.so.13", "libhipblas.so.3"),  # bitsandbytes 0.50.2
        ("other-quants", "libcublasLt.so.12", "librocsparse.so.1"),
    ],
)
def test_a_library_for_each_maker(sdk: Site, call: Call, tmp_path: Path, row: tuple[str, str, str]) -> None:
    name, cuda, hip = row
    module = name.replace("-", "_")
    files = {
        f"{module}/__init__.py": b"",
        f"{module}/lib{module}_cuda130.so": needing(tmp_path, "libc.so", cuda),
        f"{module}/lib{module}_rocm72.so": needing(tmp_path, "libr.so", hip),
    }
    wheel = make_wheel(tmp_path, name, files, "0.50.2", "Requires-Dist: nvidia-cublas\n")
    DevelSite(sdk.path).install(name, files, "0.50.2")
    for word in (wheel, name):
        found = verdict(call, word)
        assert "E-PKG-026" not in codes(found), word
        assert "CUDA" not in str(found["verdict"])
    metadata = DevelSite(sdk.path).record(name, "0.50.2").with_name("METADATA")
    metadata.write_text(metadata.read_text().replace("\nVersion:", "\nRequires-Dist: nvidia-cublas\nVersion:", 1))
    assert "E-PKG-026" not in run_test(sdk.path, "--only", "packages").codes


@pytest.mark.parametrize("other", ["libOpenCL.so.1", "libLLVM.so.19", "libclang.so.19"])
def test_a_library_of_all_makers(call: Call, tmp_path: Path, other: str) -> None:
    """The SDK has these, too, and they say nothing of HIP."""
    files = {"mixed/libc.so": needing(tmp_path, "libc.so", "libcudart.so.13", other)}
    assert codes(verdict(call, make_wheel(tmp_path, "mixed", files, "1"))) == ["E-PKG-026"]


def test_code_for_amd_beside_a_sign_of_cuda(call: Call, tmp_path: Path) -> None:
    """A library that opens HIP by name needs none, and its GPU code tells."""
    has_code = library(tmp_path / "libk.so", [bundle(objects("gfx942"))]).read_bytes()
    files = {"mixed/libc.so": needing(tmp_path, "libc.so", "libcudart.so.13"), "mixed/libk.so": has_code}
    assert "E-PKG-026" not in codes(verdict(call, make_wheel(tmp_path, "mixed", files, "1")))
    del files["mixed/libk.so"]
    assert codes(verdict(call, make_wheel(tmp_path, "mixed", files, "2"))) == ["E-PKG-026"]


# ---- builds without GPUs (ROCm 5733, comfyui-rocm 131)


def put(site: Site, name: str, version: str, text: bytes, libraries: dict[str, bytes]) -> Path:
    files = {f"{name}/__init__.py": b"", f"{name}/version.py": text}
    record = DevelSite(site.path).install(
        name, files | {f"{name}/{path}": data for path, data in libraries.items()}, version
    )
    record.with_name("INSTALLER").write_text("uv\n")
    return record


@pytest.mark.parametrize("version", ["2.9.1+cpu", "2.9.1"])
def test_torch_without_gpus(sdk: Site, call: Call, tmp_path: Path, version: str) -> None:
    libraries = {"lib/libtorch_cpu.so": needing(tmp_path, "libt.so", "libm.so.6")}
    came = "https://user:secret@download.example/cpu/torch.whl?token=SECRET"
    record = put(sdk, "torch", version, FOR_CPU, libraries)
    record.with_name("direct_url.json").write_text(json.dumps({"url": came}))
    asked = call("check", "torch")
    assert asked.returncode == 1
    assert asked.stdout.startswith(f"torch: torch {version} is built without GPUs\n")
    assert re.search(
        r"E-PKG-029: .*; uv has installed it on 20\d\d-\d\d-\d\d \d\d:\d\d\s+from\s+https://download.example/cpu/torch.whl\n"
        r"\s+fix: rocm-sdk install torch ",
        asked.stdout,
    ), asked.stdout
    assert "ecret" not in asked.stdout.lower().replace("secrets", "")
    tested = run_test(sdk.path, "--only", "packages")  # sound beside an SDK
    assert tested.codes == {"W-PKG-028"}
    assert tested.status == 0
    assert tested.only("W-PKG-028")["fix"].startswith("rocm-sdk install torch ")


def test_companions_of_torch(sdk: Site, call: Call, tmp_path: Path) -> None:
    """Torchvision from the index for the CPU beside a torch for ROCm; and beside one for the CPU, where it fits."""
    own = {"_C.so": needing(tmp_path, "libv.so", "libm.so.6")}
    put(sdk, "torchvision", "0.27.0+cpu", b"__version__ = '0.27.0+cpu'\n", own)
    put(sdk, "torch", "2.12.0+rocm7.10.0", FOR_HIP, {"lib/libtorch_hip.so": needing(tmp_path, "libh.so", "libm.so.6")})
    tested = run_test(sdk.path, "--only", "packages")
    assert tested.codes == {"E-PKG-029"}
    assert tested.only("E-PKG-029")["fix"].startswith("rocm-sdk install torchvision ")
    assert "its version says it: 0.27.0+cpu" in tested.only("E-PKG-029")["cause"]
    assert codes(verdict(call, "torch")) == []
    # A torch that needs libtorch_hip is for ROCm, whatever the label of its version says.
    put(sdk, "torchaudio", "2.11.0+cpu", b"", {"lib/a.so": needing(tmp_path, "liba.so", "libtorch_hip.so")})
    assert tested.codes == run_test(sdk.path, "--only", "packages").codes
    assert "E-PKG-029" not in codes(verdict(call, "torchaudio"))
    for path in sdk.path.glob("torch-2.12*/METADATA"):
        path.write_text(path.read_text().replace("2.12.0+rocm7.10.0", "2.12.0"))
    (sdk.path / "torch/version.py").write_bytes(FOR_CPU)
    for path in list(sdk.path.glob("torch-2.12*")):
        path.rename(path.with_name("torch-2.12.0.dist-info"))
    assert run_test(sdk.path, "--only", "packages").codes == {"W-PKG-028"}


def test_a_hostile_origin(sdk: Site, call: Call) -> None:
    record = put(sdk, "torch", "2.9.1+cpu", FOR_CPU, {})
    record.with_name("direct_url.json").write_text(json.dumps({"url": "file:///\x1b[2Jx"}))
    for text in ("uv\x1b[2J", "", "x" * 10_000_000):
        record.with_name("INSTALLER").write_text(text)
        said = call("check", "torch").stdout
        assert "E-PKG-029" in said
        assert "\x1b" not in said and len(said) < 2000
    for text in ("[" * 100_000, "{}", '{"url": 1}', "\0"):
        record.with_name("direct_url.json").write_text(text)
        assert "E-PKG-029" in call("check", "torch").stdout
    for seconds in (1 << 62, (1 << 63) - 1, -(1 << 63)):  # which tmpfs keeps
        os.utime(record, (seconds, seconds))
        assert "E-PKG-029" in call("check", "torch").stdout


# ---- a tag that promises compiled code (pyg-rocm-build 22)


@pytest.mark.parametrize(("name", "tag"), [("torch-cluster", "cp311-cp311-linux_x86_64"), ("ops", "cp310-abi3-any")])
def test_a_tag_without_its_code(sdk: Site, call: Call, tmp_path: Path, name: str, tag: str) -> None:
    files = {f"{name.replace('-', '_')}/__init__.py": b"import torch\n"}
    made = make_wheel(tmp_path, name, files, "1.6.3")
    wheel = made.rename(made.with_name(made.name.replace("py3-none-any", tag)))
    found = verdict(call, wheel)
    assert "W-PKG-030" in codes(found)
    record = DevelSite(sdk.path).install(name, files, "1.6.3")
    assert "W-PKG-030" not in codes(verdict(call, name))
    record.with_name("WHEEL").write_text(f"Wheel-Version: 1.0\nTag: {tag}\n")
    installed = call("check", name)
    assert installed.returncode == 3
    assert f"none of its files is a library, and {tag} is for wheels with modules" in installed.stdout.replace(
        "\n  ", " "
    )
    (sdk.path / name.replace("-", "_") / "m.so").write_bytes(needing(tmp_path, "m.so", "libm.so.6"))
    record.write_text(f"{record.read_text()}{name.replace('-', '_')}/m.so,,\n")
    assert "W-PKG-030" not in codes(verdict(call, name))


# ---- copies of ROCm's libraries in a package (aiter 5318)


@pytest.mark.parametrize(
    ("copies", "code"),
    [
        (("librocblas-1a2b3c4d.so.5", "libhipblaslt-0f9e8d7c.so.1"), "N-LIB-030"),
        (("libhipfft.so.0", "librocfft-1a2b3c4d.so.0"), "N-LIB-030"),  # which this SDK does not have
        (("librocsparse.so.1",), "W-LIB-029"),  # the SDK's SONAME: the first copy answers for both
        (("libamd_comgr-0a0a0a0a.so.3", "librocblas-1a2b3c4d.so.5"), "W-LIB-029"),  # LLVM's options are a state
        (("libamdhip64-25fdb483.so.7", "librocblas-1a2b3c4d.so.5"), "W-LIB-026"),  # its whole ROCm
        (("libmagma-1a2b3c4d.so.5",), None),
    ],
)
def test_copies_of_rocm(sdk: Site, call: Call, tmp_path: Path, copies: tuple[str, ...], code: str | None) -> None:
    for name, package in (
        *(("librocblas.so.5", LIBRARIES), ("libhipblaslt.so.1", LIBRARIES)),
        *(("libamd_comgr.so.3", CORE),),
    ):
        sdk.library(name, f"int of_{name.partition('.')[0]};", (), package)
    files = {f"ext.libs/{name}": compile_library(tmp_path / name, name, "int b;").read_bytes() for name in copies}
    files["ext/__init__.py"] = b""
    found = verdict(call, make_wheel(tmp_path / "dist", "ext", files, "0.1"))
    assert [each for each in codes(found) if each in ("W-LIB-026", "W-LIB-029", "N-LIB-030")] == (
        [code] if code else []
    )
    if code in ("W-LIB-029", "N-LIB-030"):
        said = call("check", str(tmp_path / "dist/ext-0.1-py3-none-any.whl"), "--gpu", "gfx942").stdout
        size = sum(len(files[f"ext.libs/{name}"]) for name in copies)
        assert code in said
        assert f"copies of libraries of ROCm, {size / 1000:.1f} kB in all" in " ".join(said.split())
        assert all(name in said for name in copies)
    without = verdict(call, "ext") if DevelSite(sdk.path).install("ext", files, "0.1") else {}
    assert [each for each in codes(without) if each in ("W-LIB-026", "W-LIB-029", "N-LIB-030")] == (
        [code] if code else []
    )


def test_no_copies_of_rocm(sdk: Site, call: Call, tmp_path: Path) -> None:
    """The SDK's own package, and libraries of other makers whose names the SDK has, too."""
    sdk.library("libOpenCL.so.1", "int c;", (), CORE)
    for name, file in (("rocm-sdk-libraries", "librocsparse.so.1"), ("pyopencl", "libOpenCL-1a2b3c4d.so.1")):
        files = {f"lib/{file}": compile_library(tmp_path / file, file, "int b;").read_bytes()}
        found = verdict(call, make_wheel(tmp_path, name, files, "7.10.0"))
        assert not {"W-LIB-029", "N-LIB-030"} & {*codes(found)}, name


def test_the_whole_rocm_of_a_framework(call: Call, tmp_path: Path) -> None:
    """Without an SDK, nothing is there twice."""
    files = {
        "ext/librocblas.so.5": compile_file(
            ["gcc", "-shared", "-x", "c", "-"], tmp_path / "l.so", "int a;"
        ).read_bytes()
    }
    assert "W-LIB-029" not in codes(verdict(call, make_wheel(tmp_path, "ext", files, "0.1")))
