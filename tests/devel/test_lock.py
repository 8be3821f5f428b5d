"""Many processes want the tree at once: one makes it, all get it."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ended import assert_failed
from other_user import USER, OtherUser
from sample_devel import DevelSite, sample_members

from rocm_sdk.base.file_lock import held
from rocm_sdk.devel.workspace import OF_STORE, OF_TREE
from rocm_sdk.errors import DevelopmentTreeLockedError

LOCK = ".rocm_sdk_devel.lock"
HOLD = """
import os, sys, time
from rocm_sdk.base.file_lock import held
from rocm_sdk.devel.workspace import OF_TREE
with held(OF_TREE, sys.argv[1], 10, print):
    {inside}
    print("held", flush=True)
    input()
"""


@contextmanager
def holder(site: DevelSite, inside: str = "") -> Iterator[subprocess.Popen[str]]:
    """Yield a process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLD.format(inside=inside), str(site.path / LOCK)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=site.environment(), **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "held\n"
        yield process
        if process.poll() is None:
            process.communicate("\n")


def is_free(site: DevelSite) -> bool:
    with (site.path / LOCK).open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def becomes_free(site: DevelSite) -> bool:
    """Return whether the lock becomes free soon.

    A child that was just forked lets go when it runs for the first time, long before it ends.
    """
    end = time.monotonic() + 5
    while not is_free(site):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.always
def test_32_at_once(devel_site: DevelSite) -> None:
    devel_site.install_devel(sample_members(), "_devel.tar.xz")
    (devel_site.path / "rocm_sdk_devel/_devel.tar").unlink()
    command = [sys.executable, "-m", "rocm_sdk", "path", "--root"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, env=devel_site.environment(), **pipes) for _ in range(32)]  # type: ignore[call-overload]
    outcomes = [(*process.communicate(), process.returncode) for process in processes]
    assert {(output, status) for output, _, status in outcomes} == {(f"{devel_site.tree}\n", 0)}, outcomes
    assert sum(said.count("Extracting") for _, said, _ in outcomes) == 1
    devel_site.command("init", "--check")


def test_the_holder_is_named(devel_site: DevelSite) -> None:
    with holder(devel_site) as process:
        result = devel_site.command("init", "--timeout", "1.5", check=False)
    assert_failed(result, 1, f"waiting for process {process.pid} on ", "is not done after 1.5 s", "--timeout")
    assert devel_site.command("init").returncode == 0


def test_a_user_who_may_only_read_holds_nothing_up(open_site: DevelSite, other_user: OtherUser) -> None:
    """The file is as earlier versions made it. Its mode is corrected, so that he cannot do it again."""
    open_site.install_sdk()
    lock = open_site.path / LOCK
    lock.touch(0o644)
    take = "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX); print(flush=True)"
    take += "; input()"
    command = [other_user.python, "-I", "-c", take, lock]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, user=USER, group=USER, extra_groups=(), cwd="/", **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "\n"
        refused = open_site.command("init", "--timeout", "60", check=False)
        process.communicate("\n")
    assert_failed(refused, 1, f"process {process.pid} of nobody, who may not write there, holds the lock {lock}")
    denied = other_user.run("-I", "-c", take, lock)
    assert denied.stderr.endswith(f"Permission denied: '{lock}'\n")
    open_site.command("init")


def test_a_holder_that_dies_lets_go(devel_site: DevelSite) -> None:
    """Even if a child that it forked lives on."""
    child = "if os.fork() == 0: time.sleep(10); os._exit(0)"
    with holder(devel_site, child) as process:
        assert not is_free(devel_site)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert becomes_free(devel_site)
    children = "import subprocess; other = subprocess.Popen(['sleep', '9'], close_fds=False, stdout=subprocess.DEVNULL)"
    with holder(devel_site, children) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert becomes_free(devel_site)


