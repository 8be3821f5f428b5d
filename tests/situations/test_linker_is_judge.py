"""The dynamic linker as the judge of "loads": reports of verdicts that differed from the linker's."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import command_fixtures
import pytest
from checked_files import Call, codes, compile_library, document
from compiled_files import compile_file
from linked_sets import starts
from linked_verdicts import compare_set
from sample_site import CORE, Site

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
