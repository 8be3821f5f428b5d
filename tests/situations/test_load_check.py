"""load_check: whatever a library does to its process, the others are loaded, the time is kept and nothing is left."""

import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from programs import completed
from sample_site import Site, clean_environment, compile_library

from rocm_sdk.doctor import load_results
from rocm_sdk.doctor.load_results import PROGRAM, LoadResult, load_all

HEADERS = "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
DAEMON = """
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            char name[4096];
            snprintf(name, sizeof name, "%s.new", getenv("PID_FILE"));
            FILE *out = fopen(name, "w");
            fprintf(out, "%d", (int)getpid());
            fclose(out);
            rename(name, getenv("PID_FILE"));
            for (;;) pause();
        }
        _exit(0);
    }
"""
Build = Callable[..., str]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Return a function that compiles a library whose constructor does something, and returns its path."""
    monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))

    def compile_one(code: str, name: str = "libx.so") -> str:
        source = f"{HEADERS}__attribute__((constructor)) static void construct(void) {{ {code} }}"
        return str(compile_library(tmp_path / name, name, source))

    return compile_one


def load(*paths: str, seconds: int = 30, parallel: int = 2) -> list[LoadResult]:
    return sorted(load_all(paths, seconds, parallel))


def outcomes(*paths: str, **options: int) -> list[str]:
    return [result.outcome for result in load(*paths, **options)]


def is_alive(process: int) -> bool:
    """Return whether a process runs: a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def pid_in(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text() != "")
    return int(path.read_text())


# ---- results


def test_loaded_and_refused(build: Build, tmp_path: Path) -> None:
    whole, absent = build('fputs("hello", stderr);'), str(tmp_path / "absent.so")
    refused, loaded = load(whole, absent)
    assert loaded._replace(seconds=0) == (whole, "loaded", 0, 0, "", "hello")
    assert 0 < loaded.seconds < 10
    assert (refused.outcome, refused.number) == ("refused", 0)
    assert "absent.so: cannot open shared object file" in refused.dlerror_text
    assert load() == []
    assert subprocess.run([PROGRAM, "1", "1", "1", "1"], input=b"", capture_output=True, check=True).stdout == b""
    odd = tmp_path / "a b"  # a list cannot have the name
    odd.mkdir()
    assert outcomes(str(compile_library(odd / "lib\nx.so", "libx.so", ""))) == ["loaded"]


def test_a_library_that_kills_load_check(build: Build) -> None:
    """The library in hand is named; the rest is loaded by another load_check."""
    paths = [build("", "liba.so"), build("kill(getppid(), SIGKILL);", "libb.so")]
    paths += [build("", f"libc{number}.so") for number in range(5)]
    results = load(*paths, parallel=1)
    assert [result.path for result in results] == paths
    assert [result.outcome for result in results] == ["loaded", "lost", *["loaded"] * 5]
    assert results[1].number == signal.SIGKILL
    both = outcomes(*paths, parallel=2)
    assert (both[1], {*both}) == ("lost", {"loaded", "lost"})


def test_load_check_killed_by_another(build: Build, tmp_path: Path) -> None:
    waiting = build('FILE *f = fopen(getenv("PID_FILE"), "w"); fprintf(f, "%d", (int)getppid()); fclose(f); pause();')
    with ThreadPoolExecutor(1) as threads:
        load_results = threads.submit(load, waiting)
        os.kill(pid_in(tmp_path / "pid"), signal.SIGKILL)
        (result,) = load_results.result(30)
    assert (result.outcome, result.number) == ("lost", signal.SIGKILL)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("exit 0", "exit status 0, 0 results for 2 libraries"),
        ("exit 3", "exit status 3, 0 results for 2 libraries"),
        ("printf '0\\0loaded\\0000\\0001\\000\\000\\000' >/proc/self/fd/$4", "a result for /a.so"),
        ("printf '0\\0begun\\0000\\0001\\000\\000\\000' >/proc/self/fd/$4", "0 results for 2 libraries"),
        ("kill -9 $$", "was killed by signal 9 before it loaded anything"),
    ],
    ids=["0", "3", "twice", "begun", "killed"],
)
def test_results_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, said: str) -> None:
    (tmp_path / "load_check").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "load_check").chmod(0o755)
    monkeypatch.setattr("rocm_sdk.doctor.load_results.PROGRAM", str(tmp_path / "load_check"))
    with pytest.raises(RuntimeError, match=said):
        load("/a.so", "/b.so")