def test_a_lock_file_that_pip_removed(devel_site: DevelSite) -> None:
    """Two processes never work at once, even if they locked files of the same name."""
    with holder(devel_site) as process:
        waiter = subprocess.Popen(
            [sys.executable, "-m", "rocm_sdk", "init"],
            env=devel_site.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(0.5)
        (devel_site.path / LOCK).unlink()
        process.communicate("\n")
        assert waiter.communicate(timeout=60)[0] == f"{devel_site.tree}\n"
    assert (devel_site.path / LOCK).exists()


def test_a_link_in_place_of_the_lock_file(devel_site: DevelSite) -> None:
    target = devel_site.path.parent / "target"
    (devel_site.path / LOCK).symlink_to(target)
    result = devel_site.command("init", check=False)
    assert_failed(
        result,
        1,
        f"the lock file {devel_site.path / LOCK} is not a regular file",
        f"fix: rm {devel_site.path / LOCK}\n",
    )
    assert not os.path.lexists(target)


LOCKING = pytest.mark.parametrize(
    "words", [["init"], ["init", "--store", "STORE"], ["store", "prune", "--store", "STORE"]]
)


def place_of_lock(devel_site: DevelSite, store: Path, words: list[str]) -> Path:
    """Return the place of a command's lock file, which is absent: in the store where the command names one."""
    if "STORE" not in words:
        return devel_site.path / LOCK
    devel_site.command("init", "--store", str(store))
    (store / "lock").unlink()
    devel_site.install_devel(sample_members())
    return store / "lock"


@LOCKING
def test_a_directory_in_place_of_the_lock_file(devel_site: DevelSite, store: Path, words: list[str]) -> None:
    """The fix keeps what is in it, and the command works afterwards."""
    lock = place_of_lock(devel_site, store, words)
    (lock / "kept").mkdir(parents=True)
    words = [word.replace("STORE", str(store)) for word in words]
    result = devel_site.command(*words, check=False)
    assert_failed(result, 1, f"the lock file {lock} is not a regular file")
    fix = result.stderr.splitlines()[-1].removeprefix("  fix: ")
    assert fix == f"mv {lock} {lock}.old"
    subprocess.run(fix.split(), check=True)
    devel_site.command(*words)


def test_a_lock_on_a_removed_file_is_none(devel_site: DevelSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installer pip removes the lock file with the package.

    A process that has just opened the file must lock the one that is there now.
    """
    path = devel_site.path / LOCK
    take_lock = fcntl.flock
    removals = [path]

    def remove_and_lock(descriptor: int, operation: int) -> None:
        while removals:
            removals.pop().unlink()
            path.touch()
        take_lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", remove_and_lock)
    with held(OF_TREE, str(path), 10, print):
        assert not is_free(devel_site)
    assert is_free(devel_site)


@LOCKING
def test_a_pipe_in_place_of_the_lock_file(devel_site: DevelSite, store: Path, words: list[str]) -> None:
    lock = place_of_lock(devel_site, store, words)
    os.mkfifo(lock)
    result = devel_site.command(*(word.replace("STORE", str(store)) for word in words), check=False, timeout=30)
    assert_failed(result, 1, f"the lock file {lock} is not a regular file", f"fix: rm {lock}")


def test_a_lock_file_with_another_name(devel_site: DevelSite) -> None:
    """The file may be anybody's: it is locked, and nothing is written to it."""
    other = devel_site.path.parent / "other"
    other.write_text("mine")
    (devel_site.path / LOCK).hardlink_to(other)
    devel_site.command("init")
    assert other.read_text() == "mine"


def test_the_holder_is_named_as_long_as_it_holds(tmp_path: Path) -> None:
    """Who holds it together with others is not named, and needs no permission to write."""
    lock = tmp_path / "lock"
    with held(OF_TREE, str(lock), 1, print):
        assert lock.read_text().startswith(f"process {os.getpid()} on ")
    assert lock.read_text() == ""
    lock.write_text("holder")
    lock.chmod(0o444)
    with held(OF_STORE, str(lock), 1, print, shared=True), held(OF_STORE, str(lock), 1, print, shared=True):
        assert lock.read_text() == "holder"
    assert lock.read_text() == "holder"


def test_a_forked_child_closes_no_file_of_others(tmp_path: Path) -> None:
    """The numbers of locks that are released, or were not got, belong to other files afterwards."""
    lock = str(tmp_path / "lock")
    with (
        held(OF_TREE, lock, 1, print),
        pytest.raises(DevelopmentTreeLockedError),
        held(OF_TREE, lock, 0, print),
    ):
        pass
    files = [os.open(tmp_path / str(number), os.O_CREAT | os.O_WRONLY) for number in range(3)]
    child = os.fork()
    if child == 0:
        try:
            os._exit(len({os.fstat(file).st_ino for file in files}) != len(files))
        except OSError:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for file in files:
        os.close(file)
