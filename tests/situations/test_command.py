"""`rocm-sdk test` as its users call it: what it checks, writes and fixes, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ended import assert_failed, assert_refused
from own_terminal import terminal_output
from programs import completed
from sample_machine import GIB, Machine
from sample_report import break_library, command, run_test
from sample_site import CORE, Site, clean_environment

from rocm_sdk.doctor import subject_run as run_module
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.view import at
from rocm_sdk.problems.subject_table import SUBJECTS

TEST = [sys.executable, "-m", "rocm_sdk", "test"]


def variables_of(sdk: Site, **more: str) -> dict[str, str]:
    return clean_environment() | {"PYTHONPATH": str(sdk.path)} | more


# ---- the report


def test_a_sound_installation(sdk: Site) -> None:
    result = command(sdk, "--skip", "gpus", "--checks")
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    lines = result.stdout.splitlines()
    assert lines[0] == f"SDK 7.10.0 in {sdk.path}    core, libraries"
    assert "libraries         3 loaded   ok" in lines
    assert any(line.startswith("api               3 checks   ok") for line in lines)
    assert lines[-1].startswith("no problems") and lines[-1].endswith("Exit status 0.")
    assert re.search(r"^    ok  libraries: libhipsparse\.so\.1 loaded in \d+\.\d ms$", result.stdout, re.MULTILINE)


@pytest.mark.slow
def test_what_checked_nothing_has_not_passed(site: Site) -> None:
    """Directories of an SDK without a library and without metadata are no SDK."""
    result = command(site, "--only", "packages,libraries,devel")
    assert result.returncode == 1, result.stdout
    assert f"E-PKG-001  no ROCm SDK is installed in {site.path}\n" in result.stdout
    nothing = ["libraries         0 loaded   nothing", "devel             0 checks   nothing"]
    assert result.stdout.splitlines()[2:4] == nothing


def test_a_problem_has_cause_and_fix(sdk: Site) -> None:
    path = break_library(sdk)
    result = command(sdk, "--only", "files")
    assert result.returncode == 1
    assert f"E-FILE-002  {path} has another size than RECORD of rocm-sdk-core says\n" in result.stdout
    assert "  cause    the file has 100 bytes, " in result.stdout
    assert re.search(r"^  fix      .* install .* rocm-sdk-core==7\.10\.0", result.stdout, re.MULTILINE)
    assert result.stdout.endswith("\n1 problem. Exit status 1.\n")


def test_names_of_files_cannot_write_on_the_terminal(sdk: Site) -> None:
    name = os.fsencode(sdk.path / CORE) + b"/lib/lib\x1b[31m\n\xff.so"
    Path(os.fsdecode(name)).write_bytes(b"nothing")
    result = command(sdk, "--only", "libraries", "-v")
    assert r"lib\x1b[31m \xff.so is damaged" in result.stdout
    assert "\x1b" not in result.stdout
    assert run_test(sdk.path, "--only", "libraries").codes == {"E-LIB-006"}


@pytest.mark.parametrize(
    ("variables", "is_painted"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "0"}, False),
    ],
    ids=["a pipe", "forced", "forced and not", "not forced"],
)
def test_colour(sdk: Site, variables: dict[str, str], is_painted: bool) -> None:
    break_library(sdk)
    result = completed([*TEST, "--only", "files"], env=variables_of(sdk) | variables)
    assert ("\x1b[1;31mE-FILE-002\x1b[0m  " in result.stdout) is is_painted
    assert ("\x1b" in result.stdout) is is_painted


def test_quiet_means_problems_only(call: Callable[..., subprocess.CompletedProcess[str]], sdk: Site) -> None:
    loud, quiet = call("test", "--only", "packages"), call("test", "--only", "packages", "-q")
    assert (loud.returncode, quiet.returncode, quiet.stdout) == (0, 0, "")
    (sdk.path / "rocm_sdk_core-7.10.0.dist-info/METADATA").unlink()
    quiet = call("test", "--only", "packages", "-q")
    assert re.match(r"[EW]-[A-Z]+-\d{3}  ", quiet.stdout)
    assert "checks" not in quiet.stdout and "Exit status" not in quiet.stdout


# ---- what is chosen


@pytest.mark.slow
def test_only_and_skip(sdk: Site) -> None:
    break_library(sdk)

    def subjects(*words: str) -> tuple[list[str], set[str]]:
        said = run_test(sdk.path, *words)
        return [each["subject"] for each in said.document["subjects"]], said.codes

    assert subjects("--only", "files,packages") == (["packages", "files"], {"E-FILE-002"})
    names, codes = subjects("--only", "E-FILE-001")
    assert (codes, "tools" in names) == (set(), False)
    assert subjects("--only", "files", "--skip", "E-FILE-002") == (["files"], set())
    names, _ = subjects("--skip", "api,bindings,tools,devel,gpus,opencl,environment")
    assert names == ["packages", "files", "libraries"]
    result = command(sdk, "--only", "filez")
    assert_failed(result, 2, "did you mean files? neither a subject nor a code: filez", "name some of packages, files")
    assert_failed(command(sdk, "--only", ","), 2, "--only names no subject", "name some of packages, files, ")
    with (sdk.path / "rocm_sdk_core-7.10.0.dist-info/RECORD").open("a") as record:
        record.writelines(f"{CORE}/include/{number}.h,,\n" for number in range(9))
    assert subjects("--only", "E-FILE-008")[1] == {"E-FILE-008"}, "of many, by grouping"


def test_a_subject_that_fails_itself(sdk: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of SUBJECTS whose module is not there: the others are tested, and the failure is not filtered out."""
    monkeypatch.setattr(run_module, "SUBJECTS", {"absent": SUBJECTS["files"], "files": SUBJECTS["files"]})
    recorders: list[Recorder] = []
    subjects = list(run_module.run(at(str(sdk.path)), Options(only=frozenset({"E-FILE-001"})), recorders))
    assert [each.subject for each in subjects] == ["absent", "files"]
    assert [found.code for found in subjects[0].problems] == ["E-TEST-001"]
    assert "ModuleNotFoundError" in subjects[0].problems[0].cause
    assert subjects[1].count > 3


