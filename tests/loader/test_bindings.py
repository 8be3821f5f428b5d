"""The file that each symbol binds to, foreseen and read; tests/attack/foreseen.py has random libraries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from compiled_files import compile_file
from other_user import OtherUser
from programs import completed
from sample_site import CORE, Site, clean_environment, compile_library, run_python

import rocm_sdk

WHO = 'const char *who(void) { return "%s"; } const char *%s(void) { return who(); }'
VARIABLE = "int state = %d; int *%s(void) { return &state; }"

# Prints symbol, library, file that answers, file that would, verdict; by name.
TELL = """
import os, rocm_sdk
for each in {bindings}.references:
    names = [os.path.basename(path or "-") for path in (each.library, each.bound_to, each.instead)]
    print(each.symbol, *names, each.verdict)
"""


@pytest.fixture
def twins(tmp_path: Path) -> Site:
    """Return an SDK with two libraries that both have, and call, the same function."""
    site = Site(tmp_path)
    site.library("librocm_smi64.so.7", WHO % ("rocm_smi64", "ask_rocm_smi64"))
    site.library("libroctx64.so.4", WHO % ("roctx64", "ask_roctx64"))
    return site


def tell(site: Site | Path, bindings: str) -> list[str]:
    path = site.path if isinstance(site, Site) else site
    return run_python(TELL.format(bindings=f"rocm_sdk.{bindings}"), PYTHONPATH=str(path)).stdout.splitlines()


def test_the_second_calls_the_first(twins: Site) -> None:
    fault = "who {0} {1} {0} other-function"
    libraries = ("librocm_smi64.so.7", "libroctx64.so.4")
    assert tell(twins, 'bindings("rocm_smi64", "roctx64", rtld_global=True)') == [
        fault.format(libraries[1], libraries[0])
    ]
    assert tell(twins, 'bindings("roctx64", "rocm_smi64", rtld_global=True)') == [fault.format(*libraries)]
    assert tell(twins, 'bindings("rocm_smi64", "roctx64", rtld_global=False)') == []


def test_what_is_foreseen_is_what_is_called(twins: Site) -> None:
    program = """
import rocm_sdk, ctypes
found = rocm_sdk.bindings("rocm_smi64", "roctx64", rtld_global=True).references
foreseen = [(each.library, each.bound_to) for each in found]
for each in rocm_sdk.preload_libraries("rocm_smi64", "roctx64", rtld_global=True):
    ask = ctypes.CDLL(each.location.path)["ask_" + each.location.shortname]
    ask.restype = ctypes.c_char_p
    print(each.location.shortname, ask().decode())
