"""Programs that the self test starts: what they are allowed."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep

import pytest
from programs import completed
from sample_site import LIBRARIES, Site, clean_environment

from rocm_sdk.base.processes import own_code
from rocm_sdk.doctor.causes.culprits import Clock, Outcome, tried
from rocm_sdk.doctor.causes.recorded_files import Files
from rocm_sdk.doctor.children import run_program
from rocm_sdk.doctor.surroundings import Child, Surroundings, Suspect
from rocm_sdk.installed.view import Installed

SHOW_LIMIT = """
import resource, time
while resource.getrlimit(resource.RLIMIT_CORE)[0] > 1:
    time.sleep(0.01)
print(*resource.getrlimit(resource.RLIMIT_CORE))
"""


def test_no_core_dump() -> None:
    """A crash is a result, not a reason to write gigabytes: one byte is the limit, whatever this process may write."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 1 << 20:
        pytest.skip("the hard limit of this process forbids core dumps already")
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        ended = run_program(own_code(SHOW_LIMIT), 10)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert (ended.status, ended.last_line) == (0, "1 1")


# ---- what leaves its session

LEAVING = {
    "setsid": "setsid sh -c 'echo $$ > {0}; exec sleep 600' &\n",
    "a daemon that forks twice": 'sh -c \'setsid sh -c "sh -c \\"echo \\\\\\$\\\\\\$ > {0}; exec sleep 600\\" &" &\'\n',
}


def _read_when_written(path: Path) -> int:
    end = monotonic() + 10
    while not (path.exists() and path.read_text().endswith("\n")):
        assert monotonic() < end, path
        sleep(0.01)
    return int(path.read_text())


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("leaving", LEAVING.values(), ids=LEAVING)
def test_a_tool_that_leaves_its_session(sdk: Site, tmp_path: Path, leaving: str) -> None:
    """Processes that the tool has started are killed, in any session.

    Processes that the caller has started before stay.
    """
    pid, bystander = tmp_path / "pid", tmp_path / "bystander"
    metadata = sdk.path / "rocm_sdk_core-7.10.0.dist-info"
    (metadata / "RECORD").write_text((metadata / "RECORD").read_text() + "bin/rocm-smi,,\n")
    (metadata / "entry_points.txt").write_text("[console_scripts]\nrocm-smi = rocm_sdk_core._cli:main\n")
    script = f"#!/bin/sh\n{leaving.format(pid)}until [ -s {pid} ]; do sleep 0.01; done\necho usage\n"
    sdk.write("bin/rocm-smi", script).chmod(0o755)
    words = [sys.executable, "-m", "rocm_sdk", "test", "--only", "tools", "--json"]
    before = f"setsid sh -c 'echo $$ > {bystander}; exec sleep 600' >/dev/null 2>&1 & exec \"$@\""
    done = completed(["sh", "-c", before, "sh", *words], env=clean_environment() | {"PYTHONPATH": str(sdk.path)})
    assert json.loads(done.stdout)["problems"] == []
    kept = _read_when_written(bystander)
    try:
        assert not _is_running(_read_when_written(pid))
        assert _is_running(kept)
    finally:
        os.kill(kept, signal.SIGKILL)


@pytest.mark.parametrize("is_before", [True, False], ids=["before", "meanwhile, in another thread"])
def test_processes_of_the_caller_stay(is_before: bool) -> None:
    """Processes in sessions of their own stay: `rocm_sdk` may be a part of a larger program."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        started.append(subprocess.Popen(["sleep", "600"], start_new_session=True))

    if is_before:
        start()
    else:
        timer = threading.Timer(0.3, start)
        timer.start()
    try:
        assert run_program(["sleep", "1"], 10).status == 0
        assert started[0].poll() is None
    finally:
        started[0].kill()
        started[0].wait()


# ---- the way in which this package is found


def test_safe_path_keeps_what_the_user_has_set(tmp_path: Path) -> None:
    """With PYTHONSAFEPATH, the first entry is not the current directory."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first/only_there.py").write_text("print('found')\n")
    (tmp_path / "os.py").write_text("raise SystemExit('the current directory')\n")
    code = (
        "import sys; from rocm_sdk.doctor.children import *; from rocm_sdk.base.processes import own_code\n"
        "print(run_program(own_code('import os, sys, only_there; sys.exit(0)'), 30))"
    )
    for safe in ({}, {"PYTHONSAFEPATH": "1"}):
        environment = clean_environment() | {"PYTHONPATH": str(tmp_path / "first")} | safe
        command = [sys.executable, "-c", "import sys\nif sys.path[0] == '': del sys.path[0]\n" + code]
        run = completed(command, env=environment, cwd=tmp_path)
        assert run.stdout.startswith("Ended(status=0, output='found\\n'"), (safe, run)