def test_another_directory(sdk: Site, tmp_path: Path) -> None:
    """Nothing of it is loaded into the process, and what concerns this process is left out."""
    path, other = break_library(sdk), tmp_path / "nothing-here"
    other.mkdir()
    said = run_test(other, "--target", str(sdk.path))
    assert said.document["site"] == str(sdk.path)
    assert {each["subject"] for each in said.document["subjects"]} == {"packages", "files", "libraries", "devel"}
    assert said.only("E-LIB-006")["path"] == str(path)
    assert run_test(tmp_path, "--target", str(other)).codes == {"E-PKG-001"}
    assert_refused(command(sdk, "--target", str(tmp_path / "absent")), 2, "absent is not a directory")


# ---- what is written


def test_json(sdk: Site) -> None:
    path = break_library(sdk)
    document = run_test(sdk.path, "--only", "files").document
    keys = {"schema", "version", "site", "chosen_by", "distributions", "interrupted", "subjects", "problems", "node"}
    assert (set(document), document["schema"]) == (keys, 3)
    assert document["distributions"] == {"rocm-sdk-core": "7.10.0", "rocm-sdk-libraries": "7.10.0"}
    (subject,) = document["subjects"]
    assert set(subject) == {"subject", "count", "unit", "failed", "seconds", "not_tried"}
    (found,) = document["problems"]
    assert set(found) == {"code", "severity", "title", "cause", "fix", "path", "facts", "breaks", "tried", "is_command"}
    assert (found["code"], found["severity"], found["path"]) == ("E-FILE-002", "error", str(path))


def test_junit(sdk: Site, tmp_path: Path) -> None:
    """What checked nothing has not passed."""
    break_library(sdk)
    target = tmp_path / "results.xml"
    assert command(sdk, "--only", "files,libraries,opencl", "--junit", str(target)).returncode == 1
    root = ElementTree.parse(target).getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"files", "libraries", "opencl", "problems"}
    assert suites["problems"].get("failures") == "1"
    assert all(suite.get("tests") == str(len(suite)) for suite in root)
    assert {name for name in suites if suites[name].find("testcase/skipped") is not None} == {"opencl"}
    (failure,) = suites["problems"].iter("failure")
    assert (failure.get("type"), "pip install" in str(failure.text)) == ("E-LIB-006", True)