read = [(each.library, each.bound_to) for each in rocm_sdk.process_bindings().references if "rsdk" not in each.symbol]
assert [pair for pair in read if "_rocm_sdk" in pair[0]] == foreseen, (read, foreseen)
assert foreseen
"""
    called = run_python(program, PYTHONPATH=str(twins.path)).stdout.splitlines()
    assert called == ["rocm_smi64 rocm_smi64", "roctx64 rocm_smi64"]


def test_variables_are_told_apart(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.library("librocm_smi64.so.7", VARIABLE % (1, "state_of_smi"))
    site.library("libroctx64.so.4", VARIABLE % (2, "state_of_roctx"))
    (told,) = tell(site, 'bindings("rocm_smi64", "roctx64", rtld_global=True)')
    assert told == "state libroctx64.so.4 librocm_smi64.so.7 libroctx64.so.4 other-object"


def test_a_constant_is_no_variable(tmp_path: Path) -> None:
    site = Site(tmp_path)
    source = "const int state = %d; const int *%s(void) { return &state; }"
    site.library("librocm_smi64.so.7", source % (1, "state_of_smi"))
    site.library("libroctx64.so.4", source % (2, "state_of_roctx"))
    assert tell(site, 'bindings("rocm_smi64", "roctx64", rtld_global=True)')[0].endswith("other-function")


def test_a_dependency_is_no_stranger_and_another_copy_of_it_is(tmp_path: Path) -> None:
    site = Site(tmp_path)
    dependency = site.library("libdependency.so.1", "int shared(void) { return 1; }")
    uses = "int shared(void); int use(void) { return shared(); }"
    site.library("libroctx64.so.4", uses, (dependency,))
    assert tell(site, 'bindings("roctx64", rtld_global=True)') == []
    foreign = compile_library(tmp_path / "libforeign.so", "libforeign.so", "int shared(void) { return 2; }")
    loads = f"__import__('ctypes').CDLL({str(foreign)!r}, os.RTLD_GLOBAL) and rocm_sdk."
    told = run_python(TELL.format(bindings=f"{loads}bindings('roctx64')"), PYTHONPATH=str(site.path)).stdout
    assert told.split() == ["shared", "libroctx64.so.4", "libforeign.so", "libdependency.so.1", "other-function"]


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("__attribute__((weak)) int twice(void) { return 1; } int use_%s(void) { return twice(); }", "weak"),
        (
            "__attribute__((weak)) int _Z5twicev(void) { return 1; } int use_%s(void) { return _Z5twicev(); }",
            "vague",
        ),
        ("void *malloc(unsigned long size) { return 0; } void *use_%s(void) { return malloc(1); }", "other-function"),
    ],
)
def test_weak_definitions_are_no_faults(tmp_path: Path, source: str, verdict: str) -> None:
    site = Site(tmp_path)
    site.library("librocm_smi64.so.7", source % "a")
    site.library("libroctx64.so.4", source % "b")
    told = tell(site, 'bindings("rocm_smi64", "roctx64", rtld_global=True)')
    assert told
    assert {line.split()[-1] for line in told} == {verdict}


def test_a_weak_variable_whose_guard_is_elsewhere_is_a_fault(tmp_path: Path) -> None:
    site = Site(tmp_path)
    variable = "__attribute__((weak)) long _ZZ3onevE5state; long *use_%s(void) { return &_ZZ3onevE5state; }"
    guard = "__attribute__((weak)) long _ZGVZ3onevE5state; long *guard_%s(void) { return &_ZGVZ3onevE5state; }"
    site.library("librocm_smi64.so.7", variable % "a")
    site.library("libroctx64.so.4", variable % "b" + guard % "b")
    site.library("libhiprtc.so.7", variable % "c")
    told = tell(site, 'bindings("rocm_smi64", "roctx64", "hiprtc", rtld_global=True)')
    assert {tuple(line.split()[:2]): line.split()[-1] for line in told} == {
        ("_ZZ3onevE5state", "libroctx64.so.4"): "other-object",
        ("_ZZ3onevE5state", "libhiprtc.so.7"): "vague",
    }


def test_a_weak_variable_whose_guard_both_have_is_none(tmp_path: Path) -> None:
    """The file that answers constructs it."""
    site = Site(tmp_path)
    both = "__attribute__((weak)) long _ZZ3onevE5state, _ZGVZ3onevE5state;"
    uses = "long *use_%s(void) { return &_ZZ3onevE5state + _ZGVZ3onevE5state; }"
    site.library("librocm_smi64.so.7", both + uses % "a")
    site.library("libroctx64.so.4", both + uses % "b")
    told = tell(site, 'bindings("rocm_smi64", "roctx64", rtld_global=True)')
    assert {line.split()[0]: line.split()[-1] for line in told} == {
        "_ZZ3onevE5state": "vague",
        "_ZGVZ3onevE5state": "vague",
    }


@pytest.mark.parametrize(
    ("definition", "verdict"),
    [
        ("__attribute__((weak)) int _Z5twicev(void)", "c++-runtime"),
        ("int _ZNSt5twiceEv(void)", "c++-runtime"),
        ("int _Z5twicev(void)", "other-function"),
    ],
)
def test_the_runtime_of_c_plus_plus_in_two_files(tmp_path: Path, definition: str, verdict: str) -> None:
    """The library has the runtime linked in.

    A strong symbol that is no name of the runtime is somebody else's.
    """
    site = Site(tmp_path)
    name = definition.partition("(void)")[0].rpartition(" ")[2]
    source = f"{definition} {{ return 1; }} int use_%s(void) {{ return {name}(); }}"
    site.library("libroctx64.so.4", source % "own")
    runtime = compile_library(tmp_path / "libstdc++.so.9", "libstdc++.so.9", source % "runtime")
    loads = f"__import__('ctypes').CDLL({str(runtime)!r}, os.RTLD_GLOBAL) and rocm_sdk."
    told = run_python(TELL.format(bindings=f"{loads}bindings('roctx64')"), PYTHONPATH=str(site.path)).stdout
    assert told.split() == [name, "libroctx64.so.4", "libstdc++.so.9", "libroctx64.so.4", verdict]


def test_the_examples_of_a_pair_are_those_of_its_verdict(tmp_path: Path) -> None:
    """Weak functions do not appear as examples of a fault, wherever they stand."""
    site = Site(tmp_path)
    weak = [f"weak{number}" for number in range(8)]
    source = "".join(f"__attribute__((weak)) int {name}(void) {{ return 1; }}" for name in weak)
    source += "int strong(void) { return 1; }"
    calls = " + ".join(f"{name}()" for name in (*weak[:4], "strong", *weak[4:]))
    for soname, word in (("librocm_smi64.so.7", "a"), ("libroctx64.so.4", "b")):
        site.library(soname, f"{source} int use_{word}(void) {{ return {calls}; }}")
    program = """
