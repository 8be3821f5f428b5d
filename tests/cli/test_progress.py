"""The signs of long work: on a terminal, in a log, and with -q."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from ended import succeeded
from programs import completed
from sample_site import CORE, Site, clean_environment

QUICK = "from rocm_sdk.terminal import progress; progress._FIRST_TICK = progress._TICK = 0.05"
LINES = "from rocm_sdk.terminal import progress; progress._SECONDS_BETWEEN_LINES = 0.05"
WORK = """
import sys, time
from rocm_sdk.base.given import given
from rocm_sdk.terminal.progress import waiting, with_progress
given.quiet, given.progress = "-q" in sys.argv, "--progress" in sys.argv
with waiting("asking pip"):
    time.sleep(0.4)
for each in with_progress("checking", ["a\\x1b.whl", "b.whl"], 2):
    time.sleep(0.2)
"""


def on_terminal(code: str, *words: str, **variables: str) -> str:
    """Return the text that a terminal of 80 columns gets on stderr."""
    ours, theirs = pty.openpty()
    environment = clean_environment() | {"TERM": "xterm", "COLUMNS": "80"} | variables
    process = subprocess.Popen([sys.executable, "-c", code, *words], env=environment, stderr=theirs)
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # the other end is closed
        while data := os.read(ours, 4096):
            seen += data
    os.close(ours)
    assert process.wait() == 0
    return seen.decode()


def in_log(code: str, *words: str, **variables: str) -> list[str]:
    """Return the lines of stderr where it is no terminal."""
    environment = clean_environment() | variables
    done = succeeded([sys.executable, "-c", code, *words], env=environment)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_a_bar_on_a_terminal() -> None:
    shown = on_terminal(f"{QUICK}\n{WORK}").split("\r\x1b[K")
    assert "asking pip  00:00" in shown
    bar = next(each for each in shown if each.startswith("checking: 1 of 2  a"))
    assert re.fullmatch(r"checking: 1 of 2  a\\x1b\.whl  ━+ +  00:00", bar)
    assert len(bar) == 79
    assert shown[-1] == "", "the line is erased"


def test_a_title_with_a_hostile_name() -> None:
    """A wheel is named there, which may come from anywhere."""
    code = f"import time\n{QUICK}\nwith progress.waiting('reading \\x1b]0;x\\x07'):\n    time.sleep(0.3)"
    shown = on_terminal(code)
    assert "reading \\x1b]0;x\\x07  00:00" in shown
    assert "\x1b]" not in shown


@pytest.mark.parametrize(("words", "variables"), [(["-q"], {}), ([], {"TERM": "dumb"})], ids=["quiet", "dumb"])
def test_nothing_on_a_terminal(words: list[str], variables: dict[str, str]) -> None:
    assert on_terminal(f"{QUICK}\n{WORK}", *words, **variables) == ""


@pytest.mark.parametrize(("words", "variables"), [([], {"CI": "true"}), (["--progress"], {})], ids=["CI", "--progress"])
def test_lines_in_a_log(words: list[str], variables: dict[str, str]) -> None:
    lines = in_log(f"{LINES}\n{WORK}", *words, **variables)
    assert "rocm-sdk: asking pip; 00:00" in lines
    assert any(line.startswith("rocm-sdk: checking: 1 of 2  a\\x1b.whl; 00:00") for line in lines)
    assert on_terminal(f"{LINES}\n{WORK}", *words, **variables).splitlines() != []
    assert in_log(f"{LINES}\n{WORK}", "-q", *words, **variables) == []


def test_nothing_in_a_log_that_nobody_asked_for() -> None:
    assert in_log(f"{LINES}\n{WORK}", CI="") == []
    assert in_log(WORK, CI="true") == [], "less than ten seconds"


def test_what_is_left_is_said() -> None:
    code = f"""{LINES}
progress._clock = "{{:.1f}}".format
import time
with progress.waiting("reading", 100, left="") as wait:
    wait._started -= 30
    time.sleep(0.1)
    wait.step("x", 25)
    time.sleep(0.2)
