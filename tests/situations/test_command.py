"""`rocm-sdk test` as its users call it: what it checks, writes and fixes, and how it ends."""

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ended import assert_failed, assert_refused
from programs import completed
from sample_report import break_library, command, run_test
from sample_site import CORE, Site, clean_environment

from rocm_sdk.doctor import run as run_module
from rocm_sdk.doctor.recorder import Options, Recorder
from rocm_sdk.installed.view import at
from rocm_sdk.problems.subject_table import SUBJECTS

# ---- the report


def test_a_sound_installation(sdk: Site) -> None:
    result = command(sdk, "--skip", "gpus")
    assert result.returncode == 0, result.stdout
    lines = result.stdout.splitlines()
    assert lines[0] == f"SDK 7.10.0 in {sdk.path}    core, libraries"
    assert "libraries         3 loaded   ok" in lines
    assert any(line.startswith("api               3 checks   ok") for line in lines)
    assert lines[-1].startswith("no problems")
    assert lines[-1].endswith("Exit status 0.")
    assert result.stderr == ""


def test_what_checked_nothing_has_not_passed(site: Site) -> None:
    """Directories of an SDK without a library and without metadata are no SDK."""
    result = command(site, "--only", "packages,libraries,devel")
    assert result.returncode == 1, result.stdout
    assert f"E-PKG-001  no ROCm SDK is installed in {site.path}\n" in result.stdout
    assert result.stdout.splitlines()[2:4] == [
        "libraries         0 loaded   nothing",
        "devel             0 checks   nothing",
    ]


def test_a_problem_has_cause_and_fix(sdk: Site) -> None:
    path = break_library(sdk)
    result = command(sdk, "--only", "files")
    assert result.returncode == 1
    assert f"E-FILE-002  {path} has another size than RECORD of rocm-sdk-core says\n" in result.stdout
    assert "  cause    the file has 100 bytes, " in result.stdout
    assert re.search(r"^  fix      .* install .* rocm-sdk-core==7\.10\.0", result.stdout, re.MULTILINE)
    assert result.stdout.endswith("\n1 problem. Exit status 1.\n")


def test_checks_that_passed(sdk: Site) -> None:
    result = command(sdk, "--only", "libraries", "--checks")
    assert re.search(r"^    ok  libraries: libhipsparse\.so\.1 loaded in \d+\.\d ms$", result.stdout, re.MULTILINE)


def test_names_of_files_cannot_write_on_the_terminal(sdk: Site) -> None:
    name = os.fsencode(sdk.path / CORE) + b"/lib/lib\x1b[31m\n\xff.so"
    Path(os.fsdecode(name)).write_bytes(b"nothing")
    result = command(sdk, "--only", "libraries", "-v")
    assert r"lib\x1b[31m \xff.so is damaged" in result.stdout
    assert "\x1b" not in result.stdout
    assert run_test(sdk.path, "--only", "libraries").codes == {"E-LIB-006"}


# ---- what is chosen


def test_only_and_skip(sdk: Site) -> None:
    break_library(sdk)

    def subjects(*words: str) -> tuple[list[str], set[str]]:
        said = run_test(sdk.path, *words)
        return [each["subject"] for each in said.document["subjects"]], said.codes

    assert subjects("--only", "files,packages") == (["packages", "files"], {"E-FILE-002"})
    assert subjects("--only", "E-FILE-001")[1] == set()
    assert "tools" not in subjects("--only", "E-FILE-001")[0]
    assert subjects("--only", "files", "--skip", "E-FILE-002") == (["files"], set())
    names, _ = subjects("--skip", "api,bindings,tools,devel,gpus,opencl,environment")
    assert names == ["packages", "files", "libraries"]
    result = command(sdk, "--only", "filez")
    assert_failed(result, 2, "did you mean files? neither a subject nor a code: filez", "name some of packages, files")


def test_many_missing_files_by_their_own_code(sdk: Site) -> None:
    """Grouping makes this problem of many, which have another code."""
    with (sdk.path / "rocm_sdk_core-7.10.0.dist-info/RECORD").open("a") as record:
        record.writelines(f"{CORE}/include/{number}.h,,\n" for number in range(9))
    said = run_test(sdk.path, "--only", "E-FILE-008")
    assert said.codes == {"E-FILE-008"}