WRITES = 'for (int each = 3; each < 64; each++) (void)!write(each, "%s", sizeof "%s" - 1); '


@pytest.mark.parametrize(
    "body",
    [WRITES % ("+", "+"), WRITES % ("+", "+") + "raise(SIGSTOP); ", WRITES % ("-no", "-no")],
    ids=["writes", "writes and stops", "writes a refusal"],
)
def test_a_forged_line_is_no_load(build: Build, body: str) -> None:
    (result,) = load(build(f"{body}_exit(0);"))
    assert (result.outcome, result.number) == ("ended", 0)


def test_how_a_constructor_ends(build: Build) -> None:
    """A crash and its last words, an exit; those after it are loaded all the same."""
    crash = build('fputs("before the end", stderr); *(volatile int *)0 = 1;', "liba.so")
    first, *exits, last = load(
        crash, build("exit(3);", "libb.so"), build("_exit(0);", "libc.so"), build("", "libd.so"), parallel=1
    )
    assert (first.outcome, first.number, first.output) == ("killed", signal.SIGSEGV, "before the end")
    assert [(each.outcome, each.number) for each in exits] == [("ended", 3), ("ended", 0)]
    assert last.outcome == "loaded"


def test_a_constructor_that_does_not_return(build: Build) -> None:
    begin = time.monotonic()
    waiting = build('fputs("waiting", stderr); for (;;) pause();', "liba.so")
    stuck, whole = load(waiting, build("", "libb.so"), seconds=1)
    assert (stuck.outcome, stuck.output, whole.outcome) == ("stuck", "waiting", "loaded")
    assert 1 <= stuck.seconds < 10
    assert time.monotonic() - begin < 20


@pytest.mark.slow
def test_output(build: Build) -> None:
    """A flood neither blocks the library nor fills our memory, and an endless output ends at the limit."""
    ends, endless, odd = load(
        build('for (int i = 0; i < 300000; i++) fputs("0123456789", stderr);', "liba.so"),
        build('for (;;) write(1, "x", 1);', "libb.so"),
        build(r'write(2, "a\0b\377c", 5);', "libc.so"),
        seconds=2,
    )
    assert (ends.outcome, len(ends.output)) == ("loaded", 2048)
    assert (endless.outcome, endless.output) == ("stuck", "x" * 2048)
    assert (odd.outcome, odd.output) == ("loaded", "a?b\ufffdc")


def test_many_small_libraries(build: Build) -> None:
    path, children = build(""), Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text()  # a server of other tests, say
    assert outcomes(*[path] * 1000) == ["loaded"] * 1000
    assert children.read_text() == before


