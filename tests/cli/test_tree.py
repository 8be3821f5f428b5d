"""`rocm-sdk tree` in each of its forms, which independent readers check."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pydot
import pytest
from own_terminal import terminal_output
from sample_site import LIBRARIES, Site, compile_library

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
    assert tree == {"schema": 1, "missing": [], "files": 3, "bytes": sum(sizes), "seconds": None, "timing": None}
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


@pytest.mark.filterwarnings("ignore::DeprecationWarning:pydot")  # of the parser that pydot uses
def test_dot(call: Call, sdk: Site) -> None:
    (graph,) = pydot.graph_from_dot_data(call("tree", "hipsparse", "--dot").stdout)
    assert sorted(
        Path(node.get_name().strip('"')).name for node in graph.get_nodes() if "/" in node.get_name()
    ) == sorted(FILES)
    (path,) = {edge.get_source() for edge in graph.get_edges()}
    assert path.strip('"') == f"{sdk.path}/{LIBRARIES}/lib/libhipsparse.so.1"
    needed, brought = sorted(graph.get_edges(), key=lambda edge: edge.get_style() or "")
    assert needed.get_destination().strip('"').endswith("librocsparse.so.1")
    assert brought.get_destination().strip('"').endswith("libamdhip64.so.7")


def test_svg(call: Call) -> None:
    text = call("tree", "hipsparse", "--svg").stdout
    picture = ET.fromstring(text)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    shown = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert [name for name in shown if name in FILES] == FILES
    assert "href" not in text, "it refers to nothing"


SVG = "{http://www.w3.org/2000/svg}"


def bars_of(picture: ET.Element) -> dict[str, float]:
    """Return the files that have a bar, each with the length of its bar."""
    found = {}
    for row in picture.iter(f"{SVG}g"):
        bars = [each for each in row.iter(f"{SVG}rect") if each.get("class") != "row"]
        if bars:
            found[str(row.findtext(f"{SVG}text"))] = float(str(bars[0].get("width")))
    return found


def test_svg_draws_each_file_once(call: Call) -> None:
    """A file that came with an earlier library has one row, however it is asked for."""
    picture = ET.fromstring(call("tree", "hipsparse", "amdhip64", "--svg").stdout)
    assert [row.findtext(f"{SVG}text") for row in picture.iter(f"{SVG}g")] == FILES
    assert list(bars_of(picture)) == FILES


def test_svg_says_what_bars_and_colours_mean(call: Call, sdk: Site) -> None:
    """A bar is as long as its number says: the longest has the width, and a small one is a line."""
    sdk.library("libamdhip64.so.7", f"char large[{1 << 20}] = {{1}};")
    picture = ET.fromstring(call("tree", "hipsparse", "--svg").stdout)
    words = [element.text for element in picture.iter(f"{SVG}text")]
    assert "size of the file" in words
    assert {"opened through an anchor", "comes with the library above it", "0", "500.0 kB", "1.0 MB"} <= {*words}
    assert "opened, the linker finds what it needs" not in words, "no row has this colour"
    lengths = bars_of(picture)
    assert lengths["libamdhip64.so.7"] > 400, "the width is used"
    sizes = {path.name: path.stat().st_size for path in sdk.path.glob("_rocm_sdk_*/lib/*")}
    scale = lengths["libamdhip64.so.7"] / sizes["libamdhip64.so.7"]
    assert lengths == {name: pytest.approx(max(1, scale * sizes[name]), abs=0.1) for name in lengths}


def test_times_beside_sizes_where_libraries_are_loaded(call: Call) -> None:
    picture = ET.fromstring(call("tree", "hipsparse", "--load", "--svg").stdout)
    words = [str(element.text) for element in picture.iter(f"{SVG}text")]
    assert {"time in dlopen", "size of the file"} <= {*words}
    assert any(word.endswith(" ms") for word in words)
    bars = [len([*row.iter(f"{SVG}rect")]) - 1 for row in picture.iter(f"{SVG}g")]
    assert bars == [2, *(1 for _ in FILES[1:])], "what comes with a library has no time of its own"


def test_a_page_that_tells_more_under_the_pointer(call: Call) -> None:
    page = call("tree", "hipsparse", "--html").stdout
    assert page.startswith("<!doctype html>")
    assert "g:hover > .note { display: inline }" in page
    broad, narrow = [f"<svg{text.partition('</div>')[0]}" for text in page.split("<svg xmlns")][1:]
    picture = ET.fromstring(broad.replace("<svg", "<svg xmlns", 1))
    assert 'class="narrow"' in narrow
    notes = [str(each.text) for each in picture.iter(f"{SVG}text") if "note" in str(each.get("class"))]
    assert notes[0].startswith("_rocm_sdk_libraries/lib/libhipsparse.so.1, ")
    assert "anchor: the linker would not find librocsparse.so.1" in notes[0]
    assert notes[1].endswith("comes with libhipsparse.so.1")
    for foreign in ("<script", "http://", "https://", "href", "src="):
        assert foreign not in page.replace("http://www.w3.org/2000/svg", "")


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


@pytest.mark.usefixtures("twins")
@pytest.mark.parametrize("form", ["--svg", "--html"])
def test_bindings_as_a_picture(call: Call, form: str) -> None:
    picture = call("tree", "roctx64", "hiprtc", "--bindings", form).stdout
    layouts = picture.count("<svg xmlns")
    assert layouts == (2 if form == "--html" else 1)
    assert picture.count('class="arrow fault"') == 2 * layouts  # the arrow, and its sample in the legend
    assert "calls or variables of another file" in picture
    assert "arrow" not in call("tree", "roctx64", "--bindings", form).stdout.rpartition("</style>")[2]


def test_a_picture_of_what_a_file_needs(call: Call, sdk: Site, tmp_path: Path) -> None:
    hip = sdk.path / "_rocm_sdk_core/lib/libamdhip64.so.7"
    extension = compile_library(tmp_path / "extension.so", "extension.so", needed=(hip,))
    assert FILES[2] in call("tree", "--bindings", "--for", str(extension), "--svg").stdout


@pytest.mark.parametrize("words", [["--for", "x.so"], ["--pid", "1"], ["--bindings", "--pid", "1", "roctx64"]])
def test_options_that_do_not_go_together(call: Call, words: list[str]) -> None:
    result = call("tree", *words)
    assert result.returncode == 2
    assert "--pid" in result.stderr
