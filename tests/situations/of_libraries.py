"""Situations: libraries that are damaged, lack something or do harm, in a directory of tiny ones."""

import os
import platform
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from compiled_files import compile_file
from compiled_kernels import compiled_kernel
from sample_device_code import bundle, code_object, library
from sample_hiprtc import hiprtc
from sample_report import install
from sample_site import CORE, LIBRARIES, Site, compile_library
from sdk_environment import POINTER

from rocm_sdk_build.code.retarget import Pair
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file

HSA, HIP, SPARSE, SMI = "libhsa-runtime64.so.1", "libamdhip64.so.7", "libhipsparse.so.1", "librocm_smi64.so.1"
COUNT = "int hipGetDeviceCount(int *n) { return *n = 0; }"
CONSTRUCTOR = (
    "#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void construct(void) {{ {}; }}"
)
GLIBC = platform.libc_ver()[1]
IS_X86 = platform.machine() == "x86_64"
# GNU_PROPERTY_X86_ISA_1_NEEDED, 4 bytes: the level x86-64-v2, and a later one.
_LEVEL, _LATER = bytes.fromhex("028000c0 04000000 02000000"), bytes.fromhex("028000c0 04000000 10000000")
# Tables of many kinds.
_TABLES = """
#include <stdio.h>
int number = 8; int *pointers[40] = {&number};
int hsa_init(void) { return puts("started") + number; }
__attribute__((constructor)) static void start(void) { number = 9; }
"""


class Fault(NamedTuple):
    """A fault of libraries, and what is right to say of it.

    loads: the library that is asked for, where the exception and the C library say the same as the test.
    """

    name: str
    make: Callable[[Site], object]  # it calls `install`, or the runner does
    codes: str  # all of the report
    says: tuple[str, ...] = ()  # that title, cause, fix or path of the first one have
    loads: str = ""
    breaks: str = ""  # names among those that it breaks
    subjects: str = "libraries"
    rpath: str = "rpath"
    untried: str = ""  # what the report says of things that it has not tried


# ---- a chain: hipSPARSE needs rocSPARSE, which needs HIP, which needs the HSA runtime


def chain(site: Site, source: str = "") -> Path:
    hsa = site.library(HSA, source)
    hip = site.library(HIP, needed=(hsa,))
    sparse = site.library("librocsparse.so.1", needed=(hip,), package=LIBRARIES)
    site.library(SPARSE, needed=(sparse,), package=LIBRARIES)
    install(site)
    return hsa


def _hsa(change: Callable[[Path], object], source: str = "") -> Callable[[Site], object]:
    return lambda site: change(chain(site, source))


def section(path: Path, name: str) -> tuple[int, int]:
    """Return the place of a section in the file, and its size, in bytes."""
    listed = subprocess.run(["readelf", "-SW", str(path)], capture_output=True, text=True, check=True).stdout
    match = re.search(rf" {re.escape(name)} +\S+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", listed)
    assert match is not None, listed
    return int(match[1], 16), int(match[2], 16)


def _garbage(name: str) -> Callable[[Site], object]:
    """Fill a table with garbage, as after a disk error or a faulty tool: the linker would end the process."""

    def change(path: Path) -> None:
        place, size = section(path, name)
        _put(path, place, (bytes(range(1, 250)) * 100)[:size])

    return _hsa(change, _TABLES)


