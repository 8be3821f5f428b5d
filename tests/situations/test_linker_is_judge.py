"""The dynamic linker as the judge of "loads": reports of verdicts that differed from the linker's."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import command_fixtures
import pytest
import system_programs
from checked_files import Call, codes, compile_library, document
from compiled_files import compile_file
from linked_sets import in_child, opens, starts
from linked_verdicts import compare_set, opened_behind
from sample_site import CORE, Site

from rocm_sdk import _native
from rocm_sdk.fit.verdicts.variants import loads

SETS = 25
# What the sets have, and what is answered of them.
FEATURES = """
    $ORIGIN | SDK lacks a library | SDK with RPATHs | SDK without RPATHs | SONAME is a link
    | SONAME unlike the file name | brings a library of ROCm | cycle | depth 1 | depth 2 | depth 3 | depth 4 | depth 5
    | depth 6 | link | needs another release | needs the SDK | needs what is nowhere | no SONAME | other class
    | other machine | own none | own rpath | own runpath | two copies | alone: yes | alone: no | tree finds all: yes
    | tree finds all: no | preload_for warns: yes | preload_for warns: no | directory: yes | directory: no
    | absent directory | wanted beside | with directories: yes | helped by directories: no
    | called: yes | run: yes | helped by run: no | helped by preload_for: no
    | auxiliary | filter | needs a link to the SDK | cut | no ELF file | member for another machine
    | opened before: yes | opened before: no | helped by what was opened
