"""A library is bound to itself (RTLD_DEEPBIND) only where nothing else changes by it.

Programs have a file with rocm_smi's functions in their global scope, and preload amd_smi or rocm_smi64, which finds
its own functions if it is bound to itself, and the other file's if not.
"""

import subprocess
from pathlib import Path

import pytest
from compiled_files import compile_file
from programs import completed
from sample_site import CORE, Site, clean_environment, compile_library

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = ROOT / "build/c/gcc/librocm_sdk.a"

# Prints what the function CALL of the library NAME says, and what the loader warns of.
PROGRAM = r"""
#include <rocm_sdk/rocm_sdk.h>
#include <dlfcn.h>
#include <cstdio>
%s
int main(int, char **argv) {
    %s
    const char *site = argv[1], *name = argv[3];
    if (!dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL)) { puts(dlerror()); return 9; }
    rsdk_sdk_options where = {}; where.search_path = &site; where.search_path_count = 1;
    rsdk_load_options what = {}; what.shortnames = &name; what.shortname_count = 1; what.is_global = true;
    rsdk_error error = RSDK_ERROR_INIT; rsdk_sdk *sdk = nullptr; rsdk_loaded *loaded = nullptr;
    if (rsdk_sdk_open(&where, &sdk, &error) != RSDK_OK || rsdk_loader_preload(sdk, &what, &loaded, &error) != RSDK_OK)
        { puts(rsdk_error_message(&error)); return 8; }
    printf("%%d\n", ((int (*)())dlsym(rsdk_loaded_library(loaded, 0)->handle, argv[4]))());
    for (size_t i = 0; i < rsdk_loaded_warning_count(loaded); i++) puts(rsdk_loaded_warning(loaded, i)->text);
    rsdk_loaded_free(loaded); rsdk_sdk_free(sdk);
}
"""
STREAMS = ("#include <iostream>", 'std::cout << "" << std::flush;')
NOTHING = ("", "")

# Each answers with its own number, after the use of something of another library.
SMI = """
%s
extern "C" int rsmi_init(void) { return NUMBER; }
extern "C" int shared_mutex_init(void) { return NUMBER; }
extern "C" int SAYS(void) { USE; return 10 * rsmi_init() + shared_mutex_init(); }
"""
SAY = ("#include <iostream>", 'std::cout << "says" << std::endl')
OPEN = ("#include <cstdio>", 'FILE *file = fopen("/dev/null", "r"); if (file) fclose(file)')
PRINT = ("#include <cstdio>", 'fputs("", stderr)')
ENVIRONMENT = ("#include <unistd.h>", "if (!environ) return -1")
INLINE = ("#include <map>", "static std::map<int, int> map; map[NUMBER] = 1")

SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
FILE *fopen(const char *path, const char *mode) {
    fputs("shim", stdout);
    return ((FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen"))(path, mode);
}
"""


def cxx(output: Path, source: str, *words: str | Path) -> Path:
    return compile_file(["g++", "-w", "-x", "c++", "-", "-x", "none", *words], output, source)


def library(site: Site, soname: str, source: str, *words: str | Path) -> Path:
    path = site.path / CORE / "lib" / soname
    path.parent.mkdir(parents=True, exist_ok=True)
    return cxx(path, source, "-shared", "-fPIC", "-O0", f"-Wl,-soname,{soname}", *words)


def smi(site: Site, number: int, use: tuple[str, str] = NOTHING, *words: str | Path) -> Path:
    """Make librocm_smi64 (1) or libamd_smi (2)."""
    source = SMI.replace("USE", use[1]).replace("NUMBER", str(number)).replace("SAYS", f"says{number}") % use[0]
    return library(site, {1: "librocm_smi64.so.7", 2: "libamd_smi.so.26"}[number], source, *words)


@pytest.fixture(scope="module", autouse=True)
def archive() -> None:
    subprocess.run(["make", "-s", "-C", ROOT, "VARIANT=gcc", ARCHIVE.relative_to(ROOT)], check=True)


def program(site: Site, use: tuple[str, str], *words: str) -> Path:
    built = site.path / "program"
    return cxx(built, PROGRAM % use, f"-I{ROOT / 'csrc/include'}", *words, ARCHIVE, "-lelf", "-ldl")


def said(site: Site, built: Path, first: Path, number: int = 2, **environment: str) -> list[str]:
    """Return the lines of a program that has `first` in the global scope and loads a library of the SDK."""
    name = {1: "rocm_smi64", 2: "amd_smi"}[number]
    done = completed(
        [built, site.path, first, name, f"says{number}"], env=clean_environment() | environment, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


KINDS = pytest.mark.parametrize("kind", [("-pie", "-fPIE"), ("-no-pie", "-fno-pie")], ids=["pie", "no-pie"])


@KINDS
@pytest.mark.parametrize(("number", "first"), [(1, 2), (2, 1)])
def test_a_program_has_a_copy_of_an_object(site: Site, kind: tuple[str, ...], number: int, first: int) -> None:
    """The library would use the std::cout of libstdc++, which nobody has constructed."""
    opened = smi(site, first, SAY)
    smi(site, number, SAY)
    built = program(site, STREAMS, *kind)
    lines = said(site, built, opened, number)
    assert lines[:2] == ["says", f"{first}{first}"]
    assert f"would pass by _ZSt4cout of {built}; name both libraries in one call" in lines[2]
    assert f"will call rsmi_init and other functions of {opened} instead of its own" in lines[2]


@KINDS
@pytest.mark.parametrize("use", [SAY, OPEN, INLINE], ids=["cout", "fopen", "template"])
def test_a_program_without_a_copy(site: Site, kind: tuple[str, ...], use: tuple[str, str]) -> None:
    """A program at a fixed address has an address for fopen, and templates are in every file that uses them."""
    taken = ("#include <map>", "static std::map<int, int> map; map[1] = 1; volatile auto open = &fopen; (void)open;")
    opened = smi(site, 1, use)
    smi(site, 2, use)
    assert said(site, program(site, taken, *kind, "-rdynamic"), opened)[-1] == "22"


def test_copies_of_the_c_librarys_objects(site: Site) -> None:
    """A copy of stderr is the same pointer; the C library's own environ stays empty."""
    uses = ("#include <unistd.h>", "if (!environ || !stderr) return 7;")
    built = program(site, uses)
    smi(site, 2, PRINT)
    assert said(site, built, smi(site, 1)) == ["22"]
    smi(site, 2, ENVIRONMENT)
    lines = said(site, built, smi(site, 1))
    assert (lines[0], f"would pass by environ of {built};" in lines[1]) == ("11", True)


@pytest.mark.parametrize("which", ["itself", "what it brings", "neither"])
def test_a_preloaded_function(site: Site, which: str) -> None:
    """The library, or a library that it brings in, calls a function that a preloaded file has taken over."""
    shim = compile_library(site.path / "libshim.so", "libshim.so", SHIM)
    use = 'extern "C" int use(void)'
    source = f"#include <cstdio>\n{use} {{ {OPEN[1]}; return 0; }}"
    brought = library(site, "libbrought.so", source)
    if which == "what it brings":
        smi(site, 2, (f"{use};", "use()"), brought)
    else:
        smi(site, 2, OPEN if which == "itself" else PRINT)
    lines = said(site, program(site, NOTHING), smi(site, 1), LD_PRELOAD=str(shim))
    if which == "neither":
        assert lines == ["22"]
        return
    assert lines[0] == "shim11"
    assert f"would pass by fopen of {shim}; name both" in lines[1]


def test_a_function_of_its_own_that_a_preloaded_file_has(site: Site) -> None:
    """A tracer of functions outside the row sees the calls as before."""
    shim = compile_library(site.path / "libshim.so", "libshim.so", "int shared_mutex_init(void) { return 7; }")
    smi(site, 2)
    lines = said(site, program(site, NOTHING), smi(site, 1), LD_PRELOAD=str(shim))
    assert (lines[0], f"would pass by shared_mutex_init of {shim};" in lines[1]) == ("17", True)


@pytest.mark.parametrize("runtime", [(), ("-static-libasan",)], ids=["shared", "static"])
@pytest.mark.parametrize("use", [NOTHING, OPEN], ids=["nothing", "fopen"])
def test_a_program_with_address_sanitizer(site: Site, runtime: tuple[str, ...], use: tuple[str, str]) -> None:
    """The sanitizer's dlopen ends the process at RTLD_DEEPBIND."""
    built = program(site, NOTHING, "-fsanitize=address", *runtime)
    smi(site, 2, use)
    lines = said(site, built, smi(site, 1), ASAN_OPTIONS="detect_leaks=0")
    holder = str(built) if runtime else "libasan.so"
    assert (lines[0], "would pass by" in lines[1], holder in lines[1]) == ("11", True, True)