def test_never_more_at_a_time_than_asked_for(build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds one of two places for a while: a third would find none free."""
    monkeypatch.setenv("PLACES", str(tmp_path))
    code = """
        char name[4096];
        int place = -1;
        for (int i = 0; i < 2 && place < 0; i++) {
            snprintf(name, sizeof name, "%s/place%d", getenv("PLACES"), i);
            place = symlink("x", name) == 0 ? i : -1;
        }
        if (place < 0) abort();
        usleep(5000);
        unlink(name);
    """
    assert {*outcomes(*[build(code)] * 30)} == {"loaded"}


# ---- what is left


def test_a_daemon_does_not_outlive_the_test(build: Build, tmp_path: Path) -> None:
    """The daemon has left the session of the library that started it, and holds its output open."""
    assert outcomes(build(DAEMON + 'while (access(getenv("PID_FILE"), R_OK)) usleep(1000);')) == ["loaded"]
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_a_daemon_dies_with_whoever_started_the_test(build: Build, tmp_path: Path) -> None:
    """The Python process is killed and can clean up nothing; load_check, its child and a daemon end all the same."""
    path = build(DAEMON + "for (;;) pause();")
    program = f"from rocm_sdk.doctor.load_results import load_all; list(load_all([{path!r}], 600, 1))"
    python = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)])
    daemon = pid_in(tmp_path / "pid")
    (checker,) = map(int, Path(f"/proc/{python.pid}/task/{python.pid}/children").read_text().split())
    children = [int(word) for word in Path(f"/proc/{checker}/task/{checker}/children").read_text().split()]
    python.kill()
    python.wait()
    assert children
    for process in (checker, daemon, *children):
        wait_until(lambda process=process: not is_alive(process))


def test_a_reader_that_stops_early(build: Build, tmp_path: Path) -> None:
    results = load_all([build("", "liba.so"), build(DAEMON + "for (;;) pause();", "libb.so")], 600, 2)
    assert next(results).outcome == "loaded"
    daemon = pid_in(tmp_path / "pid")
    results.close()  # type: ignore[attr-defined]
    assert not is_alive(daemon)


def test_no_core_dump(build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        (result,) = load(build("abort();"))
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert (result.outcome, result.number) == ("killed", signal.SIGABRT)
    assert [path.name for path in tmp_path.iterdir()] == ["libx.so"]


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        ("0 1 1 1", b"", "0: not a number from 1 to 1024"),
        ("1 x 1 1", b"", "x: not a number"),
        ("1 1 1", b"", "usage: load_check"),
        ("1 1 1 99", b"", "the descriptor of the results: Bad file descriptor"),
        ("1 1 1 1", b"/no/end", "must end in NUL"),
    ],
    ids=["0", "x", "three", "descriptor", "no end"],
)
def test_wrong_usage(arguments: str, text: bytes, said: str) -> None:
    result = subprocess.run([PROGRAM, *arguments.split()], input=text, capture_output=True, check=False)
    assert (result.returncode, result.stdout, said in result.stderr.decode()) == (2, b"", True)


# ---- what hangs before the first library, or after it

_HANGS = 'if (strcmp(program_invocation_short_name, "load_check") == 0) { signal(SIGTERM, SIG_IGN); for (;;) pause(); }'
_MAIN = """
import sys
from rocm_sdk.doctor import load_results
load_results._START = load_results._START_AGAIN = load_results._END = 0.5
from rocm_sdk.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


@pytest.fixture
def hanging(tmp_path: Path) -> str:
    """Return a library for LD_PRELOAD that load_check never gets beyond."""
    headers = f"#define _GNU_SOURCE\n#include <errno.h>\n#include <string.h>\n{HEADERS}"
    source = f"{headers}__attribute__((constructor)) static void construct(void) {{ {_HANGS} }}"
    return str(compile_library(tmp_path / "libhang.so", "libhang.so", source))


def test_it_hangs_before_the_first_library(sdk: Site, hanging: str) -> None:
    """A limit ends it, and the usual experiment finds the variable."""
    words = ["test", "--json", "--only", "libraries"]
    environment = clean_environment() | {"PYTHONPATH": str(sdk.path), "LD_PRELOAD": hanging}
    done = completed([sys.executable, "-c", _MAIN, *words], env=environment, timeout=60)
    (found,) = json.loads(done.stdout)["problems"]
    assert (found["code"], found["fix"]) == ("E-ENV-010", "unset LD_PRELOAD")
    assert completed(["pgrep", "--full", PROGRAM]).stdout == ""


def test_more_paths_than_a_pipe_takes(hanging: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads them."""
    monkeypatch.setattr(load_results, "_START", 0.5)
    monkeypatch.setattr(load_results, "_END", 0.2)
    monkeypatch.setenv("LD_PRELOAD", hanging)
    with pytest.raises(load_results.SilentError, match=r"it said nothing for 0\.5 s"):
        load(*(f"/{'x' * 200}/{number}" for number in range(1000)))


def test_it_hangs_after_the_first_library(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a library stops the process that started it."""
    monkeypatch.setattr(load_results, "_SLACK", -0.5)
    monkeypatch.setattr(load_results, "_END", 0.2)
    with pytest.raises(load_results.SilentError, match=r"it said nothing for 0\.5 s"):
        load(build("kill(getppid(), SIGSTOP); pause();"), seconds=1)
