"""`rocm-sdk tree` in each of its forms, which independent readers check."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from own_terminal import terminal_output
from sample_site import LIBRARIES, Site, compile_library, run_interpreter

Result = subprocess.CompletedProcess[str]
Call = Callable[..., Result]

FILES = ["libhipsparse.so.1", "librocsparse.so.1", "libamdhip64.so.7"]


def test_text(call: Call, sdk: Site) -> None:
    result = call("tree", "hipsparse")
    size = (sdk.path / LIBRARIES / "lib/libhipsparse.so.1").stat().st_size
    assert 1000 < size < 1_000_000
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["library", "size", "directory"]
    assert lines[1].split() == ["libhipsparse.so.1", f"{size / 1e3:.1f}", "kB", f"{LIBRARIES}/lib"]
    assert lines[2].startswith("│    anchor: the linker would not find librocsparse.so.1")
    assert [line.split()[1] for line in lines[3:5]] == FILES[1:]
    assert lines[5].startswith("3 files")


def test_all_that_is_installed(call: Call) -> None:
    steps = json.loads(call("tree", "--json").stdout)["steps"]
    assert {step["shortname"] for step in steps} == {"amdhip64", "hipsparse", "rocsparse"}


def test_json(call: Call, sdk: Site) -> None:
    tree = json.loads(call("tree", "hipsparse", "--json").stdout)
    (step,) = tree.pop("steps")
    sizes = [(sdk.path / step["path"]).stat().st_size, *(file["bytes"] for file in step["brings"])]
    assert tree == {"schema": 1, "missing": [], "files": 3, "bytes": sum(sizes), "seconds": None}
    assert [Path(file["path"]).name for file in [step, *step["brings"]]] == FILES
    assert (step["method"], step["requested"], step["seconds"]) == ("anchor", True, None)


def test_load_tells_times(call: Call) -> None:
    tree = json.loads(call("tree", "hipsparse", "--load", "--json").stdout)
    assert 0 < tree["steps"][0]["seconds"] < 10
    assert tree["seconds"] == tree["steps"][0]["seconds"]
    assert " ms " in call("tree", "hipsparse", "--load").stdout


def test_load_tells_the_times_of_what_is_opened_at_run_time(call: Call, sdk: Site) -> None:
    sdk.library("libamd_comgr.so.3")
    tree = json.loads(call("tree", "hipsparse", "amdhip64", "--load", "--json").stdout)
    times = {step["soname"]: step["seconds"] for step in tree["steps"]}
    assert list(times) == ["libhipsparse.so.1", "libamd_comgr.so.3", "libamdhip64.so.7"]
    assert times["libamd_comgr.so.3"] > 0
    assert times["libamdhip64.so.7"] is None or times["libamdhip64.so.7"] < times["libhipsparse.so.1"]
    assert tree["seconds"] == pytest.approx(sum(time or 0 for time in times.values()))


def test_a_dependency_that_does_not_exist(call: Call, sdk: Site) -> None:
    absent = sdk.library("libnowhere.so.1", directory="elsewhere")
    sdk.library("libhiprand.so.1", needed=(absent,), package=LIBRARIES)
    absent.unlink()
    result = call("tree", "hiprand", "--json")
    assert "libnowhere.so.1" in str(json.loads(result.stdout)["missing"])
    assert "libnowhere.so.1" in result.stderr


@pytest.mark.parametrize(
    ("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)], ids=str
)
def test_colours_on_terminals_only(script: Path, sdk: Site, variables: dict[str, str], coloured: bool) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(sdk.path), "TERM": "xterm", **variables}
    output = terminal_output([str(script), "tree", "hipsparse"], environment)
    assert ("\033[" in output) is coloured


def test_an_output_without_line_drawing(call: Call) -> None:
    result = call("tree", "hipsparse", PYTHONIOENCODING="latin-1")
    assert result.returncode == 0
    assert "`- libamdhip64.so.7" in result.stdout


OF_SYSTEM = ("liblzma.so.5", "libz.so.1", "libbz2.so.1.0")
_MAPPED = """
import sys, rocm_sdk
before = {line.split()[-1] for line in open("/proc/self/maps")}
rocm_sdk.preload_libraries(sys.argv[1])
print(*{line.split()[-1] for line in open("/proc/self/maps")} - before, sep="\\n")
"""


@pytest.mark.parametrize("rpath", ["none", "rpath"])
def test_the_files_that_a_fresh_interpreter_loads(call: Call, sdk: Site, rpath: str) -> None:
    """The SDK has libraries of the system, too: the command's own imports bring some of these in."""
    sdk.rpath = rpath
    copies = [sdk.library(name, directory="lib/rocm_sysdeps/lib") for name in OF_SYSTEM]
    sdk.library("libhiprand.so.1", needed=tuple(copies), package=LIBRARIES)
    for shortname in ("hiprand", "hipsparse", "amdhip64"):
        tree = json.loads(call("tree", shortname, "--json").stdout)
        shown = {each["path"] for step in tree["steps"] for each in (step, *step["brings"])}
        mapped = run_interpreter("-c", _MAPPED, shortname, PYTHONPATH=str(sdk.path)).stdout.splitlines()
        assert shown == {path for path in mapped if path.startswith(str(sdk.path))}