import rocm_sdk
found = rocm_sdk.bindings("rocm_smi64", "roctx64", rtld_global=True)
(pair,) = [each for each in found.pairs if each.counts.get("weak")]
print(pair.counts["weak"], pair.verdict, pair.examples)
"""
    told = run_python(program, PYTHONPATH=str(site.path)).stdout.strip()
    assert told == "8 other-function ('strong',)"


UNIQUE = """
asm(".globl unique; .type unique, @gnu_unique_object; .size unique, 4; .data; .align 4; unique: .long 1; .text");
int own_%s(void) { return 1; }
"""


def test_a_unique_symbol_is_not_asked_for(tmp_path: Path) -> None:
    """A lookup by dlsym would note the symbol, and its library could never be unloaded again."""
    site = Site(tmp_path)
    site.library("libroctx64.so.4", "extern int unique; int *use(void) { return &unique; }")
    first, second = (
        compile_library(tmp_path / f"lib{name}.so", f"lib{name}.so", UNIQUE % name) for name in ("first", "second")
    )
    program = f"""
import _ctypes, ctypes, os, rocm_sdk
handles = [_ctypes.dlopen(path, os.RTLD_GLOBAL | os.RTLD_NOW) for path in ({str(first)!r}, {str(second)!r})]
(found,) = [each for each in rocm_sdk.bindings("roctx64", every=True).references if each.symbol == "unique"]
for handle in handles:
    _ctypes.dlclose(handle)
maps = open("/proc/self/maps").read()
print(os.path.basename(found.bound_to), "libfirst.so" in maps, "libsecond.so" in maps)
"""
    assert run_python(program, PYTHONPATH=str(site.path)).stdout.split() == ["libfirst.so", "False", "False"]


# Opens `first` before `second`, and makes them global in the order of `paths`.
MADE_GLOBAL = """
import _ctypes, ctypes, os, rocm_sdk
for path in sorted({paths!r}):
    _ctypes.dlopen(path, os.RTLD_LOCAL | os.RTLD_NOW)
for path in {paths!r}:
    _ctypes.dlopen(path, os.RTLD_GLOBAL | os.RTLD_NOW | os.RTLD_NOLOAD)
