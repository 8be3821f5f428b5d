"""`rocm-sdk-build prefix`: an installed ROCm becomes packages, compared with lists made from the specification."""

import io
import json
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from installed_rocm import Prefix, usual_rocm
from other_user import USER, OtherUser
from prefix_packages import (
    OF_GFX90A,
    OF_GFX1030,
    SHARED_LIBRARIES,
    VERSION,
    build,
    built,
    development,
    extras,
    platform_files,
    refused,
    search_path,
    small,
    wheel,
)

FACTS_OF_LIBRARIES = "_rocm_sdk_libraries/share/therock/libraries_dist_info.json"


@pytest.fixture(scope="session")
def plain(rocm: Prefix, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return packages with all code in one, and the messages of their build."""
    dist = tmp_path_factory.mktemp("plain") / "dist"
    return dist, built(dist, rocm.root)


CORE = {
    "bin/amdclang",
    "bin/hipcc",
    "bin/rocm_agent_enumerator",
    "bin/rocminfo",
    "include/hip/hip_runtime.h",
    "lib/.hipInfo",
    "lib/libamd_comgr.so.3",
    "lib/libamdhip64.so.7",
    "lib/libhsa-runtime64.so.1",
    "lib/llvm/bin/amdclang",
    "lib/llvm/bin/clang",
    "lib/llvm/bin/clang-20",
    "share/therock/dist_info.json",
}
PROFILER = {
    "bin/rocprof-sys-avail",
    "lib/librocprof-sys.so",
    "lib/librocprof-sys.so.1",
    "share/doc/rocprofiler-systems/LICENSE",
}
DEVEL_ALONE = {
    "bin/rocblas-bench",
    "include/rocrand/rocrand.h",
    "lib/cmake/hip/hip-config.cmake",
    "lib/llvm/lib/clang/20/include/stddef.h",
    "lib/pkgconfig/hip.pc",
    *(f"share/doc/{name}/LICENSE" for name in ("hip", "llvm", "rocprim", "rocrand", "unknown")),
    "share/strange/data.txt",
}


@pytest.mark.slow
def test_what_is_in_which_wheel(plain: tuple[Path, str]) -> None:
    dist, _ = plain
    assert {path.name.partition(f"-{VERSION}")[0] for path in dist.iterdir()} == {
        *("rocm", "rocm_profiler", "rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_libraries")
    }
    assert platform_files(dist, "rocm_sdk_core") == CORE
    assert platform_files(dist, "rocm_sdk_libraries") == SHARED_LIBRARIES | OF_GFX90A | OF_GFX1030
    assert platform_files(dist, "rocm_profiler") == PROFILER
    members = development(dist)
    assert {name for name, each in members.items() if each.isreg()} == DEVEL_ALONE | {"__init__.py"}
    links = {name: each.linkname for name, each in members.items() if each.issym()}
    assert links["lib/libamdhip64.so"] == links["lib/libamdhip64.so.7.1.2"] == "libamdhip64.so.7"
    assert links["lib/libamdhip64.so.7"] == "../../_rocm_sdk_core/lib/libamdhip64.so.7"
    assert links["llvm"] == "lib/llvm"
    assert not {"lib64", "lib/libgone.so", "lib/loop", "bin/shell", "share/man/man1/hipcc.1"} & members.keys()
    scripts = {path for path in wheel(dist, "rocm_sdk_core").namelist() if ".data/scripts/" in path}
    assert {path.rpartition("/")[2] for path in scripts} == {"amdclang", "hipcc", "rocm_agent_enumerator", "rocminfo"}


def test_what_is_told(plain: tuple[Path, str], rocm: Prefix) -> None:
    lost = [f"  {rocm.root}/{path}" for path in ("bin/shell", "lib/libgone.so", "lib/loop")]
    unclassified = ["  bin/rocblas-bench", "  share/strange/data.txt"]
    assert plain[1].splitlines() == [
        "links that lead out of the roots, or to nothing that is packaged, and are left out:",
        *lost,
        "taken by no rule, and packaged in rocm-sdk-devel:",
        *unclassified,
    ]


def test_what_the_sdk_says(plain: tuple[Path, str]) -> None:
    facts = json.loads(wheel(plain[0], "rocm_sdk_core").read("_rocm_sdk_core/share/therock/dist_info.json"))
    assert facts["dist_amdgpu_targets"] == "gfx90a;gfx942;gfx1030"
    own = json.loads(wheel(plain[0], "rocm_sdk_libraries").read(FACTS_OF_LIBRARIES))
    absent = {*facts["absent_libraries"], *own["absent_libraries"]}
    assert not absent & {"amdhip64", "hsa-runtime64", "amd_comgr", "hiprand", "rocrand", "rocblas", "hipsparselt"}
    assert {"hipblas", "miopen", "rccl", "hiprtc", "rocm-openblas"} <= absent
    scope: dict[str, object] = {}
    exec(wheel(plain[0], "rocm_sdk_libraries").read("rocm_sdk_libraries/_dist_info.py").decode(), scope)
    assert scope["AVAILABLE_TARGET_FAMILIES"] == ["gfx90a", "gfx942", "gfx1030"]


LICENCES = {
    "rocm_sdk_core": {"hip", "llvm", "unknown"},
    "rocm_sdk_libraries": {"rocrand", "unknown"},
    "rocm_profiler": {"rocprofiler-systems", "unknown"},
    "rocm_sdk_devel": {"hip", "llvm", "rocprim", "rocrand", "unknown"},
}


def licences(archive: zipfile.ZipFile) -> set[str]:
    """Return the components whose licences a wheel has."""
    names = (name.partition(".dist-info/licenses/share/doc/")[2] for name in archive.namelist())
    return {name.partition("/")[0] for name in names if name}


def test_licences(plain: tuple[Path, str]) -> None:
    """Each package has its own; what no row names goes with all that have something of its root."""
    for name, expected in LICENCES.items():
        assert licences(wheel(plain[0], name)) == expected, name


@pytest.mark.slow
def test_licences_of_several_roots(tmp_path: Path) -> None:
    """Each package has the licences of the roots that it has files of."""
    for name, path in (("one", "lib/libamdhip64.so.7.1"), ("two", "lib/librocblas.so.5.0")):
        Prefix(tmp_path / name).library(path)
        Prefix(tmp_path / name).file(f"share/doc/{name}/LICENSE", name)
    built(tmp_path / "dist", tmp_path / "one", tmp_path / "two")
    assert licences(wheel(tmp_path / "dist", "rocm_sdk_core")) == {"one"}
    assert licences(wheel(tmp_path / "dist", "rocm_sdk_libraries")) == {"two"}


def test_every_extra_is_a_package(plain: tuple[Path, str]) -> None:
    assert extras(plain[0]) == {"libraries", "devel", "profiler"}


def test_search_paths(plain: tuple[Path, str], tmp_path: Path) -> None:
    core = "$ORIGIN/../../_rocm_sdk_core/lib"
    assert search_path(wheel(plain[0], "rocm_sdk_core"), "_rocm_sdk_core/lib/libamdhip64.so.7", tmp_path) == [
        *("$ORIGIN", f"{core}/llvm/lib", f"{core}/rocm_sysdeps/lib")
    ]
    libraries = wheel(plain[0], "rocm_sdk_libraries")
    assert search_path(libraries, "_rocm_sdk_libraries/lib/libhiprand.so.1", tmp_path) == [
        *("$ORIGIN", core, f"{core}/rocm_sysdeps/lib", f"{core}/host-math/lib", f"{core}/llvm/lib")
    ]
    found = search_path(wheel(plain[0], "rocm_sdk_core"), "_rocm_sdk_core/bin/rocminfo", tmp_path)
    assert found[0] == "$ORIGIN/../lib"


@pytest.mark.slow
def test_options_of_all_packages(rocm: Prefix, tmp_path: Path) -> None:
    words = ("--platform-tag", "manylinux_2_39_x86_64", "--size-limit", "1", "--jobs", "1", "--version-suffix", "_n")
    built(tmp_path / "dist", rocm.root, "--no-wheel-compression", "--no-check", *words)
    assert len(list((tmp_path / "dist").glob("*-py3-none-manylinux_2_39_x86_64.whl"))) == 4
    assert "_rocm_sdk_core_n/bin/rocminfo" in wheel(tmp_path / "dist", "rocm_sdk_core").namelist()


@pytest.mark.slow
def test_the_same_bytes(plain: tuple[Path, str], rocm: Prefix, tmp_path: Path) -> None:
    built(tmp_path / "dist", rocm.root)
    for path in plain[0].iterdir():
        assert (tmp_path / "dist" / path.name).read_bytes() == path.read_bytes(), path.name


# ---- layouts ----


@pytest.mark.slow
@pytest.mark.parametrize("libdir", ["lib64", "lib/x86_64-linux-gnu"])
def test_library_directories(plain: tuple[Path, str], tmp_path: Path, libdir: str) -> None:
    prefix = usual_rocm(tmp_path / "usr", libdir)
    built(tmp_path / "dist", prefix.root)
    for name in ("rocm_sdk_core", "rocm_sdk_libraries", "rocm_profiler"):
        assert platform_files(tmp_path / "dist", name) == platform_files(plain[0], name)
    members = development(tmp_path / "dist")
    expected = development(plain[0])
    assert members.keys() == expected.keys()
    assert {name: each.linkname for name, each in members.items()} == {
        name: each.linkname for name, each in expected.items()
    }
    data = wheel(tmp_path / "dist", "rocm_sdk_devel").read("rocm_sdk_devel/_devel.tar")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        cmake = archive.extractfile("_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake")
        package = archive.extractfile("_rocm_sdk_devel/lib/pkgconfig/hip.pc")
        assert cmake is not None
        assert package is not None
        assert b'(DIR}/../../../ "x")' in cmake.read()
        assert package.read() == b"prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n"


def store(root: Path) -> list[Path]:
    """Write the same ROCm in store paths as Nix has them, and return the paths.

    Each library has a path of its own; links are absolute, and RUNPATHs lead from path to path.
    """
    paths = []

    def path(name: str) -> Prefix:
        prefix = Prefix(root / f"{len(paths):032d}-{name}")
        prefix.file("nix-support/propagated-build-inputs", f"{name}\n")
        paths.append(prefix.root)
        return prefix

    def runpath(*libraries: Path) -> str:
        return f"-Wl,--enable-new-dtags,-rpath,{':'.join(str(library.parent) for library in libraries)}"

    libc = path("glibc-2.40")
    libc.file("lib/libc.so.6", "the C library\n")
    libc.file("bin/ldd", "#!/bin/sh\n", 0o755)
    libc.file("share/locale/locale.alias", "x\n")
    shell = path("bash-5.2")
    shell.file("bin/sh", "x\n", 0o755)
    shell.file("share/locale/locale.alias", "y\n")  # not the same as the other's
    old, new = path("zlib-1.2"), path("zlib-1.3")
    libz = new.library("lib/libz.so.1.3")
    new.file("share/doc/zlib/LICENSE", "licence of zlib\n")
    old.file("share/doc/zlib/copyright", "of an older one\n")
    old.library("lib/libz.so.1.2", flags=("-Wl,--defsym,old=1",))
    numa = path("numactl-2.0").library("lib/libnuma.so.1.0")
    pci = path("pciutils-3.13").library("lib/libpci.so.3.13")
    drm = path("libdrm-2.4").library("lib/libdrm.so.2.4", libz, pci, flags=(runpath(libz, pci),))
    cxx = path("gcc-14-lib").library("lib/libstdc++.so.6")
    needs = (numa, drm, cxx)
    runtime = path("rocm-runtime-7.1").library("lib/libhsa-runtime64.so.1.18", *needs, flags=(runpath(*needs),))
    comgr = path("rocm-comgr-7.1").library("lib/libamd_comgr.so.3.0", libz, flags=(runpath(libz),))
    clr = path("clr-7.1")
    hip = clr.library("lib/libamdhip64.so.7.1.2", runtime, flags=(runpath(runtime),))
    clr.link("lib/libamd_comgr.so.3", str(comgr))
    clr.link("lib/libhsa-runtime64.so", str(runtime.with_name("libhsa-runtime64.so")))
    clr.file("include/hip/hip_runtime.h", "#pragma once\n")
    device = path("rocm-device-libs-7.1")
    device.file("amdgcn/bitcode/ocml.bc", "BC\n")
    clr.link("amdgcn", str(device.root / "amdgcn"))
    rand = path("rocrand-7.1").library("lib/librocrand.so.1.1", hip, code=("gfx90a",), flags=(runpath(hip),))
    path("hiprand-7.1").library("lib/libhiprand.so.1.1", rand, flags=(runpath(rand),))
    path("rocprim-7.1").file("include/rocprim/rocprim.hpp", "#pragma once\n")
    path("half-2.2").file("include/half.hpp", "#pragma once\n")
    path("rocminfo-7.1").program("bin/rocminfo")
    path("rocm-core-7.1").file(".info/version", "7.1.2\n")
    path("rocm-smi-7.1").library("lib/librocm_smi64.so.7.8")
    path("python3-3.12").file("bin/python3", "x\n", 0o755)
    path("ncurses-6.4").library("lib/libncursesw.so.6.4")
    path("elfutils-0.19").library("lib/libelf.so.1")
    path("perl-5.40").file("bin/perl", "x\n", 0o755)
    return paths


@pytest.mark.slow
def test_twenty_store_paths(tmp_path: Path) -> None:
    paths = store(tmp_path / "store")
    assert len(paths) >= 20
    (tmp_path / "store/hook.sh").write_text("x\n")
    closure = "".join(f"{path}\n" for path in [*paths, tmp_path / "store/hook.sh"])
    told = built(tmp_path / "dist", "--files", "-", lists=closure)
    assert platform_files(tmp_path / "dist", "rocm_sdk_core") == {
        *(".info/version", "amdgcn/bitcode/ocml.bc", "bin/rocminfo", "include/hip/hip_runtime.h"),
        *("lib/libamd_comgr.so.3", "lib/libamdhip64.so.7", "lib/libhsa-runtime64.so.1", "lib/librocm_smi64.so.7"),
        *("lib/rocm_sysdeps/lib/libdrm.so.2", "lib/rocm_sysdeps/lib/libnuma.so.1", "lib/rocm_sysdeps/lib/libz.so.1"),
        "lib/rocm_sysdeps/lib/libpci.so.3",
        "share/therock/dist_info.json",
    }
    assert platform_files(tmp_path / "dist", "rocm_sdk_libraries") == {
        *("lib/libhiprand.so.1", "lib/librocrand.so.1", "share/therock/libraries_dist_info.json")
    }
    members = {name for name, each in development(tmp_path / "dist").items() if not each.isdir()}
    assert {"include/half.hpp", "include/rocprim/rocprim.hpp"} <= members
    assert not {name for name in members if name.startswith(("nix-support", "share/locale", "bin/perl"))}
    assert f"not part of ROCm: only what its libraries need is taken from:\n  {paths[0]}\n" in told
    core = wheel(tmp_path / "dist", "rocm_sdk_core")
    (licence,) = (name for name in core.namelist() if "/licenses/" in name)
    assert licence.endswith("/share/doc/zlib/LICENSE")
    names = [name for name in core.namelist() if ".so" in name]
    for name in names:
        assert str(tmp_path) not in ":".join(search_path(core, name, tmp_path / "out")), "no path of the build machine"
    newer = (tmp_path / "out/_rocm_sdk_core/lib/rocm_sysdeps/lib/libz.so.1").read_bytes()
    assert b"old" not in newer, "the one to which the RUNPATHs lead"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["roots", "closure"])
def test_llvm_in_a_root_of_its_own(tmp_path: Path, way: str) -> None:
    """As Spack and Nix install it; HIP's root has a link to it."""
    llvm = Prefix(tmp_path / "store/llvm-amdgpu-7.1")
    llvm.program("bin/clang-20")
    llvm.link("bin/clang", "clang-20")
    llvm.link("bin/amdclang", str(llvm.root / "bin/clang"))
    llvm.file("lib/clang/20/include/stddef.h", "\n")
    llvm.library("lib/libLLVM.so.20.0")
    config = "get_filename_component(LLVM_INSTALL_PREFIX ${CMAKE_CURRENT_LIST_FILE} PATH)\n"
    llvm.file("lib/cmake/llvm/LLVMConfig.cmake", config)
    rocm = small(tmp_path / "store/rocm-7.1")
    rocm.link("llvm", str(llvm.root))
    rocm.link("bin/amdclang", str(llvm.root / "bin/amdclang"))
    dist = tmp_path / "dist"
    if way == "roots":
        built(dist, rocm.root, "--llvm", llvm.root)
    else:
        built(dist, "--files", "-", "--llvm", llvm.root, lists=f"{rocm.root}\n{llvm.root}\n")
    core = platform_files(dist, "rocm_sdk_core")
    programs = {"bin/amdclang", *(f"lib/llvm/bin/{name}" for name in ("amdclang", "clang", "clang-20"))}
    assert core == {
        *programs,
        *("lib/libamdhip64.so.7", "lib/llvm/lib/libLLVM.so.20", "share/therock/dist_info.json"),
    }
    members = development(dist)
    assert members["llvm"].linkname == "lib/llvm"
    assert {"lib/llvm/lib/clang/20/include/stddef.h", "lib/llvm/lib/cmake/llvm/LLVMConfig.cmake"} <= members.keys()
    wheel(dist, "rocm_sdk_core").extractall(tmp_path / "site")
    placed = [tmp_path / "site/_rocm_sdk_core" / name for name in programs]
    for program in placed:
        program.chmod(0o755)  # as installers do
    for program in placed:
        assert subprocess.check_output([program, "x"], text=True).endswith(" 2\n"), program


@pytest.mark.slow
def test_roots_and_a_list(tmp_path: Path) -> None:
    """A whole prefix, and of a system what its packages' lists name."""
    system = Prefix(tmp_path / "system/usr", "lib/x86_64-linux-gnu")
    system.file("lib/os-release", "ID=debian\n")
    (system.root.parent / "lib").symlink_to("usr/lib")
    numa = system.library("lib/libnuma.so.1.0")
    system.file("share/other/package.txt", "x\n")
    own = Prefix(tmp_path / "opt")
    own.library("lib/libamdhip64.so.7.1", numa)
    own.library("lib/librocrand.so.1.1", code=("gfx90a",))
    listed = [system.root.parent / "lib/x86_64-linux-gnu" / name for name in ("libnuma.so.1.0", "libnuma.so.1")]
    text = "/.\n/usr\n" + "".join(f"{path}\n" for path in [system.root, *listed]) + "/etc/passwd\n"
    told = built(tmp_path / "dist", own.root, system.root, "--files", "-", lists=text)
    assert "in no root, and left out:\n  /etc/passwd\n" in told
    assert "lib/rocm_sysdeps/lib/libnuma.so.1" in platform_files(tmp_path / "dist", "rocm_sdk_core")
    assert not any("other" in name for name in development(tmp_path / "dist"))


@pytest.mark.slow
def test_debian_usr_of_this_machine(tmp_path: Path) -> None:
    """The list of a package, not all of /usr."""
    try:
        listed = subprocess.check_output(["dpkg", "-L", "zlib1g"], text=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("this system has no Debian package zlib1g")
    (library,) = (Path(line) for line in listed.splitlines() if line.endswith("/libz.so.1"))
    own = Prefix(tmp_path / "rocm")
    own.library("lib/libamdhip64.so.7.1", library)
    own.library("lib/librocrand.so.1.1", code=("gfx90a",))
    built(tmp_path / "dist", own.root, "/usr", "--files", "-", lists=listed)
    assert platform_files(tmp_path / "dist", "rocm_sdk_core") == {
        *("lib/libamdhip64.so.7", "lib/rocm_sysdeps/lib/libz.so.1", "share/therock/dist_info.json")
    }
    names = {name for name, each in development(tmp_path / "dist").items() if each.isreg()}
    licence = "share/doc/zlib1g/copyright"
    assert names <= {"__init__.py", licence}, names
    if Path("/usr", licence).exists():
        archive = wheel(tmp_path / "dist", "rocm_sdk_core")
        assert f"rocm_sdk_core-{VERSION}.dist-info/licenses/{licence}" in archive.namelist()
    for system in ("/", "/usr"):
        assert f"rocm-sdk-build: {system}: is a whole system" in refused(tmp_path / "none", own.root, system)
    assert "zlib1g" not in refused(tmp_path / "none", "/usr", "--files", "-", lists=listed)


@pytest.mark.slow
def test_a_root_whose_name_is_not_utf8(tmp_path: Path) -> None:
    prefix = small(tmp_path / os.fsdecode(b"\xffrocm"))
    built(tmp_path / "out", prefix.root)
    core = wheel(tmp_path / "out", "rocm_sdk_core")
    (listed,) = (name for name in core.namelist() if name.endswith(".cdx.json"))
    assert b"\\\\udcffrocm" in core.read(listed)


def test_output_in_a_root(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    for output in (prefix.root, prefix.root / "dist"):
        done = build(output, prefix.root)
        assert done.returncode == 1
        assert f"{output}: is in {prefix.root}, which is packaged" in done.stderr
    assert not (prefix.root / "dist").exists()


@pytest.mark.slow
def test_what_cannot_be_read_or_written(other_user: OtherUser, open_directory: Path) -> None:
    prefix = small(open_directory / "rocm")
    library, listed = prefix.root / "lib/libamdhip64.so.7.1", open_directory / "list"
    closed = prefix.file("share/closed/x").parent
    listed.write_text(f"{library}\n")
    right = "  fix: give this user the right to it, or name another place\n"
    own = open_directory / "own"
    own.mkdir()
    os.chown(own, USER, USER)

    def run(output: Path, *words: Path | str) -> str:
        options = ("--version", VERSION, "--output", output)
        done = other_user.run("-m", "rocm_sdk_build", "prefix", *words, *options)
        assert done.returncode == 1, done
        return done.stderr

    for path in (library, closed):
        mode = path.stat().st_mode
        path.chmod(0)
        assert run(own / "dist", prefix.root) == f"rocm-sdk-build: {path}: Permission denied\n{right}"
        path.chmod(mode)
    told = f"rocm-sdk-build: {open_directory}/dist: Permission denied\n{right}"
    assert run(open_directory / "dist", prefix.root) == told
    listed.chmod(0)
    assert f"{listed}: the list cannot be read: Permission denied" in run(own / "dist", prefix.root, "--files", listed)
    assert not (own / "dist").exists()


# ---- lists ----

LISTS = {
    "dpkg": "/.\n{root}\n{root}/lib\n{root}/lib/libx.so\n\n{root}/share/a b.txt\n",
    "dpkg, diverted": "{root}/gone\ndiverted by other to: {root}/share/a b.txt\n{root}/lib/libx.so\n"
    "package diverts others to: {root}/never\n",
    "dpkg, without documentation": "{root}/share/doc/hip/copyright\n{root}/share/man/man1/x.1.gz\n{root}/lib/libx.so\n"
    "{root}/share/a b.txt\n",
    "rpm": "{root}/lib/libx.so\n{root}/share/a b.txt\n(contains no files)\n",
    "qlist": "{root}/lib/libx.so -> libx.so.1\n{root}/share/a b.txt\n",
    "twice": "{root}/lib/libx.so\n{root}/lib/libx.so\n{root}/share/a b.txt",
}


@pytest.mark.slow
@pytest.mark.parametrize("form", LISTS)
def test_lists(tmp_path: Path, form: str) -> None:
    prefix = Prefix(tmp_path / "rocm")
    prefix.library("lib/libamdhip64.so.7.1")
    hip = prefix.root / "lib/libamdhip64.so.7.1"
    prefix.library("lib/librocrand.so.1.1")
    prefix.file("share/a b.txt", "x\n")
    prefix.file("share/other.txt", "x\n")
    prefix.file("lib/libx.so.1", "x\n")
    prefix.link("lib/libx.so", "libx.so.1")
    libraries = "".join(f"{path}\n" for path in (hip, prefix.root / "lib/librocrand.so.1.1"))
    listed = tmp_path / "list"
    listed.write_text(libraries + LISTS[form].format(root=prefix.root))
    built(tmp_path / "dist", prefix.root, "--files", listed)
    members = {name for name, each in development(tmp_path / "dist").items() if each.isreg()}
    assert members == {"__init__.py", "share/a b.txt"}
    (tmp_path / "hip").write_text(libraries)
    (tmp_path / "rest").write_text(LISTS[form].format(root=prefix.root))
    built(tmp_path / "two", prefix.root, "--files", tmp_path / "hip", "--files", tmp_path / "rest")
    for path in (tmp_path / "dist").iterdir():
        assert (tmp_path / "two" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_own_rules(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    prefix.file("share/mine/data.txt", "x\n")
    prefix.file("share/mine/no.txt", "x\n")
    prefix.file("share/profile/data.txt", "x\n")
    host = Prefix(tmp_path / "host").library("lib/libhost.so.1")
    prefix.library("lib/libamdocl64.so.1", host)
    rules = tmp_path / "rules.txt"
    rows = ("core lib/libamd*.so*", "libraries lib/librocrand.so*", "core share/mine/**", "profiler share/profile/**")
    rules.write_text("".join(f"take {row}\n" for row in rows) + "include profiler lib/other\nexclude core **/no.txt\n")
    told = built(tmp_path / "dist", prefix.root, tmp_path / "host", "--rules", rules)
    assert told == (
        f"not part of ROCm: only what its libraries need is taken from:\n  {tmp_path}/host\n"
        "taken by no rule, and packaged in rocm-sdk-devel:\n  share/mine/no.txt\n"
    )
    names = platform_files(tmp_path / "dist", "rocm_sdk_core")
    assert {"share/mine/data.txt", "lib/rocm_sysdeps/lib/libhost.so.1"} <= names
    assert platform_files(tmp_path / "dist", "rocm_profiler") == {"share/profile/data.txt"}


@pytest.mark.slow
def test_a_link_goes_with_what_it_leads_to(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    prefix.program("bin/rocminfo")
    prefix.link("bin/own-name", "rocminfo")
    assert built(tmp_path / "dist", prefix.root) == ""
    assert "bin/own-name" in platform_files(tmp_path / "dist", "rocm_sdk_core")


@pytest.mark.slow
def test_texts_that_stay_where_they_are(tmp_path: Path) -> None:
    prefix = small(tmp_path / "rocm")
    text = 'set_and_check(DIR "${DIR}/../../../../")\n'
    prefix.file("lib/cmake/x/y/y-config.cmake", text)
    built(tmp_path / "dist", prefix.root)
    data = wheel(tmp_path / "dist", "rocm_sdk_devel").read("rocm_sdk_devel/_devel.tar")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        file = archive.extractfile("_rocm_sdk_devel/lib/cmake/x/y/y-config.cmake")
        assert file is not None
        assert file.read().decode() == text
