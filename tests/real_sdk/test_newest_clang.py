"""The output of a clang of today for HIP sources: compressed bundles, generic targets, version 6.

The compiler comes from Debian's packages, unpacked and not installed.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sample_device_code import bundle

from rocm_sdk import DeviceBundle, DeviceCode, device_code
from rocm_sdk_build.code.extract import extract_code
from rocm_sdk_build.code.retarget import Pair
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file
from rocm_sdk_build.inputs.apt import Apt

pytestmark = pytest.mark.slow

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
PLAIN_KERNEL = "__attribute__((amdgpu_kernel)) void scale(float *Y, float N) { *Y *= N; }"
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


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[str, str]]:
    """Yield the environment in which the compiler and its tools find each other.

    The unpacked packages go afterwards.
    """
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there are no packages to take the compiler from")
    apt = Apt(BUILD / "newest-clang")
    reached = apt.closure([*NAMES], ())
    packages = [package for package in reached if package.name in {*NAMES, *LIBRARIES}]
    roots = apt.unpack(packages).values()
    libraries = ":".join(str(directory) for root in roots for directory in root.glob("usr/lib/*-linux-gnu"))
    yield {
        "PATH": ":".join([*(str(root / f"usr/lib/llvm-{VERSION}/bin") for root in roots), os.environ["PATH"]]),
        "LD_LIBRARY_PATH": libraries,
    }
    apt.forget(packages)


@pytest.fixture
def compiled(tools: dict[str, str], tmp_path: Path) -> Callable[..., Path]:
    """Return a function that compiles an object file with a kernel for all targets.

    The arguments are the name and flags; keywords are environment variables.
    """

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


@pytest.mark.parametrize("linker", ["bfd", "lld"])
@pytest.mark.parametrize("version", ["plain", "2", "3"])
def test_what_is_kept_as_the_bundler_sees_it(
    compiled: Callable[..., Path], tools: dict[str, str], tmp_path: Path, version: str, linker: str
) -> None:
    """Each code object that it takes out of the new library is the one that it takes out of the old one."""
    flags = () if version == "plain" else ("--offload-compress",)
    objects = [compiled(f"kernel{i}", *flags, COMPRESSED_BUNDLE_FORMAT_VERSION=version) for i in range(2)]
    path, output = tmp_path / "libx.so", tmp_path / "new.so"
    link = ["gcc", "-shared", f"-fuse-ld={linker}", "-Wl,--unresolved-symbols=ignore-all", *map(str, objects)]
    subprocess.run([*link, "-o", str(path)], check=True)
    rewrite_file(str(path), str(output), NewCode(("gfx950", "gfx1151", "gfx90a"), check_loading=False))
    kept = ["gfx11-generic", "gfx9-4-generic", "gfx90a:xnack+", "gfx90a:xnack-", "gfx950"]
    assert targets(device_code(output)) == [kept] * 2
    for old, new in zip(device_code(path).bundles, device_code(output).bundles, strict=True):
        for target in kept:
            entry = f"hipv4-amdgcn-amd-amdhsa--{target}"
            assert unbundled(tools, output, new, entry, tmp_path) == unbundled(tools, path, old, entry, tmp_path)


def unbundled(tools: dict[str, str], path: Path, bundle: DeviceBundle, entry: str, directory: Path) -> bytes:
    cut, image = directory / "cut", directory / "image"
    cut.write_bytes(path.read_bytes()[bundle.offset : bundle.offset + bundle.size])
    command = ["clang-offload-bundler", "-unbundle", "-type=o", f"-targets={entry}", f"-inputs={cut}"]
    subprocess.run([*command, f"-outputs={image}"], env=tools, check=True)
    return image.read_bytes()


def test_retargeted_code_is_what_it_compiles(tools: dict[str, str], tmp_path: Path) -> None:
    def compile_for(target: str) -> bytes:
        path = tmp_path / f"{target}.co"
        words = ["-x", "c", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-O2"]
        subprocess.run(["clang", *words, "-", "-o", str(path)], input=PLAIN_KERNEL, text=True, env=tools, check=True)
        return path.read_bytes()

    source, output = tmp_path / "x.co", tmp_path / "y.co"
    source.write_bytes(bundle({"hipv4-amdgcn-amd-amdhsa--gfx1030": compile_for("gfx1030")}))
    rewrite_file(str(source), str(output), NewCode(retarget=(Pair("gfx1030", "gfx1036"),)))
    found = {each.id: Path(each.path).read_bytes() for each in extract_code(str(output), str(tmp_path / "out"))}
    assert found == {f"hipv4-amdgcn-amd-amdhsa--{name}": compile_for(name) for name in ("gfx1030", "gfx1036")}