"""

sdk = command_fixtures.sdk  # without RPATHs: nothing leads to its libraries
PROGRAM = "int main(void) { return 0; }"
GPU = ("--gpu", "gfx1030")


@pytest.mark.slow
def test_random_sets(tmp_path: Path) -> None:
    """Each verdict of `check FILE`, `check DIR`, preload_for and `tree FILE` agrees with the linker.

    The sets are one case, because only all sets together have each feature and each answer.
    """
    counts: Counter[str] = Counter()
    for seed in range(SETS):
        counts += compare_set(seed, tmp_path / str(seed))
    lacking = [each for each in map(str.strip, FEATURES.split("|")) if not counts[each]]
    assert lacking == [], "the sets do not have this"


def program(path: Path, needed: tuple[Path, ...], *flags: str) -> Path:
    words = ["cc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed,--allow-shlib-undefined", *needed, *flags]
    return compile_file(words, path, PROGRAM)


@pytest.mark.parametrize("tags", ["--enable-new-dtags", "--disable-new-dtags"])
def test_a_program_with_a_library_of_another_release_beside_it(
    call: Call, tmp_path: Path, sdk: Site, tags: str
) -> None:
    """The program starts, with any release of the SDK, and so `check` of it and of its directory says."""
    shutil_name = sdk.path / CORE / "lib/libamdhip64.so.5"
    (sdk.path / CORE / "lib/libamdhip64.so.7").rename(shutil_name)
    files = tmp_path / "files"
    own = compile_library(files / "libamdhip64.so.7", "libamdhip64.so.7")
    path = program(files / "app", (own,), f"-Wl,{tags},-rpath,$ORIGIN")
    assert starts(path)
    found = document(call, path, *GPU)
    assert (found["loads"], found["verdict"]) == (True, "loads; no GPU code of its own")
    assert document(call, files, *GPU)["loads"] is True


def test_what_a_needed_library_does_not_find(call: Call, tmp_path: Path) -> None:
    gone = compile_library(tmp_path / "gone/libgone.so.1", "libgone.so.1")
    below = compile_library(tmp_path / "libb.so.1", "libb.so.1", needed=(gone,))
    path = compile_library(tmp_path / "liba.so", None, needed=(below,), flags=("-Wl,-rpath,$ORIGIN",))
    found = document(call, path, *GPU)
    assert (found["loads"], codes(found)) == (False, ["E-LIB-002"])
    assert "libb.so.1 needs libgone.so.1" in str(found["problems"])


def test_a_soname_is_no_file_name(call: Call, tmp_path: Path) -> None:
    """The printed command lets the linker find it."""
    files = tmp_path / "files"
    comgr = compile_library(files / "libamd_something.so", "libamd_something.so.3")
    path = compile_library(files / "libapp.so", None, needed=(comgr,), flags=("-Wl,-rpath,$ORIGIN",))
    for name in (files, path):
        found = document(call, name, *GPU)
        assert found["loads"] is not True
    found = document(call, files, *GPU)
    assert codes(found) == ["E-LIB-004"]
    (problem,) = found["problems"]
    subprocess.run(["sh", "-c", problem["fix"]], check=True)
    assert document(call, files, *GPU)["loads"] is True
    assert document(call, path, *GPU)["loads"] is True


def test_a_library_to_which_no_search_path_leads(call: Call, tmp_path: Path) -> None:
    files = tmp_path / "files"
    helper = compile_library(files / "lib/libhelper.so.1", "libhelper.so.1")
    compile_library(files / "bin/libapp.so", None, needed=(helper,))
    found = document(call, files, *GPU)
    assert (found["loads"], codes(found)) == (False, ["E-LIB-004"])
    (problem,) = found["problems"]
    assert problem["fix"].startswith("patchelf --add-rpath '$ORIGIN/../lib' ")
    if subprocess.run(["which", "patchelf"], capture_output=True, check=False).returncode == 0:
        subprocess.run(["sh", "-c", problem["fix"]], check=True)
        assert document(call, files, *GPU)["loads"] is True


def test_a_program_that_rocm_sdk_run_serves(call: Call, tmp_path: Path, sdk: Site) -> None:
    """The process is part of the verdict: alone it ends with 127."""
    path = program(tmp_path / "app", (sdk.path / CORE / "lib/libamdhip64.so.7",))
    assert not starts(path)
    assert subprocess.run([path], capture_output=True, check=False).returncode == 127
    found = document(call, path, *GPU)
    assert found["verdict"] == (
        "loads in `rocm-sdk run`; alone it does not find libamdhip64.so.7; no GPU code of its own"
    )
    assert found["process"] == {
        "unfound_alone": ["libamdhip64.so.7"],
        "shortnames": None,
        "preload_for": False,
        "run": True,
        "directories": [],
        "opened_before": [],
    }
    assert call("run", str(path)).returncode == 0
    text = call("check", str(path), *GPU).stdout
    assert "sudo, cron and systemd do not pass LD_LIBRARY_PATH on" in " ".join(text.split())
    assert "sudo, cron and systemd do not pass LD_LIBRARY_PATH on" in " ".join(call("run", "--help").stdout.split())


def test_a_program_beside_a_library(call: Call, tmp_path: Path, sdk: Site) -> None:
    """A call of rocm_sdk serves the library alone; what serves both is said."""
    hip = sdk.path / CORE / "lib/libamdhip64.so.7"
    compile_library(tmp_path / "files/plugin.so", None, needed=(hip,))
    program(tmp_path / "files/app", (hip,))
    assert str(document(call, tmp_path / "files", *GPU)["verdict"]).startswith("loads in `rocm-sdk run`; alone")


@pytest.mark.parametrize("runpath", ["", "$ORIGIN/../_rocm_sdk_libraries_gfx1200/lib"])
def test_a_plug_in_that_rocm_sdk_serves(call: Call, tmp_path: Path, sdk: Site, runpath: str) -> None:
    flags = (f"-Wl,-rpath,{runpath}",) if runpath else ()
    path = compile_library(tmp_path / "plugin.so", None, "", (sdk.path / CORE / "lib/libamdhip64.so.7",), flags)
    found = document(call, path, *GPU)
    assert str(found["verdict"]).startswith(
        "loads in a process that has called rocm_sdk (amdhip64); alone it does not find"
    )
    code = f"""
        import ctypes, rocm_sdk
        rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
        ctypes.CDLL({str(path)!r})
    """
    sdk.run(code)
    assert sdk.run(f"import ctypes; ctypes.CDLL({str(path)!r})", check=False).returncode == 1


def test_the_linker_is_not_started_on_a_file(call: Call, tmp_path: Path) -> None:
    """The linker, in ldd too, would run the library that DT_AUDIT names; a FIFO in place of a library would hang."""
    told = tmp_path / "ran"
    source = f"""
        #include <fcntl.h>
        unsigned la_version(unsigned v) {{ open("{told}", O_CREAT | O_WRONLY, 0600); return v; }}
    """
    auditor = compile_library(tmp_path / "auditor.so", None, source)
    path = program(tmp_path / "app", (), f"-Wl,--audit={auditor}")
    found = document(call, path, *GPU)
    assert codes(found) == ["W-LIB-028"]
    assert str(auditor) in str(found["problems"])
    assert not told.exists()
    subprocess.run([path], check=True, env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True)
    assert told.exists(), "the linker runs it"


def test_a_fifo_in_the_place_of_a_library(call: Call, tmp_path: Path) -> None:
    gone = compile_library(tmp_path / "libgone.so.1", "libgone.so.1")
    path = compile_library(tmp_path / "libapp.so", None, needed=(gone,), flags=("-Wl,-rpath,$ORIGIN",))
    gone.unlink()
    os.mkfifo(gone)
    found = document(call, path, *GPU)
    assert found["loads"] is False
    assert "FIFO" in str(found["problems"])


def test_an_optional_library_that_the_linker_refuses(call: Call, tmp_path: Path) -> None:
    """A library may be named to stand in for a file if it is there (DT_AUXILIARY): it may lack, and be no library.

    One that is cut within a segment ends the process.
    """
    place = tmp_path / "libfast.so.1"
    compile_library(place, "libfast.so.1", flags=("-Wl,-z,nodlopen",))
    refused = (place.read_bytes(), b"INPUT(libfast.so)\n", None)
    cut = place.read_bytes()[:5000]
    for kind, is_taken in (("auxiliary", True), ("filter", False)):
        path = compile_library(tmp_path / f"lib{kind}.so", None, flags=(f"-Wl,--{kind}=libfast.so.1,-rpath,$ORIGIN",))
        for content in refused:
            place.unlink() if content is None else place.write_bytes(content)
            assert (in_child(opens, path) == b"loads") is is_taken
            assert document(call, path, *GPU)["loads"] is is_taken
        place.write_bytes(cut)
        assert (in_child(opens, path), loads(row_of(path))) == (b"", False)


def row_of(
    path: Path, libraries: Sequence[Path] = (), loaded: tuple[str, ...] = (), *, is_installed: bool = False
) -> "_native.HostFile":
    names = tuple(map(str, libraries))
    (row,) = _native.check_host_files((str(path),), names, loaded=loaded, installed=is_installed).files
    return row


@pytest.mark.parametrize("is_needed_first", [False, True])
@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_file_is_known_by_the_name_of_a_link(tmp_path: Path, is_loaded: bool, is_needed_first: bool) -> None:
    """The linker opens the link, sees that it has the file, and then takes it for whoever needs this name.

    A file that it has not yet looks for its needs from where the link lies.
    """
    source, here = "int f(void) { return 1; }", ("-Wl,-rpath,$ORIGIN",)
    dependency = compile_library(tmp_path / "sdk/libdependency.so.1", "libdependency.so.1")
    real = compile_library(tmp_path / "sdk/libreal.so.7", "libreal.so.7", source, (dependency,), here)
    stub = compile_library(tmp_path / "stub/libalias.so.1", "libalias.so.1", source)
    below = compile_library(tmp_path / "own/libbelow.so.1", "libbelow.so.1", needed=(stub,))
    needed = (*([real] if is_needed_first else []), stub, below)
    code = "int f(void); int g(void) { return f(); }"
    path = compile_library(tmp_path / "own/libapp.so", None, code, needed, ("-Wl,-rpath,$ORIGIN:$ORIGIN/../sdk",))
    (tmp_path / "own/libalias.so.1").symlink_to(real)
    mapped, opened = json.loads(in_child(opened_behind, [real] if is_loaded else [], path))
    assert mapped == ([str(dependency), str(real)] if is_loaded else [])
    assert (opened == "loads") is (is_loaded or is_needed_first)
    assert loads(row_of(path, loaded=tuple(mapped))) is (opened == "loads")


def test_symbols_of_a_library_that_lacks_are_not_named(tmp_path: Path) -> None:
    gone = compile_library(tmp_path / "libgone.so.1", "libgone.so.1", "int f(void) { return 1; }")
    path = compile_library(tmp_path / "libapp.so", None, "int f(void); int g(void) { return f(); }", (gone,))
    row = row_of(path)
    assert ([each.name for each in row.unfound], row.lack_count) == (["libgone.so.1"], 0)


def test_a_library_whose_name_and_content_are_of_none(tmp_path: Path) -> None:
    plug = compile_library(tmp_path / "plug", "plug")
    path = compile_library(tmp_path / "libapp.so", None, needed=(plug,), flags=("-Wl,-rpath,$ORIGIN",))
    assert loads(row_of(path))
    plug.write_text("a text")
    assert in_child(opens, path).endswith(b"plug: file too short")
    assert [(each.name, each.fault) for each in row_of(path).unfound] == [("plug", "no ELF file")]
    program(plug, ())
    assert b"cannot dynamically load" in in_child(opens, path)
    assert [(each.name, each.fault) for each in row_of(path).unfound] == [
        ("plug", "cannot dynamically load executable")
    ]


def test_a_need_with_a_path_from_where_the_file_lies(tmp_path: Path) -> None:
    name = "$ORIGIN/below/libneeded.so.1"
    needed = compile_library(tmp_path / "below/libneeded.so.1", name)
    path = compile_library(tmp_path / "libapp.so", None, needed=(needed,))
    assert in_child(opens, path) == b"loads"
    assert loads(row_of(path))
    needed.unlink()
    assert [each.name for each in row_of(path).unfound] == [name]


def test_a_library_of_the_system_is_named_after_one_of_the_sdk(tmp_path: Path) -> None:
    """The linker takes the system's; a library of that name that the file brings itself is what counts."""
    of_sdk = compile_library(tmp_path / "sdk/libm.so.6", "libm.so.6")
    path = compile_library(tmp_path / "own/libapp.so", None, needed=(of_sdk,), flags=("-Wl,-rpath,$ORIGIN",))
    assert next((each.place, each.path) for each in row_of(path, [of_sdk]).needs) == ("SDK", str(of_sdk))
    own = compile_library(path.with_name("libm.so.6"), "libm.so.6")
    assert next((each.place, each.path) for each in row_of(path, [of_sdk]).needs) == ("RPATH", str(own))


