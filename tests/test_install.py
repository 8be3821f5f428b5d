"""`make install`: programs in C and C++ find the installed library through pkg-config and CMake, shared and static.

All files are staged with DESTDIR. The library exports the names that the public headers declare, which a list keeps.
"""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from ended import assert_failed
from own_mounts import need_mounts
from programs import completed

from rocm_sdk import loader_version

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "csrc/include/rocm_sdk"
PROGRAM = ROOT / "tests/embed/preload_from_c.c"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
INLINE = re.compile(r"static inline [^{(]*?(\w+)\(")
FUNCTION = re.compile(r"\b(rsdk_\w+)\(")
PREFIX = "/opt/rocm_sdk"
CMAKE = Path(sysconfig.get_path("scripts"), "cmake")  # of PyPI, a requirement of the tests

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(embedding LANGUAGES C CXX)
find_package(rocm_sdk 0.1 REQUIRED)
foreach(language c cc)
  add_executable(${language}_shared program.${language})
  target_link_libraries(${language}_shared PRIVATE rocm_sdk::rocm_sdk)
  add_executable(${language}_static program.${language})
  target_link_libraries(${language}_static PRIVATE rocm_sdk::rocm_sdk_static)
endforeach()
"""


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return completed(command, env={**os.environ, **variables})


def succeed(*command: str | Path, **variables: str) -> str:
    result = run(*command, **variables)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def install(**variables: str | Path) -> subprocess.CompletedProcess[str]:
    settings = {"INSTALLED": "build/c/install-quick", "CFLAGS": "-O0 -g0"} | variables
    return run("make", "-C", ROOT, "install", *(f"{name}={value}" for name, value in settings.items()))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("stage")
    result = install(PREFIX=PREFIX, DESTDIR=directory)
    assert result.returncode == 0, result.stdout + result.stderr
    return directory


@pytest.fixture(scope="module")
def library(stage: Path) -> Path:
    return stage / PREFIX[1:] / "lib/librocm_sdk.so.0"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    libraries = directory / "_rocm_sdk_core/lib"
    libraries.mkdir(parents=True)
    source = libraries / "empty.c"
    source.write_text("int present;\n")
    succeed("cc", "-shared", "-fPIC", "-Wl,-soname,libroctx64.so.4", "-o", libraries / "libroctx64.so.4", source)
    return directory


def check_program(program: Path, site: Path, library_directory: Path, *, is_shared: bool) -> None:
    """Check that the program runs, and has librocm_sdk.so.0 as a dependency if `is_shared` says so."""
    answer = succeed(program, site, "roctx64", LD_LIBRARY_PATH=str(library_directory) if is_shared else "")
    assert answer == f"roctx64 {site}/_rocm_sdk_core/lib/libroctx64.so.4\n"
    needed = succeed("readelf", "-d", program)
    assert ("[librocm_sdk.so.0]" in needed) == is_shared


def declared() -> set[str]:
    """Return the functions of the public headers, without inline functions."""
    headers = [COMMENT.sub(" ", path.read_text()) for path in HEADERS.glob("*.h")]
    return {name for text in headers for name in {*FUNCTION.findall(text)} - {*INLINE.findall(text)}}


def test_the_list_has_the_functions_of_the_headers() -> None:
    names = (ROOT / "csrc/install/symbols").read_text().split()
    assert names == sorted(declared())


def test_the_library_exports_the_list_and_nothing_else(library: Path) -> None:
    names = {line.split()[2] for line in succeed("nm", "-D", "--defined-only", library).splitlines()}
    assert names == {"ROCM_SDK_0", *(f"{name}@@ROCM_SDK_0" for name in declared())}


def test_soname_and_link(library: Path) -> None:
    dynamic = succeed("readelf", "-d", library)
    assert "Library soname: [librocm_sdk.so.0]" in dynamic
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic
    assert str((library.parent / "librocm_sdk.so").readlink()) == "librocm_sdk.so.0"


def test_objects_of_the_archive_stay_hidden(stage: Path, tmp_path: Path) -> None:
    archive = stage / PREFIX[1:] / "lib/librocm_sdk.a"
    plugin = tmp_path / "plugin.so"
    source = tmp_path / "plugin.c"
    source.write_text(f'#include "{HEADERS / "sdk.h"}"\nvoid *run(void) {{ return (void *)&rsdk_sdk_open; }}\n')
    flags = (f"-I{HEADERS.parent}", "-shared", "-fPIC")
    succeed("cc", *flags, source, archive, "-lelf", "-o", plugin)
    assert "rsdk_" not in succeed("nm", "-D", "--defined-only", plugin)


@pytest.mark.parametrize("compiler", ["gcc -std=c17 -x c", "g++ -std=c++17 -x c++"])
@pytest.mark.parametrize("is_shared", [True, False], ids=["shared", "static"])
def test_pkg_config(stage: Path, site: Path, tmp_path: Path, compiler: str, is_shared: bool) -> None:
    libdir = stage / PREFIX[1:] / "lib"
    options = ("--cflags", "--libs", *(() if is_shared else ("--static",)))
    where = {"PKG_CONFIG_SYSROOT_DIR": str(stage), "PKG_CONFIG_PATH": str(libdir / "pkgconfig")}
    flags = succeed("pkg-config", *options, "rocm-sdk", **where).split()
    if not is_shared:
        flags[flags.index("-lrocm_sdk")] = "-l:librocm_sdk.a"
    program = tmp_path / "program"
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    succeed(*compiler.split(), *warnings, PROGRAM, "-x", "none", *flags, "-o", program)
    check_program(program, site, libdir, is_shared=is_shared)


def test_cmake(stage: Path, site: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    for suffix in ("c", "cc"):
        (tmp_path / f"program.{suffix}").write_bytes(PROGRAM.read_bytes())
    prefix = stage / PREFIX[1:]
    succeed(CMAKE, "-S", tmp_path, "-B", tmp_path / "out", f"-DCMAKE_PREFIX_PATH={prefix}")
    succeed(CMAKE, "--build", tmp_path / "out")
    for language in ("c", "cc"):
        check_program(tmp_path / f"out/{language}_shared", site, prefix / "lib", is_shared=True)
        check_program(tmp_path / f"out/{language}_static", site, prefix / "lib", is_shared=False)


def test_cmake_finds_it_by_a_link(stage: Path, tmp_path: Path) -> None:
    """As below /usr, where /lib is a link to usr/lib, and CMake looks below / if PATH has /bin first."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "usr").symlink_to(stage / PREFIX[1:])
    (root / "lib").symlink_to("usr/lib")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(linked LANGUAGES C)\nfind_package(rocm_sdk REQUIRED)\n"
        "get_target_property(found rocm_sdk::rocm_sdk INTERFACE_INCLUDE_DIRECTORIES)\n"
        'message("${rocm_sdk_DIR} ${found}")\n'
    )
    told = run(CMAKE, "-S", tmp_path, "-B", tmp_path / "out", f"-DCMAKE_PREFIX_PATH={root}").stderr
    assert told == f"{root}/lib/cmake/rocm_sdk {stage / PREFIX[1:]}/include\n"


