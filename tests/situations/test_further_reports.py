"""Further public reports of installing, packaging and building wheels of ROCm."""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from artifact_tree import usual_tree
from build_command import build_command
from compiled_files import compile_file
from environments import environment_with_pip
from package_index import serve, write_wheel
from programs import completed
from sample_devel import DevelSite, core_files, libraries_files, link, make_wheel, member, sample_members
from test_cmake_packages import CMAKE

from rocm_sdk.fit.verdicts.variants import _major_in
from rocm_sdk_build.output.index import IncompleteIndexError, write_index

VERSION = "7.10.0"


@pytest.fixture
def site(tmp_path: Path) -> DevelSite:
    return DevelSite(tmp_path / "site-packages")


# ---- packages that are made


@pytest.mark.slow
def test_7113_artifacts_of_a_target_with_features(tmp_path: Path) -> None:
    """A build with sanitizers has artifacts of gfx942:xnack+; `:` and `+` are in no name of a package."""
    tree = usual_tree(tmp_path / "artifacts")
    tree.file("blas_lib_gfx942:xnack+", "lib/rocblas/library/Kernels_gfx942-xnack+.co", b"code" * 10)
    for path in tree.root.glob("blas_lib_gfx1100"):
        path.rename(path.with_name("blas_lib_gfx950:xnack+"))  # and no artifact of the target without features
    words = ("--artifact-dir", tree.root, "--dest-dir", tmp_path, "--version", VERSION, "--no-check", "--no-loader")
    done = build_command("artifacts", *words)
    assert (done.returncode, done.stderr) == (0, "")
    dist = tmp_path / "dist"
    made = {path.name.partition("-")[0]: path for path in dist.glob("*device*.whl")}
    assert made.keys() == {"rocm_sdk_device_gfx942", "rocm_sdk_device_gfx950"}
    with zipfile.ZipFile(made["rocm_sdk_device_gfx942"]) as wheel:
        kernels = {Path(name).name for name in wheel.namelist() if name.endswith(".co")}
    assert kernels == {"Kernels_gfx942.co", "Kernels_gfx942-xnack+.co"}  # one package for either mode of the GPU
    with tarfile.open(dist / f"rocm-{VERSION}.tar.gz") as archive:
        facts = archive.extractfile(f"rocm-{VERSION}/PKG-INFO")
        assert facts is not None
        extras = {
            line.partition(": ")[2] for line in facts.read().decode().splitlines() if line[:15] == "Provides-Extra:"
        }
    assert {each for each in extras if each.startswith("device-gfx")} == {"device-gfx942", "device-gfx950"}
    target = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", target]
    assert completed([*command, *made.values()]).returncode == 0


# ---- indexes: what the pages lack, and which of many versions is taken


def _split_wheels(directory: Path, *, family_requires: tuple[str, ...]) -> None:
    """Write an SDK and torch whose code is in wheels of a target and of its family."""
    release, torch = "10.0.1", "2.12.0+rocm10.0.1"
    for name in ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx1100"):
        write_wheel(directory, name, release)
    extras = ("libraries", "device-gfx1100")
    parts = (f'rocm-sdk-libraries=={release}; extra == "libraries"',)
    parts += (f'rocm-sdk-device-gfx1100=={release}; extra == "device-gfx1100"',)
    write_wheel(directory, "rocm", release, (f"rocm-sdk-core=={release}", *parts), ",".join(extras))
    write_wheel(directory, "amd-torch-device-gfx1100", torch, (f"rocm-sdk-device-gfx1100=={release}",))
    write_wheel(directory, "amd-torch-device-gfx11", torch, family_requires)
    wanted = [f'amd-torch-device-{each}=={torch}; extra == "device-gfx1100"' for each in ("gfx1100", "gfx11")]
    write_wheel(directory, "torch", torch, (f"rocm[libraries]=={release}", *wanted), "device-gfx1100")