def chain(directory: Path, length: int) -> Path:
    """Make libraries of which each needs the next; return the first."""
    name = "libnumber{:05}.so".format
    flags = ("-nostdlib", "-Wl,-rpath,$ORIGIN,-z,noseparate-code,--hash-style=sysv,--build-id=none", "-s")
    own, needed = name(90000), name(90001)
    last = compile_library(directory / needed, needed, flags=flags).read_bytes()
    content = compile_library(directory / own, own, needed=(directory / needed,), flags=flags).read_bytes()
    for place in range(1, length):
        made = content.replace(needed.encode(), name(place + 1).encode()).replace(own.encode(), name(place).encode())
        (directory / name(place)).write_bytes(made)
    (directory / name(length)).write_bytes(last.replace(needed.encode(), name(length).encode()))
    return directory / name(1)


def test_a_chain_beyond_the_limit(call: Call, tmp_path: Path) -> None:
    """It is refused, with a number; the linker has no limit."""
    path = chain(tmp_path / "longest", 1024)
    assert in_child(opens, path) == b"loads"
    assert document(call, path, *GPU)["loads"] is True
    longer = chain(tmp_path / "longer", 1025)
    assert in_child(opens, longer) == b"loads"
    said = call("check", str(longer), *GPU)
    assert (said.returncode, "needs more than 1024 libraries" in said.stderr) == (1, True)