def _put(path: Path, place: int, new: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[place : place + len(new)] = new
    path.write_bytes(data)


def _loads_of(data: bytes) -> list[int]:
    """Return the places of the program headers of segments (64 bit, little-endian)."""
    (place,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return [each for i in range(count) if struct.unpack_from("<I", data, each := place + i * size)[0] == 1]


def _enlarge(path: Path) -> None:
    """Put the end of the last segment behind the file."""
    data = path.read_bytes()
    _put(path, _loads_of(data)[-1] + 32, struct.pack("<QQ", len(data) * 4, len(data) * 4))


def _overlap(path: Path) -> None:
    """Put the beginning of the second segment into the first."""
    data = path.read_bytes()
    first, second, *_ = _loads_of(data)
    _put(path, second + 16, data[first + 16 : first + 24])


def _lose_headers(path: Path) -> None:
    """Put the program headers behind the file."""
    _put(path, 32, struct.pack("<Q", path.stat().st_size + 64))


# ---- single libraries


def _one(soname: str, source: str = "", **more: object) -> Callable[[Site], object]:
    return lambda site: site.library(soname, source, **more)  # type: ignore[arg-type]


def _needs(site: Site, needed: Path, source: str = "", *flags: str) -> None:
    """Let HIP need a library that needs another one."""
    smi = site.library(SMI, source, (needed,), flags=flags)
    site.library(HIP, COUNT, needed=(smi,))


def _newer_glibc(site: Site) -> None:
    """Link a library with a C library of the future."""
    versions = site.path.with_name("versions")
    versions.write_text("GLIBC_2.99 { global: from_the_future; };")
    flags = (f"-Wl,--version-script={versions}",)
    path = site.path.with_name("libc.so.6")
    libc = compile_library(path, "libc.so.6", "int from_the_future(void) { return 0; }", flags=flags)
    _needs(site, libc, "int from_the_future(void); int use(void) { return from_the_future(); }")


def _level(site: Site, level: bytes) -> None:
    path = site.library(HIP, COUNT, flags=("-Wl,-z,x86-64-v2",))
    install(site)
    assert path.read_bytes().count(_LEVEL) == 1
    path.write_bytes(path.read_bytes().replace(_LEVEL, level))


def _moved(site: Site) -> None:
    """Move a directory, from which RPATHs do not lead to what they need."""
    hip = site.library(HIP)
    moved = site.path / CORE / "other/libhiprtc.so.7"
    moved.parent.mkdir()
    compile_library(moved, "libhiprtc.so.7", needed=(hip,), flags=("-Wl,-rpath,$ORIGIN/nowhere",))


def _sysdeps(runpath: str) -> Callable[[Site], object]:
    """Return a maker of an SDK with a library that the system lacks: Debian's libhsa-runtime64 needs libelf so."""

    def make(site: Site) -> None:
        elf = site.library("libelf-of-the-sdk.so.1", directory="lib/rocm_sysdeps/lib")
        site.library(HSA, needed=(elf,), flags=(f"-Wl,--enable-new-dtags,-rpath,{runpath}",))

    return make


def _never_had(site: Site) -> None:
    """Need a file that no RECORD lists, as of a closure: the same package again does not bring it."""
    hip = site.library(HIP)
    fft = compile_library(site.path.with_name("librocfft.so.0"), "librocfft.so.0")
    site.library(SPARSE, needed=(hip, fft), package=LIBRARIES)


def _renamed(name: str) -> Callable[[Site], object]:
    def make(site: Site) -> None:
        path = site.library(HIP)
        install(site)
        path.rename(path.with_name(name))

    return make


def _same_soname(site: Site) -> None:
    """Copy a library under another name; the file that the name leads to is the other one. A link is no copy."""
    whole = site.library(HIP)
    (whole.parent / "libamdhip64.so.6.9").write_bytes(whole.read_bytes())
    install(site)
    (whole.parent / "libamdhip64.so").symlink_to(whole.name)
    (whole.parent / "libamdhip64.so.7.0").hardlink_to(whole)


def _newer_hip(site: Site) -> None:
    newer = compile_library(site.path.with_name(HIP), HIP, "int added(void) { return 1; }")
    site.library(HIP)
    site.library(SMI, "int added(void); int use(void) { return added(); }", (newer,))


def _upstream(site: Site, *, is_linked: bool) -> None:
    """Debian's hipBLASLt has an RPATH of upstream: a fault only if the packager's lead to the other packages."""
    hip = site.library(HIP)
    flags = ("-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib",)
    site.library("libhipblaslt.so.1", needed=(hip,), flags=flags, package=LIBRARIES)
    packager = (f"-Wl,-rpath,$ORIGIN/../../{CORE}/lib",) if is_linked else ()
    site.library(SPARSE, needed=(hip,), flags=packager, package=LIBRARIES)


def _crash_below(site: Site) -> None:
    """Let libraries that need the crashing one crash with it, and each preload."""
    hsa = site.library(HSA, CONSTRUCTOR.format("abort()"))
    site.library(HIP, needed=(hsa,))


def _of_missing_package(site: Site) -> None:
    """`pip install rocm` without its extra: the libraries package is not installed."""
    blas = site.library("librocblas.so.5", package=LIBRARIES)
    site.library(SMI, needed=(blas,))
    blas.unlink()
    install(site)
    for path in ((site.path / LIBRARIES / "__init__.py"), *site.path.glob("rocm_sdk_libraries-*.dist-info/*")):
        path.unlink()
    subprocess.run(["rm", "-r", site.path / LIBRARIES, *site.path.glob("rocm_sdk_libraries-*")], check=True)


def _all_links(site: Site, target: str) -> None:
    """Relative links are a packager's second names, and are not walked; uv's, which are absolute, are."""
    chain(site)
    for path in site.path.glob("_rocm_sdk_*/lib/*.so*"):
        path.rename(site.path / f"{path.name}.real")
        path.symlink_to(target.format(site.path) + f"{path.name}.real")


def _compiles(compile: str, code: bytes) -> Callable[[Site], object]:  # noqa: A002
    """Return a maker of a hiprtc: the code that it compiles is read by our own reader."""
    return _one("libhiprtc.so.7", hiprtc(compile, code))


def _many_files(site: Site) -> None:
    paths = [site.write(f"{LIBRARIES}/lib/rocblas/library/kernels_{number}.co") for number in range(40)]
    install(site)
    for path in paths:
        path.unlink()


def _page_list(site: Site) -> None:
    """Leave a list of pages, as the loader writes it."""
    install(site)
    site.write(f"{LIBRARIES}/lib/rocm-sdk.pages")


# ---- libraries that were rewritten

_ENTRIES = {f"hipv4-amdgcn-amd-amdhsa--gfx{name}": code_object(0x36, size=9000) for name in ("1030", "1100")}


def _rewritten(site: Site, wish: NewCode, entries: dict[str, bytes] | None = None, damage: bytes = b"") -> None:
    path = site.path / LIBRARIES / "lib/librocrand.so.1"
    path.parent.mkdir()
    rewrite_file(str(library(site.path.with_name(path.name), [bundle(entries or _ENTRIES)])), str(path), wish)
    path.write_bytes(path.read_bytes().replace(b'"steps"', damage or b'"steps"'))


def _retargeted(site: Site) -> None:
    code = compiled_kernel(site.path.parent, "gfx1030")
    _rewritten(site, NewCode(retarget=(Pair("gfx1030", "gfx1031"),)), {"hipv4-amdgcn-amd-amdhsa--gfx1030": code})


# ---- programs


def tool(site: Site, name: str, script: str, program: Path | None = None) -> None:
    """Install a program of core, and the script that starts it."""
    if program is None:
        site.write(f"{CORE}/bin/{name}", "#!/bin/sh\n")
    install(site)
    with (site.path / "rocm_sdk_core-7.10.0.dist-info/RECORD").open("a", encoding="utf-8") as record:
        record.write(f"bin/{name},,\n")
    site.write(f"bin/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)


def _tool(name: str, script: str, file: str = "", text: str = "") -> Callable[[Site], object]:
    def make(site: Site) -> None:
        if file:
            site.write(f"{CORE}/{file}", text).chmod(0o755)
        tool(site, name, script)

    return make


def _without_function(text: str) -> Callable[[Site], object]:
    """Declare a script of a function that the module of the package lacks; `text` replaces that afterwards."""

    def make(site: Site) -> None:
        module = site.write("rocm_sdk_core/_cli.py")
        command = f'exec "{sys.executable}" -c "import sys; sys.path[:0] = [{str(site.path)!r}]'
        tool(site, "roc-obj-ls", f'{command}; from rocm_sdk_core._cli import roc_obj_ls"')
        module.write_text(text)

    return make


def _program(site: Site, rpath: str | None) -> None:
    """Make a program with a copy relocation, as programs alone have. Its script is the packager's: no entry point."""
    needed = site.library(HSA, "int runtime_version = 1; int more = 2;")
    path = site.path / CORE / "bin/rocminfo"
    path.parent.mkdir()
    source = "extern int runtime_version; int main(void) { return runtime_version - 1; }"
    flags = [f"-Wl,-rpath,{rpath}"] if rpath else []
    compile_file(["cc", "-fPIE", "-pie", "-x", "c", "-", "-x", "none", needed, *flags], path, source)
    relocations = subprocess.run(["readelf", "-rW", path], capture_output=True, text=True, check=True).stdout
    assert "_COPY" in relocations
    tool(site, path.name, f'exec "{path}"', program=path)


_NO_COMPILER = "echo failed to execute: clang++; exit 127"
_NO_COMPILER_OF_PERL = "exec perl -we 'exec q(/absent/clang-17), q(x); exit 255'"
_NO_YAML = "echo \"ModuleNotFoundError: No module named 'yaml'\"; exit 1"

# A library that a minimal container lacks -> the package that has it.
_OF_SYSTEM = {
    "libibverbs.so.1": "libibverbs1",
    "libva.so.2": "libva2",
    "libdw.so.1": "libdw1",
    "libnuma.so.1": "libnuma1",
}
_LACKING = [name for name in _OF_SYSTEM if not [*Path("/usr/lib").glob(f"*/{name}"), *Path("/usr/lib").glob(name)]][:1]

GFX1030, GFX1100 = code_object(0x36, size=64), code_object(0x41, size=64)
_DAMAGED = ("libhsa-runtime64.so.1 is damaged", "rocm-sdk-core==7.10.0")

# fmt: off
ROWS = (
    Fault("missing", _hsa(Path.unlink), "E-FILE-001", ("libhsa-runtime64.so.1 of rocm-sdk-core is missing",), "hipsparse", "amdhip64 rocsparse hipsparse", "files,libraries"),
    Fault("300 bytes", _hsa(lambda path: os.truncate(path, 300)), "E-LIB-006", _DAMAGED, "hipsparse", "amdhip64 rocsparse hipsparse", "files,libraries"),
    Fault("3 bytes", _hsa(lambda path: os.truncate(path, 3)), "E-LIB-006", _DAMAGED, "hipsparse"),
    Fault("empty", _hsa(lambda path: os.truncate(path, 0)), "E-LIB-006", _DAMAGED, "hipsparse", "amdhip64"),
    Fault("one byte less", _hsa(lambda path: os.truncate(path, path.stat().st_size - 1)), "E-LIB-006", (HSA,)),
    Fault("a pointer of Git LFS", _hsa(lambda path: path.write_text(POINTER)), "E-FILE-006", ("Git LFS",), "hipsparse", "amdhip64", "files,libraries"),
    Fault("another machine", _hsa(lambda path: _put(path, 18, bytes([21, 0]))), "E-LIB-012", (HSA,), "hipsparse", "amdhip64"),
    Fault("a function that nothing has", _hsa(lambda path: compile_library(path, HSA, "void nobody(void); void f(void) { nobody(); }")), "E-LIB-020", ("undefined symbol: nobody",), "hipsparse", "amdhip64"),
    Fault("a script of the linker", _hsa(lambda path: path.write_text("INPUT(-lm)")), "E-LIB-006", _DAMAGED, "hipsparse", "amdhip64"),
    *(Fault(f"garbage in {name}", _garbage(name), "E-LIB-006", _DAMAGED, "hipsparse") for name in (".dynamic", ".gnu.hash", ".dynsym", ".gnu.version", ".gnu.version_r", ".rela.dyn")),
    Fault("a segment behind the file", _hsa(_enlarge), "E-LIB-006", _DAMAGED),
    Fault("segments that overlap", _hsa(_overlap), "E-LIB-006", _DAMAGED),
    Fault("program headers behind the file", _hsa(_lose_headers), "E-LIB-006", _DAMAGED),
    Fault("names of sections", _hsa(lambda path: _put(path, 62, (999).to_bytes(2, "little"))), "E-LIB-006", ("names of its sections",)),
    Fault("a library of the future", _newer_glibc, "E-LIB-005", (f"this system has glibc {GLIBC}",), "amdhip64", "amdhip64 rocm_smi64"),
    *(Fault(f"a processor: {name}", lambda site, level=level: _level(site, level), codes, (says,) if says else (), "amdhip64") for name, level, codes, says in (("later", _LATER, "E-LIB-022", "libamdhip64.so.7 is for a newer processor"), ("there", _LEVEL, "", "")) if IS_X86),
    Fault("nobody knows it", lambda site: _needs(site, compile_library(site.path.with_name("libnobody_knows.so.3"), "libnobody_knows.so.3")), "E-LIB-002", ("librocm_smi64.so.1 needs libnobody_knows.so.3, which is in neither the SDK nor the system",), "amdhip64", "amdhip64 rocm_smi64"),
    *(Fault("the system lacks it", lambda site, name=name: _needs(site, compile_library(site.path.with_name(name), name)), "E-LIB-002", (f"librocm_smi64.so.1 needs {name}, which is in neither the SDK nor the system", _OF_SYSTEM[name]), "amdhip64", "amdhip64 rocm_smi64") for name in _LACKING),
    Fault("the package never had it", _never_had, "E-LIB-002", ("rocm-sdk-libraries has it, and the one that is installed does not", "Use an SDK whose rocm-sdk-libraries includes librocfft.so.0"), "hipsparse"),
    Fault("of a package that is not installed", _of_missing_package, "E-LIB-003", ("librocblas.so.5 is missing: its package is not installed", "rocm[libraries]==7.10.0"), "rocm_smi64", "rocm_smi64"),
    Fault("an RPATH that leads nowhere", _moved, "E-LIB-004", ("libhiprtc.so.7 does not find libamdhip64.so.7",)),
    Fault("a RUNPATH to the system", _sysdeps("/usr/lib/nowhere"), "W-LIB-011 N-LIB-019", rpath="none"),
    Fault("a RUNPATH that helps not", _sysdeps("$ORIGIN"), "N-LIB-019", rpath="none"),
    Fault("an RPATH of the build machine", _one(SMI, flags=("-Wl,-rpath,/build/rocm/lib",)), "W-LIB-011", ("librocm_smi64.so.1 looks for libraries outside the SDK",)),
    Fault("no RPATH", lambda site: site.library(SPARSE, needed=(site.library(HIP),), package=LIBRARIES), "N-LIB-019", rpath="none"),
    Fault("an RPATH of upstream", lambda site: _upstream(site, is_linked=False), "N-LIB-019", rpath="none"),
    Fault("an RPATH of upstream among others", lambda site: _upstream(site, is_linked=True), "E-LIB-004", rpath="none"),
    Fault("static TLS", _one(HIP, "__thread char big[1 << 20]; char *use(void) { return big; }", flags=("-ftls-model=initial-exec",)), "E-LIB-018", ("the library takes 1048576 bytes", "glibc.rtld.optional_static_tls"), "amdhip64"),
    Fault("renamed away", _renamed("hip.bak"), "E-FILE-001 W-PKG-019", (HIP,), subjects="files,api"),
    Fault("renamed to another version", _renamed("libamdhip64.so.8"), "W-LIB-010", ("libamdhip64.so.8 says that it is libamdhip64.so.7",)),
    Fault("two of one SONAME", lambda site: [site.library(HIP, package=package) for package in (CORE, LIBRARIES)], "W-LIB-016", ("have one SONAME",)),
    Fault("a copy beside it", _same_soname, "W-LIB-016", ("libamdhip64.so.6.9 and ",)),
    Fault("a function of another version", _newer_hip, "E-LIB-020", ("undefined symbol: added",)),
    Fault("a crash", _crash_below, "E-LIB-007", ("libhsa-runtime64.so.1 crashes when it is loaded", "was killed by SIGABRT"), breaks="hsa-runtime64 amdhip64 check_api:_hsa-runtime64 check_api:_amdhip64", subjects="files,libraries,api"),
    Fault("an exit", _one("libroctx64.so.4", CONSTRUCTOR.format("exit(3)")), "E-LIB-009", ("with status 3",)),
    Fault("a sanitizer", _one("libclang_rt.asan-x86_64.so", CONSTRUCTOR.format("abort()")), "", untried="sanitizer"),
    Fault("an optional library is absent", _one(HIP, COUNT), "", subjects="files,libraries,api", loads="amdhip64", untried="hipfile: no package of this SDK has it"),
    Fault("an executable stack", _one(HIP, flags=("-Wl,-z,execstack",)), "N-LIB-014 E-LIB-015" if tuple(map(int, GLIBC.split("."))) >= (2, 41) else "N-LIB-014", ("rocm-sdk test --fix",)),
    Fault("absolute links", lambda site: _all_links(site, "{}/"), ""),
    Fault("relative links alone", lambda site: _all_links(site, "../../"), "E-TEST-002", ("the check of libraries tested nothing", "libraries, and none was loaded")),
    Fault("it is another library", _one("libhiprtc.so.7"), "E-API-003", ("hiprtc has no function hiprtcCreateProgram",), subjects="api"),
    Fault("code of hiprtc", _compiles("return 0;", GFX1030), "", subjects="api"),
    Fault("code for another GPU", _compiles("return 0;", GFX1100), "E-API-005", ("hiprtc compiles no kernel for gfx1030", "the code is for gfx1100"), subjects="api"),
    Fault("no code", _compiles("return 0;", b"not code"), "E-API-005", ("the compiled code cannot be read: neither an ELF file",), subjects="api"),
    Fault("an error of hiprtc", _compiles("return 6;", b"x"), "E-API-005", ("hiprtcCompileProgram answers HIPRTC_ERROR_COMPILATION (6): no such header",), subjects="api"),
    Fault("a crash of hiprtc", _compiles("__builtin_trap();", b"x"), "E-API-005", ("it was killed by SIG",), subjects="api"),
    Fault("many files", _many_files, "E-FILE-008", ("40 files of rocm-sdk-libraries are missing", "kernels_0.co, kernels_1.co, kernels_10.co ..."), subjects="files"),
    Fault("a list of pages", _page_list, "", subjects="files"),
    Fault("rewritten: less code", lambda site: _rewritten(site, NewCode(("gfx1030",))), "N-CODE-015", ("librocrand.so.1 was rewritten", "keep gfx1030; made of a file with SHA-256 ")),
    Fault("rewritten: compressed", lambda site: _rewritten(site, NewCode(compressed=True)), "N-CODE-015", ("compress; made of a file with SHA-256 ",)),
    Fault("rewritten: a damaged note", lambda site: _rewritten(site, NewCode(("gfx1030",)), damage=b'"stepz"'), "N-CODE-015", ("nothing readable: the note is damaged",)),
    Fault("rewritten: retargeted", _retargeted, "W-CODE-016", ("librocrand.so.1 offers code of one target for another", "retarget gfx1030:gfx1031 (unofficial); made of")),
    Fault("hipcc without a compiler", _tool("hipcc", _NO_COMPILER), "", subjects="tools", untried="hipcc"),
    Fault("hipcc of Perl without a compiler", _tool("hipcc", _NO_COMPILER_OF_PERL), "", subjects="tools", untried="hipcc: this SDK has no compiler for it; HIP_CLANG_PATH names one: Can"),
    Fault("hipcc of Perl with a compiler", _tool("hipcc", _NO_COMPILER_OF_PERL, "lib/llvm/bin/clang++", "#!/bin/sh\n"), "E-TOOL-002", subjects="tools"),
    Fault("hipcc with a compiler", _tool("hipcc", _NO_COMPILER, "lib/llvm/bin/clang++", "#!/bin/sh\n"), "E-TOOL-001", ("failed to execute",), subjects="tools"),
    Fault("hipcc of a broken Perl", _tool("hipcc", "echo BEGIN failed--compilation aborted; exit 2"), "E-TOOL-001", ("BEGIN failed",), subjects="tools"),
    Fault("a tool without a module", _tool("amd-smi", _NO_YAML), "", subjects="tools", untried="needs the Python module yaml"),
    Fault("a tool without its own module", _tool("amd-smi", _NO_YAML, "libexec/amdsmi_cli/yaml.py"), "E-TOOL-002", subjects="tools"),
    Fault("a tool without a Perl module", _tool("roc-obj-ls", "exec perl -e 'use File::Nowhere;'"), "", subjects="tools", untried="roc-obj-ls: it needs the Perl module File::Nowhere, which is not installed"),
    Fault("a tool without its own Perl module", _tool("roc-obj-ls", "exec perl -e 'use File::Nowhere;'", "lib/File/Nowhere.pm"), "E-TOOL-001", ("BEGIN failed",), subjects="tools"),
    Fault("a tool of a function that is not there", _without_function(""), "", subjects="tools", untried="roc-obj-ls: its package declares the script without the function roc_obj_ls behind it"),
    Fault("a tool of a function that is gone", _without_function("changed = 1\n"), "E-FILE-002", ("rocm_sdk_core/_cli.py",), subjects="tools"),
    Fault("a program without RPATH", lambda site: _program(site, None), "W-TOOL-006", ("programs that start only with `rocm-sdk run`: rocminfo", "rocm-sdk run rocminfo"), subjects="tools"),
    Fault("a program with an RPATH", lambda site: _program(site, "$ORIGIN/../lib"), "", subjects="tools"),
    Fault("a program with a wrong RPATH", lambda site: _program(site, "$ORIGIN/../nowhere"), "E-LIB-004", subjects="tools"),
)
# fmt: on