def test_a_program_finds_this_package() -> None:
    assert run_program(own_code("import rocm_sdk"), 30).status == 0


# ---- the way in which a cause is established: the tries, their order, and the things that are looked at


A, B, C = (Suspect("variable", name, "1") for name in "ABC")


class Tries:
    """Children of one kind: each fails by what is `present` as `fails` says."""

    def __init__(self, fails: Callable[[set[Suspect]], bool]) -> None:
        self.fails = fails
        self.count = 0

    def again(self, names: Sequence[str], surroundings: Surroundings, _seconds: float) -> list[bool]:
        self.count += 1
        return [not self.fails({A, B, C} - set(surroundings.without))] * len(names)

    def outcome(self, seconds: float = 0.0) -> Outcome:
        child = Child("x", seconds, self.again)
        return tried([child], [A, B, C], Clock())[child]


@pytest.mark.parametrize(
    ("fails", "culprits", "tries"),
    [
        (lambda _: True, (), 1),
        (lambda present: B in present, ((B,),), 4),
        (lambda present: bool(present & {A, C}), ((A,), (C,)), 4),
        (lambda present: {A, C} <= present, ((A, C),), 8),
    ],
    ids=["by none", "by one", "by each of two", "by two together"],
)
def test_what_a_child_fails_by(fails: Callable[[set[Suspect]], bool], culprits: object, tries: int) -> None:
    what = Tries(fails)
    assert what.outcome().culprits == culprits
    assert what.count == tries


def test_a_child_that_works_when_it_runs_again() -> None:
    assert Tries(lambda _: False).outcome() == Outcome(is_unsteady=True)


def test_what_would_take_too_long_is_not_begun() -> None:
    what = Tries(lambda present: B in present)
    outcome = what.outcome(seconds=500.0)
    assert (outcome.culprits, what.count) == ((), 0)
    assert str(outcome.lack).startswith("whether another environment helps was not tried: it would take more than ")


def test_what_the_clock_ends_has_not_failed() -> None:
    """A try that is ended at the limit shows nothing of what it was tried with."""

    def again(names: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        if C not in surroundings.without:  # the last; it takes longer than is left
            time.sleep(seconds + 0.01)
            return [False] * len(names)
        return [True] * len(names)

    child = Child("x", 0.0, again)
    outcome = tried([child], [A, B, C], Clock(0.2))[child]
    assert outcome.culprits == ()
    assert outcome.lack is not None


def test_children_share_what_was_found() -> None:
    what = Tries(lambda present: B in present)
    children = [Child(name, 0.0, what.again) for name in "xyz"]
    assert {outcome.culprits for outcome in tried(children, [A, B, C], Clock()).values()} == {((B,),)}
    assert what.count == 5  # all without any, one with each, the others without B


def test_how_much_is_compared(sdk: Site) -> None:
    """A GiB in all, the smallest files first; with --deep each file."""
    one, other = (sdk.path / LIBRARIES / f"lib/{name}" for name in ("librocsparse.so.1", "libhipsparse.so.1"))
    os.truncate(one, 1 << 29)
    for size, is_deep, expected in (
        (1 << 29, False, [one, other]),
        ((1 << 29) + 1, False, [one]),
        ((1 << 29) + 1, True, [one, other]),
    ):
        os.truncate(other, size)
        faults, is_complete = Files(Installed(str(sdk.path)), deep=is_deep).compare([str(other), str(one)])
        assert sorted(faults) == sorted(map(str, expected))
        assert is_complete == (len(expected) == 2)


def test_what_record_does_not_say_is_not_compared(sdk: Site) -> None:
    """Then nobody knows whether a file is as it was installed."""
    one, other = (f"{LIBRARIES}/lib/{name}" for name in ("librocsparse.so.1", "libhipsparse.so.1"))
    stranger = sdk.path / LIBRARIES / "lib/libstranger.so"
    stranger.touch()
    paths = [str(sdk.path / one), str(sdk.path / other)]
    assert Files(Installed(str(sdk.path)), deep=False).compare(paths) == ({}, True)
    assert Files(Installed(str(sdk.path)), deep=False).compare([*paths, str(stranger)]) == ({}, False)
    assert Files(Installed(str(sdk.path)), deep=False).compare([str(stranger)]) == ({}, False)
    (record,) = (each for each in sdk.path.glob("*.dist-info/RECORD") if one in each.read_text())
    lines = [f"{one},," if line.startswith(f"{one},") else line for line in record.read_text().splitlines()]
    record.write_text("\n".join(lines))
    assert Files(Installed(str(sdk.path)), deep=False).compare(paths) == ({}, False)
