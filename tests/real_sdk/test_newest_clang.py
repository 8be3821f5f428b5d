"""What a clang of today makes of HIP sources: compressed bundles, generic targets, version 6. It comes from Debian's
packages, unpacked and not installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocm_sdk import DeviceCode, device_code
from rocm_sdk_build.apt import Apt

BUILD = Path(__file__).resolve().parents[2] / "build"
VERSION = 22
NAMES = (f"clang-{VERSION}", f"clang-tools-{VERSION}", f"lld-{VERSION}", f"llvm-{VERSION}")
LIBRARIES = (f"libllvm{VERSION}", f"libclang-cpp{VERSION}")

# A kernel without HIP's headers.
SOURCE = """
struct dim3 { unsigned x, y, z; };
extern "C" __attribute__((host)) int hipLaunchKernel(const void *, dim3, dim3, void **, __SIZE_TYPE__, struct stream *);
__attribute__((global)) void NAME(int *value) { *value = 1; }
"""
TARGETS = [
    "gfx1030",
    "gfx11-generic",
    "gfx1250",
    "gfx9-4-generic",
    "gfx90a:xnack+",
    "gfx90a:xnack-",
    "gfx942",
    "gfx950",
]


@pytest.fixture(scope="session")
def tools() -> dict[str, str]:
    """The environment in which the compiler and its tools find each other."""
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there are no packages to take the compiler from")
    apt = Apt(BUILD / "newest-clang")
    reached = apt.closure([*NAMES], ())
    packages = [package for package in reached if package.name in {*NAMES, *LIBRARIES}]
    roots = apt.unpack(packages).values()
    libraries = ":".join(str(directory) for root in roots for directory in root.glob("usr/lib/*-linux-gnu"))
    return {
        "PATH": ":".join([*(str(root / f"usr/lib/llvm-{VERSION}/bin") for root in roots), os.environ["PATH"]]),
        "LD_LIBRARY_PATH": libraries,
    }


@pytest.fixture
def compiled(tools: dict[str, str], tmp_path: Path) -> Callable[..., Path]:
    """`compiled("name", "-flag", FORMAT="2")`: an object file with a kernel for all targets."""

    def compile_one(name: str, *flags: str, **environment: str) -> Path:
        path = tmp_path / f"{name}.o"
        command = ["clang", "-x", "hip", "-nogpulib", "-nogpuinc", "-nohipwrapperinc", "-fPIC", "-w", *flags]
        command += [f"--offload-arch={target}" for target in TARGETS]
        source = path.with_suffix(".hip")
        source.write_text(SOURCE.replace("NAME", name))
        subprocess.run([*command, "-c", str(source), "-o", str(path)], env=tools | environment, check=True)
        return path

    return compile_one


def targets(code: DeviceCode) -> list[list[str]]:
    return [[image.target for image in bundle.images] for bundle in code.bundles]


def test_objects_of_version_6(compiled: Callable[..., Path]) -> None:
    (bundle,) = device_code(compiled("kernel", "-mcode-object-version=6")).bundles
    assert [image.target for image in bundle.images] == TARGETS
    assert all(image.object_target == image.target and image.version == 6 for image in bundle.images)
    assert [image.generic_version for image in bundle.images] == ["generic" in target for target in TARGETS]


@pytest.mark.parametrize("flags", [(), ("-Wl,-z,pack-relative-relocs",)])
def test_a_library_of_all_formats(compiled: Callable[..., Path], tmp_path: Path, flags: tuple[str, ...]) -> None:
    packed = [compiled(f"packed{i}", "--offload-compress", COMPRESSED_BUNDLE_FORMAT_VERSION=f"{i}") for i in (2, 3)]
    objects = [compiled("plain"), *packed]
    path = tmp_path / "libx.so"
    link = ["gcc", "-shared", "-Wl,--unresolved-symbols=ignore-all", *flags, *map(str, objects), "-o", str(path)]
    subprocess.run(link, check=True)
    code = device_code(path)
    assert targets(code) == [TARGETS] * 3
    assert [(bundle.container, bundle.version, bundle.compression) for bundle in code.bundles] == [
        ("bundle", 0, None),
        ("compressed bundle", 2, "zstd"),
        ("compressed bundle", 3, "zstd"),
    ]


def test_each_bundle_as_its_own_bundler_sees_it(
    compiled: Callable[..., Path], tools: dict[str, str], tmp_path: Path
) -> None:
    for flags in ((), ("--offload-compress",)):
        path = compiled("kernel", *flags)
        (bundle,) = device_code(path).bundles
        cut = tmp_path / "bundle"
        cut.write_bytes(path.read_bytes()[bundle.offset : bundle.offset + bundle.size])
        command = ["clang-offload-bundler", "-list", "-type=o", f"-inputs={cut}"]
        listed = subprocess.check_output(command, env=tools, text=True).split()
        assert sorted(image.id or "" for image in bundle.images) == sorted(each for each in listed if "amdgcn" in each)
        for image in bundle.images:
            command = ["clang-offload-bundler", "-unbundle", "-type=o", f"-targets={image.id}", f"-inputs={cut}"]
            subprocess.run([*command, f"-outputs={tmp_path / 'image'}"], env=tools, check=True)
            assert (tmp_path / "image").stat().st_size == image.size


def test_relocatable_device_code(compiled: Callable[..., Path]) -> None:
    code = device_code(compiled("kernel", "-fgpu-rdc", "--offload-new-driver"))
    assert sorted(target.target for target in code.targets) == TARGETS
    assert {bundle.container for bundle in code.bundles} == {"offload binary"}
    assert {image.format for bundle in code.bundles for image in bundle.images} == {"bitcode"}