def test_a_subject_that_fails_itself(sdk: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of SUBJECTS whose module is not there: the others are tested, and the failure is not filtered out."""
    rows = {"absent": SUBJECTS["files"], "files": SUBJECTS["files"]}
    monkeypatch.setattr(run_module, "SUBJECTS", rows)
    recorders: list[Recorder] = []
    subjects = list(run_module.run(at(str(sdk.path)), Options(only=frozenset({"E-FILE-001"})), recorders))
    assert [each.subject for each in subjects] == ["absent", "files"]
    assert [found.code for found in subjects[0].problems] == ["E-TEST-001"]
    assert "ModuleNotFoundError" in subjects[0].problems[0].cause
    assert subjects[1].count > 3


def test_another_directory(sdk: Site, tmp_path: Path) -> None:
    """Nothing of it is loaded into the process, and what concerns this process is left out."""
    path = break_library(sdk)
    other = tmp_path / "nothing-here"
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
    assert set(document) == keys
    assert document["schema"] == 2
    assert document["distributions"] == {"rocm-sdk-core": "7.10.0", "rocm-sdk-libraries": "7.10.0"}
    (subject,) = document["subjects"]
    assert set(subject) == {"subject", "count", "unit", "failed", "seconds", "not_tried"}
    (found,) = document["problems"]
    assert set(found) == {"code", "severity", "title", "cause", "fix", "path", "facts", "breaks", "tried"}
    assert (found["code"], found["severity"], found["path"]) == ("E-FILE-002", "error", str(path))


def test_junit(sdk: Site, tmp_path: Path) -> None:
    break_library(sdk)
    target = tmp_path / "results.xml"
    assert command(sdk, "--only", "files,libraries", "--junit", str(target)).returncode == 1
    root = ElementTree.parse(target).getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"files", "libraries", "problems"}
    assert suites["problems"].get("failures") == "1"
    assert all(suite.get("tests") == str(len(suite)) for suite in root)
    (failure,) = suites["problems"].iter("failure")
    assert failure.get("type") == "E-LIB-006"
    assert "pip install" in str(failure.text)


def test_what_checked_nothing_has_not_passed_in_junit(sdk: Site, tmp_path: Path) -> None:
    target = tmp_path / "results.xml"
    assert command(sdk, "--only", "files,opencl", "--junit", str(target)).returncode == 0
    cases = {suite.get("name"): suite.find("testcase/skipped") for suite in ElementTree.parse(target).getroot()}
    assert cases["files"] is None
    assert cases["opencl"] is not None


def test_a_bundle_has_no_names_of_users(sdk: Site, tmp_path: Path) -> None:
    home = sdk.path.parent
    target = tmp_path / "report.zip"
    variables = {"HOME": str(home), "USER": "j\u00f6rg-secret", "ROCM_PATH": f"{home}/rocm", "TOKEN": "hidden-word"}
    variables |= {"ROCM_TOKEN": "hidden-word", "HIP_PASSWORD": "hidden-word", "HSA_X": "hidden-word"}
    result = command(
        sdk, "--only", "files", "--report", str(target), **variables, LD_LIBRARY_PATH="/home/j\u00f6rg-secret"
    )
    assert result.returncode == 0, result.stdout
    with zipfile.ZipFile(target) as bundle:
        texts = {name: bundle.read(name).decode() for name in bundle.namelist()}
    assert set(texts) == {"report.txt", "report.json", "system.json", "os-release", "maps"}
    for text in texts.values():
        for word in (str(home), "j\u00f6rg-secret", "rg-secret", "hidden-word"):
            assert word not in text
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


# ---- what is fixed


def test_nothing_is_changed_unless_asked_for(sdk: Site) -> None:
    init = sdk.path / CORE / "__init__.py"
    init.unlink()
    assert "E-PKG-003" in run_test(sdk.path, "--only", "packages").codes
    assert not init.exists()
    said = run_test(sdk.path, "--only", "packages", "--fix")
    assert f"rocm-sdk: created {init}" in said.stderr
    assert run_test(sdk.path, "--only", "packages").codes == set()
    assert "nothing that can be fixed" in run_test(sdk.path, "--only", "packages", "--fix").stderr


# ---- how it ends


def test_ctrl_c(sdk: Site) -> None:
    """The results so far are printed at once, and no process is left."""
    sdk.library("libstuck.so.1", "#include <unistd.h>\n__attribute__((constructor)) static void c(void) { pause(); }")
    (sdk.path / CORE / "lib/librocm_smi64.so.1").write_bytes(b"nothing")
    junit, bundle = sdk.path.parent / "junit.xml", sdk.path.parent / "bundle.zip"
    words = [sys.executable, "-u", "-m", "rocm_sdk", "test", "--only", "files,libraries,gpus"]
    words += ["--junit", str(junit), "--report", str(bundle)]
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path)}
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    while "files" not in process.stdout.readline():
        pass
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (started := children.read_text().split()):
        time.sleep(0.01)
    time.sleep(0.2)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert time.monotonic() - begin < 20
    assert process.returncode == 130, errors
    assert "interrupted; results so far" in errors
    assert "Traceback" not in errors
    assert "E-LIB-006  librocm_smi64.so.1 is damaged" in output
    assert output.endswith("Interrupted: not everything was tested. Exit status 130.\n")
    assert len(list(ElementTree.parse(junit).getroot().iter("error"))) == 1
    with zipfile.ZipFile(bundle) as files:
        assert json.loads(files.read("report.json"))["interrupted"]
    assert not any(Path(f"/proc/{child}").exists() for child in started)


def test_progress_on_a_terminal_alone(sdk: Site) -> None:
    slow = sdk.library(
        "libslow.so.1", "int usleep(unsigned);\n__attribute__((constructor)) static void c(void) { usleep(20000); }"
    )
    for number in range(29):
        shutil.copy(slow, slow.with_name(f"libslow{number}.so.1"))
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "rocm_sdk", "test", "--only", "libraries"]
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path)}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # the other end is closed
        while data := os.read(ours, 4096):
            seen += data
    output, _ = process.communicate()
    os.close(ours)
    assert re.search(rb"\r\x1b\[Kloading libraries: \d+ of 33  lib\S+", seen)
    assert seen.endswith(b"\r\x1b[K")
    assert "\x1b" not in output
    assert command(sdk, "--only", "libraries").stderr == ""


def test_ctrl_c_ends_programs_too(sdk: Site) -> None:
    """Children of the subject `api`, which are in sessions of their own."""
    hang = "#include <unistd.h>\n__attribute__((constructor)) static void c(void) { for (;;) pause(); }"
    for name in ("librocm_smi64.so.1", "libroctx64.so.4", "libhiprtc.so.7"):
        sdk.library(name, hang)
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path)}
    words = [sys.executable, "-m", "rocm_sdk", "test", "--only", "api"]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(started := children.read_text().split()) < len(os.sched_getaffinity(0)):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert not any(Path(f"/proc/{child}").exists() for child in started)


@pytest.mark.parametrize(
    ("variables", "is_painted"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "0"}, False),
    ],
)
def test_colour(sdk: Site, variables: dict[str, str], is_painted: bool) -> None:
    break_library(sdk)
    words = [sys.executable, "-m", "rocm_sdk", "test", "--only", "files"]
    environment = {
        name: value for name, value in clean_environment().items() if name not in {"NO_COLOR", "FORCE_COLOR"}
    }
    result = completed(words, env=environment | {"PYTHONPATH": str(sdk.path)} | variables)
    assert ("\x1b[1;31mE-FILE-002\x1b[0m  " in result.stdout) is is_painted
    assert ("\x1b" in result.stdout) is is_painted


def test_explain_says_what_this_installation_has(sdk: Site) -> None:
    words = [sys.executable, "-m", "rocm_sdk", "explain", "E-LIB-006"]
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path)}
    sound = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    assert "This installation does not have it now (tested: libraries)." in sound
    break_library(sdk)
    damaged = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    assert "\nHere:\nE-LIB-006  libamdhip64.so.7 is damaged\n" in damaged
    assert "{" not in damaged