"""
    assert re.search(r"rocm-sdk: reading: 25 of 100  x; 30\.\d, 90\.\d left", "\n".join(in_log(code, CI="1")))


def test_the_innermost_is_shown_until_it_ends() -> None:
    """Also where a thread does a step of one that has ended."""
    code = """
from itertools import count
from rocm_sdk.terminal import progress
progress.monotonic = count(0, 20).__next__
with progress.waiting("outer") as outer:
    with progress.waiting("inner") as inner:
        outer.step("hidden")
        inner.step("shown")
    inner.step("late")
    outer.step("after")
outer.step("late")
"""
    shown = [line.partition(";")[0] for line in in_log(code, CI="1")]
    assert shown == ["rocm-sdk: inner: 1  shown", "rocm-sdk: outer: 2  after"]


def test_no_more_is_done_than_there_is_to_do() -> None:
    """The told amounts are not always right: the shown amount goes neither back nor beyond the total."""
    code = """
from itertools import count
from rocm_sdk.terminal import progress
progress.monotonic = count(0, 20).__next__
with progress.waiting("reading", 10) as wait:
    for done in (5, 3, 10, 20):
        wait.reach(done)
with progress.waiting("counting") as wait:
    for done in (20, 3):
        wait.reach(done)
"""
    shown = [line.partition(";")[0].removeprefix("rocm-sdk: ") for line in in_log(code, CI="1")]
    assert shown == [*(f"reading: {done} of 10" for done in (5, 5, 10, 10)), "counting: 20", "counting: 20"]


def test_a_thing_by_its_name() -> None:
    code = """
from itertools import count
from rocm_sdk.terminal import progress
progress.monotonic = count(0, 20).__next__
for _ in progress.with_progress("reading", [(1, "one"), (2, "two")], 2, name=lambda each: each[1]):
    pass
"""
    assert [line.partition(";")[0] for line in in_log(code, CI="1")] == [
        "rocm-sdk: reading: 1 of 2  one",
        "rocm-sdk: reading: 2 of 2  two",
    ]


MAIN = f"{LINES[:-4]}1e-9\nimport sys\nfrom rocm_sdk.cli import main\nraise SystemExit(main(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (["check", "FILE", "FILE"], "checking: 1 of 2  "),
        (["check", "WHEEL"], "reading pkg: 3.1 MB of 4.0 MB  lib.so; "),
        (["test", "--deep", "--only", "files"], "reading files: "),
        (["test", "--merge", "REPORTS"], "reading reports: 1 of 2  "),
    ],
)
def test_what_takes_long_shows_it(sdk: Site, devel_tree: Path, tmp_path: Path, words: list[str], title: str) -> None:
    assert not devel_tree.exists(), "its distribution has a RECORD"
    places = {"FILE": str(sdk.path / CORE / "lib/libamdhip64.so.7"), "REPORTS": str(tmp_path)}
    if "WHEEL" in words:
        places["WHEEL"] = str(tmp_path / "pkg-1-py3-none-any.whl")
        with zipfile.ZipFile(places["WHEEL"], "w") as archive:
            archive.writestr("pkg/lib.so", b"\x7fELF" + bytes(4_000_000 - 4))
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path)}
    if "REPORTS" in words:
        for name in ("a", "b"):
            (tmp_path / f"{name}.json").write_text("{}")
    command = [sys.executable, "-c", MAIN, *(places.get(word, word) for word in words)]
    done = completed([*command, "--progress"], env=environment)
    assert f"rocm-sdk: {title}" in done.stderr
    done = completed([*command, "-q"], env=environment)
    assert title not in done.stderr


def test_ctrl_c_says_what_is_left_behind(tmp_path: Path) -> None:
    program = tmp_path / "uv"
    program.write_text("#!/bin/sh\ntouch asked\nexec sleep 60\n")
    program.chmod(0o755)
    environment = clean_environment() | {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = [sys.executable, "-m", "rocm_sdk", "install", "sdk", "--gpu", "gfx942", "--print", "--installer", "uv"]
    process = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "asked").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    before = sorted(tmp_path.iterdir())
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, "")
    assert said == "rocm-sdk: interrupted: nothing is left behind\n"
    assert sorted(tmp_path.iterdir()) == before