references = rocm_sdk.bindings("roctx64", every=True).references
(found,) = [each for each in references if each.symbol == {symbol!r}]
(loaded,) = rocm_sdk.preload_libraries("roctx64")
use = ctypes.CDLL(loaded.location.path).use
use.restype = ctypes.c_char_p
print(os.path.basename(found.bound_to), use().decode())
"""
NAMED = 'const char *name(void) {{ return "{0}"; }}'
# Which one is called is decided at the first call, so dlsym is not asked for it; the last symbol tells.
CHOSEN = """
static const char *own(void) {{ return "{0}"; }}
static const char *(*choose(void))(void) {{ return own; }}
const char *name(void) __attribute__((ifunc("choose")));
{1}int z_other(void) {{ return 1; }}
"""


@pytest.mark.parametrize(("source", "others"), [(NAMED, ""), (CHOSEN, ""), (CHOSEN, "int y_own_{0}; ")])
@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")], ids="-".join)
def test_the_order_in_which_libraries_became_global(
    tmp_path: Path, order: tuple[str, str], source: str, others: str
) -> None:
    site = Site(tmp_path)
    site.library("libroctx64.so.4", "const char *name(void); const char *use(void) { return name(); }")
    paths = [
        str(compile_library(tmp_path / f"lib{each}.so", f"lib{each}.so", source.format(each, others.format(each))))
        for each in order
    ]
    said = run_python(MADE_GLOBAL.format(paths=paths, symbol="name"), PYTHONPATH=str(site.path)).stdout.split()
    assert said == [f"lib{order[0]}.so", order[0]]


# Called before the program waits: `called`, and `chosen`, whose slot has the chosen function. `waiting` is not.
LAZY = """
static int one(void) { return 1; }
static int (*choose(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("choose")));
int called(void) { return 2; }
int waiting(void) { return 3; }
int call(int all) { return chosen() + called() + (all ? waiting() : 0); }
"""
WAITS = """
#include <stdio.h>
int call(int all);
int main(void) { int sum = call(0); puts("ready"); fflush(stdout); (void)getchar(); return sum != 3; }
"""


def test_slots_that_are_filled_at_the_first_call(tmp_path: Path) -> None:
    library = compile_library(tmp_path / "liblazy.so", "liblazy.so", LAZY, flags=("-Wl,-z,lazy", "-fplt"))
    words = ["cc", "-x", "c", "-", "-x", "none", library, f"-Wl,-rpath,{tmp_path},-z,lazy"]
    program = compile_file(words, tmp_path / "program", WAITS)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        found = rocm_sdk.process_bindings(process.pid, every=True).references
        process.communicate("\n")
    assert process.returncode == 0
    own = {each.symbol: (each.bound_to, each.verdict) for each in found if each.library == str(library)}
    assert own["called"] == (str(library), "meant")
    assert own["waiting"] == (None, "lazy")
    assert own["chosen"] == (None, "unknown")


def test_functions_of_one_source_are_no_fault_within_one_sdk(tmp_path: Path) -> None:
    """As in ROCm 6.4, where HIP has hiprtc's functions."""
    site = Site(tmp_path)
    source = (
        "const char *hiprtcGetErrorString(int e) { return 0; } const char *%s(void) { return hiprtcGetErrorString(1); }"
    )
    site.library("libamdhip64.so.7", source % "of_hip")
    site.library("libhiprtc.so.7", source % "of_hiprtc")
    (told,) = tell(site, 'bindings("amdhip64", "hiprtc")')
    assert told == "hiprtcGetErrorString libhiprtc.so.7 libamdhip64.so.7 libhiprtc.so.7 same-source"
    foreign = compile_library(tmp_path / "libhiprtc.so.6", "libhiprtc.so.6", source % "of_another")
    (told,) = tell(site, f'bindings("amdhip64", files=[{str(foreign)!r}])')
    assert told.endswith(" other-function")
    beside = site.path / f"{CORE[:-1]}x" / "lib"  # a path of the same length
    beside.mkdir(parents=True)
    foreign = compile_library(beside / "libhiprtc.so.6", "libhiprtc.so.6", source % "of_another")
    (told,) = tell(site, f'bindings("amdhip64", files=[{str(foreign)!r}])')
    assert told.endswith(" other-function")