def test_a_bundle_has_no_names_of_users(sdk: Site, tmp_path: Path) -> None:
    home, user, secret = sdk.path.parent, "j\u00f6rg-secret", "hidden-word"
    variables = {"HOME": str(home), "USER": user, "ROCM_PATH": f"{home}/rocm", "LD_LIBRARY_PATH": f"/home/{user}"}
    variables |= dict.fromkeys(("TOKEN", "ROCM_TOKEN", "HIP_PASSWORD", "HSA_X"), secret)
    result = command(sdk, "--only", "files", "--report", str(tmp_path / "report.zip"), **variables)
    assert result.returncode == 0, result.stdout
    with zipfile.ZipFile(tmp_path / "report.zip") as bundle:
        texts = {name: bundle.read(name).decode() for name in bundle.namelist()}
    assert set(texts) == {"report.txt", "report.json", "system.json", "os-release", "maps"}
    for text in texts.values():
        assert not [word for word in (str(home), user, "rg-secret", secret) if word in text]
        assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
    assert json.loads(texts["system.json"])["environment"]["ROCM_PATH"] == "<HOME>/rocm"
    assert json.loads(texts["report.json"])["site"] == "<HOME>/site-packages"
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


@pytest.mark.parametrize("option", ["--junit", "--report"])
def test_a_file_that_cannot_be_written(sdk: Site, tmp_path: Path, option: str) -> None:
    target = tmp_path / "absent/file"
    result = command(sdk, "--only", "files", option, str(target))
    assert_failed(result, 1, f"rocm-sdk: cannot write {target}: No such file or directory\n  fix: mkdir -p -- ")
    assert "no problems" in result.stdout


def test_nothing_is_changed_unless_asked_for(sdk: Site) -> None:
    init = sdk.path / CORE / "__init__.py"
    init.unlink()
    assert "E-PKG-003" in run_test(sdk.path, "--only", "packages").codes
    assert not init.exists()
    said = run_test(sdk.path, "--only", "packages", "--fix")
    assert f"rocm-sdk: created {init}" in said.stderr
    again = run_test(sdk.path, "--only", "packages", "--fix")
    assert (again.codes, "nothing that can be fixed" in again.stderr) == (set(), True)


# ---- how it ends


