"""Locks that others hold: what waits for them ends, and says so. Who may only read a directory holds none up."""

import fcntl
import os
import stat
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from other_user import USER, OtherUser
from own_mounts import mounted
from system_programs import find

from rocm_sdk.adoption.distribution import AdoptionError
from rocm_sdk.base.file_lock import Purpose, held
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.building import debian

TREE = Purpose("works here", RuntimeError, TimeoutError)
STORE = TREE._replace(has_readers=True)
ADOPTION = import_module("rocm_sdk.adoption.adopt")  # its package has a function of that name
# All rights for the owner and for USER, and reading for others: tag, rights and number of each entry.
ENTRIES = ((1, 7, -1), (2, 7, USER), (4, 5, -1), (16, 7, -1), (32, 5, -1))
ACL = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *each) for each in ENTRIES)
HOLD = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(descriptor, getattr(fcntl, sys.argv[2]))
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(other: OtherUser, path: Path, user: int = USER, kind: str = "LOCK_EX", *groups: int) -> Iterator[int]:
    """Yield the process of a user that holds the lock of a file or directory, which it has opened to read."""
    command = [other.python, "-I", "-c", HOLD, path, kind]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, user=user, group=user, extra_groups=groups, cwd="/", **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == b"\n"
        yield process.pid
        process.stdin.close()


@pytest.fixture
def lock(open_directory: Path) -> Path:
    """Return a lock file that everybody may read, as earlier versions made it."""
    path = open_directory / "lock"
    path.touch(0o644)
    return path


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_user_who_may_only_read_is_named_and_not_waited_for(lock: Path, other_user: OtherUser) -> None:
    words = f"of nobody, who may not write there, holds the lock {lock}"
    with (
        holder(other_user, lock) as pid,
        pytest.raises(TimeoutError, match=f"process {pid} {words}") as raised,
        held(TREE, str(lock), 60, print),
    ):
        raise AssertionError("it is locked")
    assert f"kill {pid}" in str(raised.value.args[1])
    assert mode_of(lock) == 0o600
    assert other_user.run("-I", "-c", HOLD, lock, "LOCK_EX", check=False).stderr.endswith(f"denied: '{lock}'\n")


def test_a_user_who_may_write_is_waited_for(lock: Path, other_user: OtherUser) -> None:
    """As the directory's owner, in its group, by an ACL, or as everybody may."""
    said: list[str] = []
    for owner, group, mode, groups in (
        (USER, 0, 0o755, ()),
        (0, 7, 0o775, (7,)),
        (0, 0, 0o1777, ()),
        (0, 0, 0o775, ()),
    ):
        os.chown(lock.parent, owner, group)
        lock.parent.chmod(mode)
        if (group, mode) == (0, 0o775):
            os.setxattr(lock.parent, "system.posix_acl_access", ACL)
        lock.chmod(0o644)
        with (
            holder(other_user, lock, USER, "LOCK_EX", *groups) as pid,
            pytest.raises(TimeoutError, match=rf"process {pid} of nobody works here and is not done after 1\.2 s"),
            held(TREE, str(lock), 1.2, said.append),
        ):
            raise AssertionError("it is locked")
        assert said.pop() == f"waiting for process {pid} of nobody, which works here"


@pytest.mark.parametrize("kind", ["overlay", "btrfs", "tmpfs"])
def test_the_holder_is_found_on_each_file_system(open_directory: Path, other_user: OtherUser, kind: str) -> None:
    """The kernel's number of the file system is not that of `stat` on some."""
    place = open_directory / "place"
    for each in ("place", "lower", "changes"):
        (open_directory / each).mkdir(mode=0o755)
    options = ["-t", kind, "none"]
    if kind == "btrfs":
        disk = open_directory / "disk"
        disk.touch()
        os.truncate(disk, 128 << 20)
        subprocess.run([find("mkfs.btrfs"), "--quiet", disk], check=True)
        options = ["-o", "loop", str(disk)]
    if kind == "overlay":
        with mounted(open_directory / "changes", "-t", "tmpfs", "none") as changes:
            for each in ("upper", "work"):
                (changes / each).mkdir()
            layers = f"lowerdir={open_directory}/lower,upperdir={changes}/upper,workdir={changes}/work"
            with mounted(place, *options, "-o", layers):
                assert_found(place, other_user)
        return
    with mounted(place, *options):
        assert_found(place, other_user)


def assert_found(place: Path, other_user: OtherUser) -> None:
    place.chmod(0o755)
    (place / "lock").touch(0o644)
    with (
        holder(other_user, place / "lock") as pid,
        pytest.raises(TimeoutError, match=f"process {pid} of nobody, who may not"),
        held(TREE, f"{place}/lock", 60, print),
    ):
        raise AssertionError("it is locked")


def test_the_readers_of_a_store(lock: Path, other_user: OtherUser) -> None:
    """They lock it together; who may not write there and locks it for himself alone is not waited for."""
    for kind, words in (("LOCK_SH", "works here and is not done"), ("LOCK_EX", "who may not write there")):
        with (
            holder(other_user, lock, USER, kind) as pid,
            pytest.raises(TimeoutError, match=f"process {pid} of nobody,? {words}"),
            held(STORE, str(lock), 1.2, print),
        ):
            raise AssertionError("it is locked")
    assert mode_of(lock) == 0o644
    with holder(other_user, lock, USER, "LOCK_SH"), held(STORE, str(lock), 0, print, shared=True):
        pass


