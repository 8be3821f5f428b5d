"""Reports about torch and others for CUDA, which the public index has under their plain names, beside an SDK."""

import json
from pathlib import Path

import pytest
from command_fixtures import Call
from compiled_files import compile_file
from sample_devel import DevelSite, make_wheel
from sample_report import install, run_test
from sample_site import Site

FOR_CUDA = b"__version__ = '2.14.1'\ndebug = False\ncuda: str | None = '13.0'\nhip: str | None = None\n"
FOR_HIP = FOR_CUDA.replace(b"'13.0'", b"None").replace(b"hip: str | None = None", b"hip: str | None = '7.10'")
FOR_CPU = FOR_CUDA.replace(b"'13.0'", b"None")
NEEDS = 'Requires-Dist: nvidia-cudnn-cu13==9.15; platform_system == "Linux"\n'


def put(site: Site, name: str, version: str, text: bytes = b"", requires: str = "") -> None:
    """Install a package without compiled files."""
    packages = DevelSite(site.path)
    packages.install(name, {f"{name}/version.py": text, f"{name}/__init__.py": b""}, version)
    metadata = packages.record(name, version).with_name("METADATA")
    metadata.write_text(metadata.read_text().replace("\nVersion:", f"\n{requires}Version:", 1))


# Version, version.py, further lines of METADATA -> what tells that it is for CUDA; None: it is not.
SIGNS = [
    ("2.14.1", FOR_CUDA, "", "its version.py says CUDA 13.0"),
    ("2.14.1+cu130", b"", "", "its version says it: 2.14.1+cu130"),
    ("2.14.1", b"", NEEDS, "it requires nvidia-cudnn-cu13"),
    ("2.14.1", FOR_CPU, NEEDS, None),
    ("2.14.1", FOR_HIP, NEEDS, None),
    ("2.14.1+rocm7.10.0", b"", NEEDS, None),
    ("2.14.1", b"", NEEDS.replace('platform_system == "Linux"', 'platform_machine == "other"'), None),
    ("2.14.1", b"", "Requires-Dist: nvidia-ml-py\n", None),
]


@pytest.mark.parametrize("row", SIGNS)
def test_torch(sdk: Site, call: Call, row: tuple[str, bytes, str, str | None]) -> None:
    version, text, requires, sign = row
    install(sdk)
    put(sdk, "torch", version, text, requires)
    checked = call("check", "torch")
    found = [each for each in run_test(sdk.path, "--only", "packages").problems if each["code"] == "E-PKG-026"]
    if sign is None:
        assert "CUDA" not in checked.stdout
        assert found == []
        return
    assert checked.returncode == 1
    assert checked.stdout.startswith(f"torch: torch {version} is built for CUDA\n")
    assert "nothing to check" not in checked.stdout
    assert "E-PKG-026: it is built for CUDA: " in checked.stdout
    assert "rocm-sdk install torch" in checked.stdout
    (problem,) = found
    assert problem["title"] == f"torch {version} is built for CUDA"
    assert problem["cause"].startswith(sign)
    assert problem["fix"].startswith("rocm-sdk install torch ")


def test_another_package_by_its_libraries(sdk: Site, call: Call, tmp_path: Path) -> None:
    """An installed one, and a wheel: that libraries of CUDA are missing follows, and is no problem of its own."""
    runtime = compile_file(
        ["cc", "-shared", "-x", "c", "-", "-Wl,-soname,libcudart.so.13"], tmp_path / "libcudart.so.13", ""
    )
    library = compile_file(
        ["cc", "-shared", "-x", "c", "-", "-Wl,--no-as-needed", "-x", "none", runtime], tmp_path / "_C.so", "int c;"
    )
    files = {"vllm/_C.abi3.so": library.read_bytes(), "vllm/__init__.py": b""}
    DevelSite(sdk.path).install("vllm", files, "0.20")
    wheel = make_wheel(tmp_path, "vllm", files, "0.20")
    for word in ("vllm", str(wheel)):
        checked = call("check", "--json", word)
        (verdict,) = json.loads(checked.stdout)["verdicts"]
        assert [each["code"] for each in verdict["problems"] if each["severity"] == "error"] == ["E-PKG-026"]
        assert verdict["verdict"] == "vllm 0.20 is built for CUDA"
        assert "Install a build of vllm for ROCm" in verdict["problems"][0]["fix"]
        assert verdict["works"] is False


def test_what_requires_it(sdk: Site, call: Call) -> None:
    put(sdk, "torch", "2.14.1", FOR_CUDA)
    put(sdk, "vllm", "0.20", b"", "Requires-Dist: torch==2.14.1\n")
    checked = call("check", "vllm")
    assert checked.returncode == 1
    assert "torch 2.14.1 is built for CUDA" in checked.stdout