def children_of(process: subprocess.Popen[str], count: int) -> list[str]:
    """Return the children of a process, once it has as many."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(started := path.read_text().split()) < count:
        time.sleep(0.01)
    return started


def interrupted(process: subprocess.Popen[str], started: list[str]) -> tuple[str, str]:
    """Interrupt a test, and return what it has written; no process is left."""
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert time.monotonic() - begin < 20
    assert (process.returncode, "Traceback" in errors) == (130, False), errors
    assert not any(Path(f"/proc/{child}").exists() for child in started)
    return output, errors


def started_test(sdk: Site, *words: str, is_leader: bool = False) -> subprocess.Popen[str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-u", *TEST[1:], *words]
    return subprocess.Popen(command, env=variables_of(sdk), text=True, start_new_session=is_leader, **pipes)


def test_ctrl_c(sdk: Site) -> None:
    """The results so far are printed at once."""
    sdk.library("libstuck.so.1", "#include <unistd.h>\n__attribute__((constructor)) static void c(void) { pause(); }")
    (sdk.path / CORE / "lib/librocm_smi64.so.1").write_bytes(b"nothing")
    junit, bundle = sdk.path.parent / "junit.xml", sdk.path.parent / "bundle.zip"
    words = ("--only", "files,libraries,gpus", "--junit", str(junit), "--report", str(bundle))
    process = started_test(sdk, *words, is_leader=True)
    assert process.stdout is not None
    while "files" not in process.stdout.readline():
        pass
    started = children_of(process, 1)
    time.sleep(0.2)
    output, errors = interrupted(process, started)
    assert "interrupted; results so far" in errors
    assert "E-LIB-006  librocm_smi64.so.1 is damaged" in output
    assert output.endswith("Interrupted: not everything was tested. Exit status 130.\n")
    assert len(list(ElementTree.parse(junit).getroot().iter("error"))) == 1
    with zipfile.ZipFile(bundle) as files:
        assert json.loads(files.read("report.json"))["interrupted"]


def test_ctrl_c_ends_programs_too(sdk: Site) -> None:
    """Children of the subject `api`, which are in sessions of their own."""
    hang = "#include <unistd.h>\n__attribute__((constructor)) static void c(void) { for (;;) pause(); }"
    for name in ("librocm_smi64.so.1", "libroctx64.so.4", "libhiprtc.so.7"):
        sdk.library(name, hang)
    process = started_test(sdk, "--only", "api")
    interrupted(process, children_of(process, len(os.sched_getaffinity(0))))


def test_explain_says_what_this_installation_has(sdk: Site) -> None:
    words = [*TEST[:-1], "explain", "E-LIB-006"]
    sound = completed(words, env=variables_of(sdk)).stdout
    assert "This installation does not have it now (tested: libraries)." in sound
    break_library(sdk)
    damaged = completed(words, env=variables_of(sdk)).stdout
    assert "\nHere:\nE-LIB-006  libamdhip64.so.7 is damaged\n" in damaged and "{" not in damaged


# ---- the faults that newcomers saw on a terminal of 80 columns: broken words, and one reason eight times


COLUMNS = 80
Show = Callable[..., list[str]]


@pytest.fixture
def show(script: Path, sdk: Site, tmp_path: Path) -> Show:
    """Return a function that shows what `rocm-sdk` prints where a container lacks the nodes of eight MI300X."""
    machine = Machine(tmp_path / "machine")
    machine.write("usr/share/libdrm/amdgpu.ids", "1.0.0\n74A1,\t00,\tAMD Instinct MI300X\n")
    for node in range(1, 9):
        machine.gpu(node, "gfx942", memory=192 * GIB, device_id=0x74A1)
        device = f"sys/bus/pci/devices/0000:{node:02x}:00.0"
        machine.write(f"{device}/revision", "0x00\n")
        machine.write(f"{device}/mem_info_vram_used", f"{node}000000000\n")
        (machine.root / f"dev/dri/renderD{128 + node}").unlink()

    def run(*words: str, status: int = 0, **environment: str) -> list[str]:
        variables = {name: value for name, value in clean_environment().items() if name != "CI"}
        variables |= {"PYTHONPATH": str(sdk.path), "ROCM_SDK_ROOTFS": str(machine.root), "COLUMNS": str(COLUMNS)}
        shown = terminal_output([str(script), *words], variables | environment, status)
        return re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r", "").splitlines()

    return run


@pytest.mark.parametrize("command", ["", "gpus", "gpus --health", "info", "list", "tree hipsparse"])
def test_lines_are_broken_between_words(show: Show, command: str) -> None:
    """A line that is too long ends with a path, with its label in front of it ("place    /a/path"), or is one word."""
    lines = show(*command.split(), status=1 if command == "gpus" else 0)
    whole = [re.sub(r"^[a-z]+ {2,}(?=\S)", "", line) for line in lines if len(line) > COLUMNS]
    assert [line for line in whole if len(line.split()) > 1 and not line.split()[-1].startswith("/")] == []
    if "gpus" in command or command == "info":
        row = r"[1-8]  .*0000:0[1-8]:00\.0  206\.2 GB  [1-8]\.0 GB  "
        assert len([line for line in lines if re.match(row, line)]) == 8
    if command in {"gpus", "info"}:
        text = " ".join(" ".join(lines).split())
        assert text.count("missing, although the kernel sees the GPU") == 1, "a reason is said once"
    if command == "tree hipsparse":
        names = [line.partition(".so")[0] for line in lines if ".so" in line and "anchor" not in line]
        assert names == ["libhipsparse", "└─ librocsparse", "   └─ libamdhip64"]
        ascii_only = show("tree", "hipsparse", PYTHONIOENCODING="ascii")
        assert [line for line in ascii_only if line.startswith("   `- libamdhip64")] != []