def test_5555_pages_of_a_family_that_requires_no_package(tmp_path: Path) -> None:
    """The wheel of a family requires rocm-sdk-device-gfx11, which is made for targets alone."""
    _split_wheels(tmp_path, family_requires=("rocm-sdk-device-gfx11==10.0.1",))
    done = build_command("index", tmp_path)
    assert done.returncode == 1
    (said, _) = done.stderr.splitlines()
    wheel = tmp_path / "amd_torch_device_gfx11-2.12.0+rocm10.0.1-py3-none-any.whl"
    assert said == f"rocm-sdk-build: {wheel}: requires rocm-sdk-device-gfx11==10.0.1, which is not there"
    _split_wheels(tmp_path, family_requires=())  # as the wheels are made since
    done = build_command("index", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Yield the address of the pages in `packages`, which a test has still to write."""
    (tmp_path / "packages").mkdir()
    yield from serve(tmp_path / "packages")


def _printed(tmp_path: Path, address: str) -> subprocess.CompletedProcess[str]:
    """Ask an index for torch with the code for a gfx1100."""
    python = environment_with_pip(tmp_path / "environment")
    command = [sys.executable, "-m", "rocm_sdk", "install", "torch", "--gpu", "gfx1100", "--print", "--python", python]
    return completed(command, env=os.environ | {"ROCM_SDK_INDEX": address})


@pytest.mark.slow
def test_5555_a_family_that_requires_no_package(tmp_path: Path, served: str) -> None:
    _split_wheels(tmp_path / "packages", family_requires=("rocm-sdk-device-gfx11==10.0.1",))
    with pytest.raises(IncompleteIndexError):  # and the pages are written
        write_index(tmp_path / "packages")
    done = _printed(tmp_path, served)
    assert (done.returncode, done.stdout) == (1, "")
    said = done.stderr.splitlines()[0]
    assert "rocm-sdk-device-gfx11" in said
    assert said.endswith(", which amd-torch-device-gfx11 requires:")


@pytest.mark.slow
def test_1056_an_older_build_with_a_higher_local_version(tmp_path: Path, served: str) -> None:
    """For pip, 2.7.0a0+rocmsdk20250603 is newer than 2.7.0a0+rocm7.0.0rc20250715: letters are above numbers."""
    packages, release = tmp_path / "packages", "7.0.0rc20250715"
    libraries = "rocm-sdk-libraries-gfx110x-dgpu"
    for name in ("rocm-sdk-core", libraries):
        write_wheel(packages, name, release)
    parts = (f"rocm-sdk-core=={release}", f'{libraries}=={release}; extra == "libraries"')
    write_wheel(packages, "rocm", release, parts, "libraries")
    write_wheel(packages, "torch", f"2.7.0a0+rocm{release}", (f"rocm[libraries]=={release}",))
    write_wheel(packages, "torch", "2.7.0a0+rocmsdk20250603", ("rocm-sdk[libraries]",))
    write_wheel(packages, "rocm-sdk", "6.5.0rc20250603", ("rocm-sdk-core==6.5.0rc20250603",), "libraries")
    write_wheel(packages, "rocm-sdk-core", "6.5.0rc20250603")
    write_index(packages)
    done = _printed(tmp_path, served)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-2:] == [f"'rocm[libraries]=={release}'", f"torch==2.7.0a0+rocm{release}"]


@pytest.mark.slow
def test_7183_two_numbers_before_the_first_point(tmp_path: Path, served: str) -> None:
    """rocm7.15.0 is above rocm10.1.0 for pip, which compares their letters and numbers as one text."""
    packages = tmp_path / "packages"
    for release in ("7.15.0", "10.1.0"):
        for name in ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx1100"):
            write_wheel(packages, name, release)
        parts = [f"rocm-sdk-core=={release}", f'rocm-sdk-libraries=={release}; extra == "libraries"']
        parts += [f'rocm-sdk-device-gfx1100=={release}; extra == "device-gfx1100"']
        write_wheel(packages, "rocm", release, tuple(parts), "libraries,device-gfx1100")
        torch = f"2.12.0+rocm{release}"
        write_wheel(packages, "amd-torch-device-gfx1100", torch)
        code = f'amd-torch-device-gfx1100=={torch}; extra == "device-gfx1100"'
        write_wheel(packages, "torch", torch, (f"rocm[libraries]=={release}", code), "device-gfx1100")
    write_index(packages)
    done = _printed(tmp_path, served)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "'torch[device-gfx1100]==2.12.0+rocm10.1.0'"


# ---- the development tree, and what builds with it

STUB = r"""
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    char own[PATH_MAX], program[PATH_MAX + 16];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    (void)count;
    own[length > 0 ? length : 0] = 0;
    snprintf(program, sizeof program, "%s/amdllvm", dirname(own));
    execv(program, words);
    fprintf(stderr, "could not exec %s: %s\n", program, strerror(errno));
    return 1;
}
"""
LLVM = '#include <stdio.h>\nint main(void) { return puts("compiles") < 0; }'


def test_7141_compilers_of_the_tree_find_amdllvm(site: DevelSite, tmp_path: Path) -> None:
    """The stub amdclang starts amdllvm from the directory of its own file, and amdllvm is in lib/llvm/bin alone."""
    stub = compile_file(["gcc", "-x", "c", "-"], tmp_path / "amdclang", STUB)
    llvm = compile_file(["gcc", "-x", "c", "-"], tmp_path / "amdllvm", LLVM)
    place = "_rocm_sdk_core/lib/llvm/bin"
    site.install("rocm-sdk-core", core_files() | {f"{place}/{each.name}": each.read_bytes() for each in (stub, llvm)})
    site.install("rocm-sdk-libraries", libraries_files())
    links = {
        "bin/amdclang": f"../../{place}/amdclang",
        "lib/llvm/bin/amdclang": f"../../../../{place}/amdclang",
        "lib/llvm/bin/amdllvm": f"../../../../{place}/amdllvm",
    }
    others = [each for each in sample_members() if Path(each[0].name).name != "amdclang"]
    site.install_devel([*others, *(link(f"_rocm_sdk_devel/{path}", text) for path, text in links.items())])
    place_of_programs = Path(site.command("path", "--bin").stdout.strip())
    assert place_of_programs == site.tree / "bin"
    assert not (place_of_programs / "amdllvm").exists()
    for path in (place_of_programs, site.tree / "lib/llvm/bin"):
        done = completed([path / "amdclang", "--version"])
        assert (done.returncode, done.stdout) == (0, "compiles\n"), done.stderr


def test_4992_a_tree_that_is_extracted_in_part(site: DevelSite) -> None:
    """Another program was killed amid the extraction: the archive is there, and half of what it has."""
    members = sample_members()
    site.install_sdk(members=members)
    with tarfile.open(site.path / "rocm_sdk_devel/_devel.tar") as archive:
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)  # Pythons without filters trust
        for each in archive.getmembers()[: len(members) // 2]:
            archive.extract(each, site.path)
    assert (site.tree / "bin/hipcc").exists()
    assert not (site.tree / "lib/cmake").exists()
    done = site.command("test", "--only", "devel", check=False)
    assert "W-DEVEL-001  the extraction of the development tree is not complete" in done.stdout
    cmake = Path(site.command("path", "--cmake").stdout.strip())  # what the user types makes it whole
    assert (cmake / "hip/hip-config.cmake").read_bytes() == b"# hip\n"
    assert (site.tree / "lib/llvm/bin/clang-20").is_file()
    assert "W-DEVEL" not in site.command("test", "--only", "devel", check=False).stdout


@pytest.mark.slow
def test_26060_a_project_that_reads_another_variable(site: DevelSite, tmp_path: Path) -> None:
    """llama.cpp reads ROCM_PATH, and its page sets HIP_PATH alone: `env` sets what a build reads."""
    config = ("_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake", b'set(hip_FOUND "1")\n')
    site.install_sdk(members=[*(each for each in sample_members() if each[0].name != config[0]), member(*config)])
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\nproject(ggml-hip LANGUAGES NONE)\n"
        "if(NOT EXISTS $ENV{ROCM_PATH})\n  set(ROCM_PATH /nothing)\nelse()\n  set(ROCM_PATH $ENV{ROCM_PATH})\nendif()\n"
        "list(APPEND CMAKE_PREFIX_PATH ${ROCM_PATH})\nfind_package(hip REQUIRED)\n"
    )
    site.command("init", "--quiet")
    configure = f"{CMAKE} -S {tmp_path} -B {tmp_path}/build --fresh"
    variables = site.environment(HIP_PATH=str(site.tree))
    assert completed(["sh", "-c", configure], env=variables).returncode == 1
    lines = site.command("env", env=variables).stdout
    done = completed(["sh", "-c", f"{lines}\n{configure}"], env=variables)
    assert done.returncode == 0, done.stderr


# ---- what was wrong, silent or half


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("composable_kernel_dev_generic", "its name is not NAME_COMPONENT_FAMILY"),
        ("composable-kernel_dev", "its name is not NAME_COMPONENT_FAMILY"),
        ("blas_dev_doc", "'doc' is not a family of an artifact"),
    ],
)
def test_935_a_name_that_is_no_artifacts(tmp_path: Path, name: str, said: str) -> None:
    """An artifact whose name is not of three parts was dropped without a word."""
    tree = usual_tree(tmp_path / "artifacts")
    tree.file(name, "include/x.hpp", "x")
    done = build_command("artifacts", tree.root, "--output", tmp_path / "dist", "--version", VERSION, "--no-loader")
    assert done.returncode == 1
    assert name in done.stderr and said in done.stderr
    assert "none of the three has a _" in done.stderr
    (tree.root / name / "artifact_manifest.txt").unlink()
    if not name.startswith("blas"):  # any other directory
        done = build_command("artifacts", tree.root, "--output", tmp_path, "--version", VERSION, "--no-check")
        assert done.returncode == 0, done.stderr
        with tarfile.open(tree.root / f"{name}.tar.xz", "w:xz"):
            pass
        done = build_command("artifacts", tree.root, "--output", tmp_path, "--version", VERSION, "--no-check")
        assert done.returncode == 1
        assert f"{name}.tar.xz: its name is not NAME_COMPONENT_FAMILY.tar.xz" in done.stderr


@pytest.mark.parametrize("kpack", [True, False])
def test_3410_artifacts_without_a_gpu(tmp_path: Path, kpack: bool) -> None:
    tree = usual_tree(tmp_path / "artifacts", kpack)
    for path in tree.root.glob("blas_lib_gfx*"):
        path.rename(tmp_path / path.name)
    done = build_command("artifacts", tree.root, "--output", tmp_path / "dist", "--version", VERSION, "--no-loader")
    assert done.stderr.startswith(f"{tree.root}: no artifact is for a GPU target or target family, so no package is\n")


@pytest.mark.parametrize(
    ("tag", "is_told"), [("manylinux_2_17", True), ("manylinux2014", True), ("manylinux_2_34", False)]
)
def test_628_a_tag_of_an_older_glibc(tmp_path: Path, tag: str, is_told: bool) -> None:
    """The file needs glibc 2.34, which this system may have: the tag promises less."""
    source = 'extern int x(void); __asm__(".symver x,pthread_create@GLIBC_2.34"); int f(void) { return x(); }'
    machine = os.uname().machine
    library = compile_file(["gcc", "-shared", "-fPIC", "-x", "c", "-"], tmp_path / "libllama.so", source)
    made = make_wheel(tmp_path, "llama-cpp", {"llama/libllama.so": library.read_bytes()}, "1")
    wheel = made.rename(made.with_name(f"llama_cpp-1-py3-none-{tag}_{machine}.whl"))
    done = completed([sys.executable, "-m", "rocm_sdk", "check", wheel, "--gpu", "gfx1100"])
    told = "libllama.so needs glibc 2.34" in " ".join(done.stdout.split())
    assert (told, "W-PKG-030" in done.stdout) == (is_told, is_told), done.stdout


@pytest.mark.parametrize(
    ("name", "major"),
    [
        ("lib_rocm64.so", "6"),
        ("x_rocm714.so", "7"),
        ("x_rocm101.so", "10"),
        ("x_rocm1010.so", "10"),
        ("x_cuda128.so", None),
    ],
)
def test_1890_the_release_in_the_name_of_a_variant(name: str, major: str | None) -> None:
    assert _major_in(f"/a/{name}") == major