def test_what_ld_preload_takes_over_is_meant(tmp_path: Path, twins: Site) -> None:
    preloaded = compile_library(tmp_path / "libtaken.so", "libtaken.so", "const char *who(void) { return 0; }")
    program = TELL.format(bindings="rocm_sdk.bindings('roctx64')")
    told = run_python(program, PYTHONPATH=str(twins.path), LD_PRELOAD=str(preloaded)).stdout.split()
    assert told == ["who", "libroctx64.so.4", "libtaken.so", "libroctx64.so.4", "taken-over"]


def test_a_file_is_opened_after_what_it_needs(twins: Site, tmp_path: Path) -> None:
    extension = compile_library(tmp_path / "extension.so", "extension.so", WHO % ("extension", "ask_extension"))
    told = tell(twins, f"bindings('roctx64', files=[{str(extension)!r}], rtld_global=True)")
    assert told == ["who extension.so libroctx64.so.4 extension.so other-function"]


def test_what_nobody_answers(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.library("libroctx64.so.4", "int absent(void); int use(void) { return absent(); }")
    assert tell(site, 'bindings("roctx64")') == ["absent libroctx64.so.4 - - missing"]


def test_pairs_and_counts(twins: Site) -> None:
    program = """
import rocm_sdk
found = rocm_sdk.bindings("rocm_smi64", "roctx64", rtld_global=True)
worst = found.pairs[0]
print(worst.reference_count, worst.counts, worst.examples, worst.verdict, found.missing)
every = rocm_sdk.bindings("rocm_smi64", "roctx64", rtld_global=True, every=True)
assert len(every.references) == every.reference_count == found.reference_count > len(found.references) == 1
"""
    told = run_python(program, PYTHONPATH=str(twins.path)).stdout.strip()
    assert told == "1 {'other-function': 1} ('who',) other-function ()"


def test_nothing_is_loaded(twins: Site) -> None:
    program = """
import rocm_sdk
rocm_sdk.bindings("rocm_smi64", "roctx64")
print("_rocm_sdk_core" in open("/proc/self/maps").read())
"""
    assert run_python(program, PYTHONPATH=str(twins.path)).stdout.strip() == "False"


def test_another_process(twins: Site) -> None:
    loads = 'rocm_sdk.preload_libraries("rocm_smi64", "roctx64", rtld_global=True)'
    waits = f"import rocm_sdk; {loads}; print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", waits],
        env=os.environ | {"PYTHONPATH": str(twins.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        told = [line for line in tell(twins, f"process_bindings({process.pid})") if line.startswith("who ")]
        process.communicate("\n")
    assert told == ["who libroctx64.so.4 librocm_smi64.so.7 libroctx64.so.4 other-function"]


def test_a_process_that_is_not_there() -> None:
    with pytest.raises(OSError, match="/proc/4194304/mem: No such file"):
        rocm_sdk.process_bindings(4194304)
    for number in (-1, 2**31, 2**100, -(2**100)):
        with pytest.raises(ValueError, match="not the number of a process"):
            rocm_sdk.process_bindings(number)


def test_a_process_of_another_user(other_user: OtherUser) -> None:
    result = other_user.run("-c", f"import rocm_sdk; rocm_sdk.process_bindings({os.getpid()})")
    assert result.returncode == 1
    assert "may look into a process" in result.stderr


def test_a_damaged_file_is_named(twins: Site, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes((twins.path / CORE / "lib/libroctx64.so.4").read_bytes()[:3000])
    with pytest.raises(rocm_sdk.BadLibraryError, match=r"damaged\.so: "):
        rocm_sdk.bindings(files=[damaged])


def test_a_library_that_can_be_planned_and_not_bound(site: Site) -> None:
    """So many relocations are not checked before a library is loaded; a damaged one is found where it is bound."""
    table = "extern char other; char *table[30000] = {[0 ... 29999] = &other};"
    path = site.library("libroctx64.so.4", table)
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    (row,) = [line.partition("]")[2].split() for line in sections.splitlines() if " .rela.dyn " in line]
    end = int(row[3], 16) + int(row[4], 16)
    content = bytearray(path.read_bytes())
    content[end - 12 : end - 8] = (1 << 24).to_bytes(4, sys.byteorder)  # the symbol of the last entry
    path.write_bytes(content)
    code = """
        import rocm_sdk
        print([step.method for step in rocm_sdk.load_plan("roctx64").steps])
        try:
            rocm_sdk.bindings("roctx64")
        except rocm_sdk.BadLibraryError as error:
            print(error)
    """
    planned, refused = site.output(code).splitlines()[:2]
    assert planned == "['open']"
    assert refused.startswith(f"{path}: a relocation names a symbol that does not exist")


BIND = "from rocm_sdk import _native; print(_native.bindings(files=({paths})).reference_count)"


@pytest.mark.parametrize("kind", ["filter", "auxiliary"])
def test_libraries_that_are_their_own_filters(tmp_path: Path, kind: str) -> None:
    """A library that is its own filter is taken by glibc.

    Two libraries that name each other cannot be loaded by glibc, but files may say it.
    """
    names = ("libself.so", "libone.so", "libother.so")
    for name, filtee in zip(names, ("libself.so", "libother.so", "libone.so"), strict=True):
        source = f"int from_{name[3:-3]}(void) {{ return 1; }}"
        compile_library(tmp_path / name, name, source, flags=(f"-Wl,--{kind}={filtee}", "-Wl,-rpath,$ORIGIN"))
    for name in names:
        code = BIND.format(paths=f"{str(tmp_path / name)!r},")
        assert completed([sys.executable, "-c", code], timeout=20).returncode == 0
    loaded = f"import ctypes; ctypes.CDLL({str(tmp_path / 'libself.so')!r}); from rocm_sdk import _native as n"
    assert completed([sys.executable, "-c", f"{loaded}; n.process_bindings()"], timeout=20).returncode == 0


CHANGES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>
/* The second reading of the table at TABLE finds other words: the file was changed after the first. */
ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
    ssize_t (*own)(int, void *, size_t, off_t) = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    ssize_t done = own(file, buffer, size, offset);
    if (offset == TABLE && size > 16) {
        ((uint32_t *)buffer)[0] = 7;
        ((uint32_t *)buffer)[2] = 0x20000000;
        (void)!write(2, "changed", 7);
    }
    return done;
}
ssize_t pread64(int file, void *buffer, size_t size, off_t offset) { return pread(file, buffer, size, offset); }
"""


def test_a_table_that_changes_while_it_is_read(tmp_path: Path) -> None:
    source = "int own(void) { return 1; } int (*taken)(void) = own;"
    path = compile_library(tmp_path / "libchanged.so", "libchanged.so", source, flags=("-Wl,--hash-style=gnu",))
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    (line,) = (line.split("]", 1)[1].split() for line in sections.splitlines() if " .gnu.hash " in line)
    shim = compile_library(tmp_path / "libshim.so", None, CHANGES.replace("TABLE", f"0x{line[3]}"))
    command = [sys.executable, "-c", BIND.format(paths=f"{str(path)!r},")]
    result = completed(command, env=clean_environment() | {"LD_PRELOAD": str(shim)})
    assert (result.returncode, "changed" in result.stderr) == (0, True)