def test_the_bindings_of_a_fresh_interpreter(call: Call, sdk: Site) -> None:
    """A symbol binds to the SDK's copy, which the command's own imports of the system's would hide."""
    copy = sdk.library("liblzma.so.5", "int own_lzma(void) { return 1; }", directory="lib/rocm_sysdeps/lib")
    source = "int own_lzma(void); int hiprand(void) { return own_lzma(); }"
    sdk.library("libhiprand.so.1", source, needed=(copy,), package=LIBRARIES)
    told = json.loads(call("tree", "hiprand", "--bindings", "--json").stdout)
    assert str(copy) in json.dumps(told)


def test_a_path_that_is_not_there(call: Call) -> None:
    """A missing path is no misspelt short name."""
    result = call("tree", "build/typo")
    assert (result.returncode, result.stdout) == (2, "")
    assert "rocm-sdk: build/typo: there is no such file, and no such distribution is installed" in result.stderr


WHO = 'const char *who(void) { return "%s"; } const char *ask_%s(void) { return who(); }'


@pytest.fixture
def twins(sdk: Site) -> Site:
    """Return an SDK with two libraries that both have, and call, the same function, in no row of collisions."""
    sdk.library("libroctx64.so.4", WHO % ("roctx64", "roctx64"))
    sdk.library("libhiprtc.so.7", WHO % ("hiprtc", "hiprtc"))
    return sdk


@pytest.mark.usefixtures("twins")
def test_bindings_as_text(call: Call) -> None:
    lines = call("tree", "roctx64", "hiprtc", "--bindings").stdout.splitlines()
    assert [line.split()[:4] for line in lines[:2]] == [
        ["library", "binds", "to", "symbols"],
        ["libhiprtc.so.7", "libroctx64.so.4", "1", "1"],
    ]
    assert lines[1].endswith("FAULT: 1 function of another file")
    assert lines[2] == "    who: libhiprtc.so.7 has it"
    assert lines[3].endswith(" of 2 files: 1 bind elsewhere, 1 fault")


@pytest.mark.usefixtures("twins")
def test_bindings_without_a_fault(call: Call) -> None:
    (line,) = call("tree", "roctx64", "--bindings").stdout.splitlines()
    assert line.endswith("of 1 file: each binds to the file that it was built for")


def test_bindings_as_json(call: Call, twins: Site) -> None:
    told = json.loads(call("tree", "roctx64", "hiprtc", "--bindings", "--json").stdout)
    (reference,) = told["bound_elsewhere"]
    library, other = (str(twins.path / "_rocm_sdk_core/lib" / name) for name in ("libhiprtc.so.7", "libroctx64.so.4"))
    assert reference == {
        "library": library,
        "symbol": "who",
        "version": None,
        "bound_to": other,
        "instead": library,
        "verdict": "other-function",
    }
    assert (told["schema"], told["elsewhere"], told["faults"], told["missing"]) == (1, 1, 1, [])
    assert told["pairs"][0]["counts"] == {"other-function": 1}
    assert sum(pair["reference_count"] for pair in told["pairs"]) <= told["references"]


@pytest.mark.usefixtures("twins")
def test_bindings_of_a_file(call: Call, tmp_path: Path) -> None:
    extension = compile_library(tmp_path / "extension.so", "extension.so", WHO % ("extension", "extension"))
    lines = call("tree", "roctx64", "--bindings", "--for", str(extension)).stdout.splitlines()
    assert lines[1].split()[:2] == ["extension.so", "libroctx64.so.4"]


def test_bindings_of_a_process(call: Call) -> None:
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        lines = call("tree", "--bindings", "--pid", str(process.pid)).stdout.splitlines()
        process.kill()
    assert lines[-1].endswith((" 0 faults", "was built for"))
    refused = call("tree", "--bindings", "--pid", "4194304")
    assert refused.returncode == 1
    assert "process 4194304 cannot be looked at: No such file or directory [E-PROC-004]" in refused.stderr
    assert "Give the number of a process that runs" in refused.stderr


@pytest.mark.parametrize("number", ["0", "-1", str(2**31), "99999999999", "1" * 5000, "one"])
@pytest.mark.parametrize("words", [["tree", "--bindings"], ["test"]])
def test_what_is_no_number_of_a_process(call: Call, words: list[str], number: str) -> None:
    """0 was the command itself, which nobody asks for."""
    refused = call(*words, f"--pid={number}")
    assert refused.returncode == 2
    assert f"--pid: not the number of a process: {number[:40]}\n" in refused.stderr
    assert len(refused.stderr) < 5000


@pytest.mark.parametrize("words", [["--for", "x.so"], ["--pid", "1"], ["--bindings", "--pid", "1", "roctx64"]])
def test_options_that_do_not_go_together(call: Call, words: list[str]) -> None:
    result = call("tree", *words)
    assert result.returncode == 2
    assert "--pid" in result.stderr