@pytest.mark.parametrize(
    ("wanted", "is_found"),
    [
        (loader_version.rpartition(".")[0], True),
        (loader_version, True),
        ("0.0.9", False),
        (f"{loader_version}9", False),
    ],
)
def test_cmake_versions(stage: Path, tmp_path: Path, wanted: str, is_found: bool) -> None:
    script = tmp_path / "wanted.cmake"
    config = stage / PREFIX[1:] / "lib/cmake/rocm_sdk/rocm_sdk-config-version.cmake"
    script.write_text(
        f'set(PACKAGE_FIND_VERSION {wanted})\ninclude("{config}")\nmessage("${{PACKAGE_VERSION_COMPATIBLE}}")\n'
    )
    result = run(CMAKE, "-P", script)
    assert result.stderr == ("TRUE\n" if is_found else "\n")


PROGRAM_OF_A_USER = """
#include <rocm_sdk/rocm_sdk.h>
int main(void) { rsdk_error error = RSDK_ERROR_INIT; rsdk_error_clear(&error); return 0; }
"""


def test_where_the_linker_does_not_look(tmp_path: Path) -> None:
    """The printed line for one program makes one that starts."""
    done = install(PREFIX=tmp_path / "own")
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert (
        f"programs do not find librocm_sdk.so.0 in {tmp_path}/own/lib, where the linker does not look. Either" in told
    )
    (tmp_path / "program.c").write_text(PROGRAM_OF_A_USER)
    (command,) = (line.partition(": ")[2] for line in told if line.startswith("or, for one program: "))
    built = completed(["sh", "-c", f"{command} && ./a.out"], cwd=tmp_path)
    assert built.returncode == 0, built.stderr


# Installs below /usr/local, of which the linker knows, and does what `make install` says, all in copies of directories.
_PRIVATE = """
set -e
mount --make-rprivate /
cp -a /etc etc
mkdir -p local/lib
mount --bind etc /etc
mount --bind local /usr/local
ldconfig
(cd {root} && scripts/install-library {built})
cc program.c $(pkg-config --cflags --libs rocm-sdk) && ! ./a.out
ldconfig
./a.out
(cd {root} && scripts/install-library {built})
"""