def test_a_python_with_an_rpath(tmp_path: Path) -> None:
    """What it opens is searched for there, too, unless it has a RUNPATH; what it starts is not."""
    system_programs.need("patchelf")
    place = tmp_path / "place"
    needed = compile_library(place / "libplace.so.1", "libplace.so.1")
    files = [
        compile_library(tmp_path / f"lib{number}.so", None, needed=(needed,), flags=flags)
        for number, flags in enumerate(((), ("-Wl,-rpath,/nowhere",), ("-Wl,--disable-new-dtags,-rpath,/nowhere",)))
    ]
    python = tmp_path / "environment/bin/python"
    python.parent.mkdir(parents=True)
    shutil.copy("/proc/self/exe", python)
    (tmp_path / "environment/pyvenv.cfg").write_text(f"home = {Path('/proc/self/exe').resolve().parent}\n")
    rpath = f"{Path(sys.base_prefix) / 'lib'}:{place}"
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", rpath, python], check=True)
    code = """
        import json, sys
        from pathlib import Path
        from linked_sets import in_child, opens, started
        from rocm_sdk import _native
        from rocm_sdk.fit.verdicts.variants import loads
        *files, app = map(Path, sys.argv[1:])
        done = [in_child(opens, each).decode() == "loads" for each in files] + [started(app) == "loads"]
        said = [loads(_native.check_host_files((str(each),), ()).files[0]) for each in (*files, app)]
        print(json.dumps([done, said]))
    """
    words: list[str | Path] = [python, "-c", textwrap.dedent(code), *files, program(tmp_path / "app", (needed,))]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
    assert json.loads(answer) == [[True, False, True, False]] * 2


def test_a_symbol_that_each_process_is_asked_for_anew(tmp_path: Path, sdk: Site) -> None:
    """A call of rocm_sdk loads the library that has it, which no entry names; `rocm-sdk run` does not."""
    source = "int hip_answer(void); int f(void) { return hip_answer(); }"
    below = compile_library(tmp_path / "libbelow.so.1", "libbelow.so.1", source)
    path = compile_library(tmp_path / "libapp.so", None, needed=(below,), flags=("-Wl,-rpath,$ORIGIN",))
    libraries = tuple(map(str, (sdk.path / CORE / "lib").iterdir()))
    found = _native.check_host_files(
        (str(path),), libraries, directories=(str(sdk.path / CORE / "lib"),), installed=True
    )
    (row,) = found.files
    assert (loads(row), row.by_shortnames, row.by_files, row.by_run) == (True, True, False, False)


def test_libraries_of_the_sdk_that_need_each_other(tmp_path: Path, sdk: Site) -> None:
    place = sdk.path / CORE / "lib"
    first = compile_library(place / "libamd_comgr.so.3", "libamd_comgr.so.3")
    second = compile_library(place / "libother.so.1", "libother.so.1", needed=(first,))
    compile_library(first, "libamd_comgr.so.3", needed=(second,))
    row = row_of(compile_library(tmp_path / "libapp.so", None, needed=(first,)), (first, second), is_installed=True)
    assert (loads(row), row.by_shortnames) == (True, True)