def test_who_may_read_a_lock_file(open_directory: Path) -> None:
    """Those who may write its directory, by the group of that, whatever the umask; the owner is the directory's."""
    lock = open_directory / "lock"
    before = os.umask(0)
    try:
        for owner, group, mode, wanted in (
            *((0, 0, 0o755, 0o600), (USER, USER, 0o750, 0o600), (0, 7, 0o2775, 0o660)),
            *((0, 0, 0o777, 0o666), (0, 0, 0o1777, 0o666)),
        ):
            os.chown(open_directory, owner, group)
            open_directory.chmod(mode)
            for existing in (None, 0o644, 0o666):
                lock.unlink(missing_ok=True)
                if existing is not None:
                    lock.touch()
                    lock.chmod(existing)
                with held(TREE, str(lock), 0, print):
                    facts = lock.stat()
                    assert (facts.st_uid, facts.st_gid, mode_of(lock)) == (owner, group, wanted)
    finally:
        os.umask(before)


def test_a_group_that_the_owner_is_not_in(open_directory: Path, other_user: OtherUser) -> None:
    """The file is not opened to his own group in its place."""
    os.chown(open_directory, USER, 7)
    open_directory.chmod(0o775)
    code = (
        "import os, sys; os.umask(0); from rocm_sdk.base.file_lock import Purpose, held\n"
        "with held(Purpose('', OSError), sys.argv[1], 0, print): pass"
    )
    lock = open_directory / "lock"
    other_user.run("-c", code, lock, check=True)
    assert mode_of(lock) == 0o600
    lock.unlink()
    other_user.run("-c", code, lock, check=True, groups=(7,))
    assert (mode_of(lock), lock.stat().st_gid) == (0o660, 7)


def test_a_lock_file_that_may_be_anybodys(lock: Path) -> None:
    (lock.parent / "other").hardlink_to(lock)
    with held(TREE, str(lock), 0, print):
        assert mode_of(lock) == 0o644


def test_a_holder_that_cannot_be_seen(lock: Path, other_user: OtherUser) -> None:
    """Its process has ended, and a child of it keeps the file open: the kernel shows none."""
    code = "import os, sys\nif os.fork(): os._exit(0)\nsys.stdin.read()"
    command = [
        other_user.python,
        "-I",
        "-c",
        HOLD.replace("sys.stdin.read()", code.partition("\n")[2]),
        lock,
        "LOCK_EX",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        process.wait()
        with (
            pytest.raises(TimeoutError, match=r"another process \(/proc/locks does not show the holder\) works here"),
            held(TREE, str(lock), 1.2, print),
        ):
            raise AssertionError("it is locked")


def test_an_adoption_leaves_no_lock_file(tmp_path: Path) -> None:
    with ADOPTION._locked(tmp_path):
        (lock,) = tmp_path.iterdir()
        assert (lock.name, mode_of(lock)) == (".rocm_sdk_adoption.lock", 0o600)
    assert not [*tmp_path.iterdir()]


def test_a_directory_that_another_adoption_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ADOPTION, "_LOCK_SECONDS", 0.2)
    with (
        ADOPTION._locked(tmp_path),
        pytest.raises(
            AdoptionError, match=r"process \d+ on .* changes the installed files and is not done after 0\.2 s"
        ),
        ADOPTION._locked(tmp_path),
    ):
        raise AssertionError("it is locked")


def test_a_link_in_place_of_the_file_of_an_adoption(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    link = tmp_path / "site/.rocm_sdk_adoption.lock"
    link.symlink_to(tmp_path / "target")
    with pytest.raises(AdoptionError, match="is not a regular file"), ADOPTION._locked(tmp_path / "site"):
        raise AssertionError("it is followed")
    assert not (tmp_path / "target").exists()


def test_the_lock_of_an_earlier_version(
    open_directory: Path, other_user: OtherUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adoptions locked the directory. It is locked as well; who may only read it is not waited for."""
    with ADOPTION._locked(open_directory):
        descriptor = os.open(open_directory, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)
    begin = time.monotonic()
    with holder(other_user, open_directory), ADOPTION._locked(open_directory):
        assert time.monotonic() - begin < 30
    monkeypatch.setattr(ADOPTION, "_LOCK_SECONDS", 0.2)
    with (
        holder(other_user, open_directory, 0) as pid,
        pytest.raises(AdoptionError, match=f"process {pid} of root has locked {open_directory}"),
        ADOPTION._locked(open_directory),
    ):
        raise AssertionError("it is locked")


def test_a_cache_that_another_one_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "_LOCK_SECONDS", 0.2)
    source = debian.Source(tmp_path)
    with (
        debian._locked(source),
        pytest.raises(PackagingError, match=r"process \d+ on .* works in this cache and is not done after 0\.2 s"),
        debian._locked(source),
    ):
        raise AssertionError("it is locked")