@pytest.mark.usefixtures("stage")
def test_where_the_linker_looks(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a process an /etc and a /usr/local of its own")
    need_mounts()
    (tmp_path / "program.c").write_text(PROGRAM_OF_A_USER)
    script = _PRIVATE.format(root=ROOT, built="build/c/install-quick")
    path = {"PATH": f"/usr/bin:/bin:/usr/sbin:/sbin:{os.environ['PATH']}"}
    command = ["unshare", "--mount", "sh", "-c", script]
    done = completed(command, cwd=tmp_path, env={**os.environ, **path})
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.splitlines()
    assert before == "programs find librocm_sdk.so.0 after: sudo ldconfig"
    assert after.startswith("programs find librocm_sdk.so.0 in /usr/local/lib: cc program.c $(pkg-config")


def test_a_stage_says_nothing_of_this_system(tmp_path: Path) -> None:
    done = completed(
        [ROOT / "scripts/install-library", "build/c/install-quick"],
        cwd=ROOT,
        env={**os.environ, "DESTDIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_gnu_directories(tmp_path: Path) -> None:
    """Each directory is where its variable says, and what pkg-config and CMake read names them."""
    directories = {"LIBDIR": "/usr/lib/x86_64-linux-gnu", "INCLUDEDIR": "/usr/include/rocm", "MANDIR": "/usr/man"}
    result = install(DESTDIR=tmp_path, PREFIX="/usr", **directories)
    assert result.returncode == 0, result.stdout + result.stderr
    libdir = tmp_path / "usr/lib/x86_64-linux-gnu"
    assert (libdir / "librocm_sdk.so.0").exists() and (libdir / "librocm_sdk.a").exists()
    assert (tmp_path / "usr/include/rocm/rocm_sdk/rocm_sdk.h").exists()
    assert sorted(path.name for path in tmp_path.glob("usr/man/*/*")) == ["rocm-sdk.1", "rocm_sdk.3"]
    values = (libdir / "pkgconfig/rocm-sdk.pc").read_text().splitlines()
    assert {"prefix=/usr", f"libdir={directories['LIBDIR']}", "includedir=/usr/include/rocm"} <= set(values)
    config = (libdir / "cmake/rocm_sdk/rocm_sdk-config.cmake").read_text()
    assert '"${_rocm_sdk_here}/../../../../include/rocm"' in config


def test_another_compiler_and_other_flags_compile_again(tmp_path: Path) -> None:
    """Objects of an earlier `make install` with other flags are compiled again."""
    made = f"{tmp_path}/csrc/base/arena.o"

    def compiled(*words: str) -> str:
        return succeed("make", "-C", ROOT, "-s", "VARIANT=install", f"OUT={tmp_path}", made, *words)

    assert compiled("CFLAGS=-O0 -DTEXT='\"a b\"'") != ""
    assert compiled("CFLAGS=-O0 -DTEXT='\"a b\"'") == ""
    for words in (["CFLAGS=-O1"], ["CFLAGS=-O1", "LDFLAGS=-Wl,-O1"], ["CC=gcc -pipe", "CFLAGS=-O1"]):
        assert compiled(*words) != ""


@pytest.mark.parametrize("prefix", ["relative", "/with blank", "/with$dollar", '/with"quote'])
def test_a_prefix_that_cannot_be_written_is_refused(tmp_path: Path, prefix: str) -> None:
    script = ROOT / "scripts/install-library"
    stage = tmp_path / "stage"
    result = run(script, "build/c/install", PREFIX=prefix, DESTDIR=str(stage))
    assert result.returncode == 2
    assert result.stderr.startswith("make install: PREFIX=")
    assert not stage.exists()


def test_a_prefix_is_looked_at_before_anything_is_compiled(tmp_path: Path) -> None:
    result = install(PREFIX="relative", INSTALLED=tmp_path / "made")
    assert_failed(result, 2, "make install: PREFIX=relative: it has to be an absolute path")
    assert not (tmp_path / "made").exists()


@pytest.mark.usefixtures("stage")
def test_a_directory_in_the_place_of_the_link(tmp_path: Path) -> None:
    """The link is not made inside it."""
    place = tmp_path / PREFIX[1:] / "lib/librocm_sdk.so"
    place.mkdir(parents=True)
    assert_failed(install(PREFIX=PREFIX, DESTDIR=tmp_path), 2, f"{place}")
    assert list(place.iterdir()) == []


def test_all_of_it_goes_by_the_lines_of_the_page(tmp_path: Path) -> None:
    result = install(DESTDIR=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len([path for path in tmp_path.rglob("*") if not path.is_dir()]) > 10
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```sh\n(rm .*?)^```$", page, re.MULTILINE | re.DOTALL)
    succeed("bash", "-euc", lines.replace("/usr/local", f"{tmp_path}/usr/local"))
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs/man").iterdir()), ids=lambda path: path.name)
def test_manual_pages_are_sound(page: Path) -> None:
    result = run("groff", "-man", "-ww", "-z", page)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_the_manual_of_the_library_names_functions_that_exist() -> None:
    text = (ROOT / "docs/man/rocm_sdk.3").read_text()
    assert set(FUNCTION.findall(text)) <= declared()
