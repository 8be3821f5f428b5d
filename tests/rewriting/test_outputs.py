"""The properties of new files: rights, owners, names, and files that lie in their place."""

import base64
import csv
import errno
import hashlib
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from environments import empty_environment
from other_user import USER, OtherUser, become_possible, open_directory
from programs import completed
from sample_device_code import bundle, library, objects

from rocm_sdk import RewriteError
from rocm_sdk_build.base.input_file import ChangedInputError, open_input
from rocm_sdk_build.base.new_file import OutputRefusedError, new_file
from rocm_sdk_build.code.extract import extract_code
from rocm_sdk_build.code.rewrite import NewCode, rewrite_file
from rocm_sdk_build.code.split import CodeArchives, Place, split_file
from rocm_sdk_build.code.trees import rewrite_directory

CODE = bundle(objects("gfx1030", "gfx942", size=50_000))
KEEP = NewCode(("gfx1030",), check_loading=False)
RIGHT = "  fix: give this user the right to it, or name another place\n"
CAPABILITY = bytes.fromhex("0100000200200000000000000000000000000000")  # cap_net_raw, as setcap writes it
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "lib").mkdir(parents=True)
    library(root / "lib/libx.so", [CODE])
    (root / "lib/libx.0.bundle").unlink()  # what it was linked from
    (root / "program").write_text("#!/bin/sh\n")
    return root


# ---- rights


@is_root
def test_a_link_of_another_user_to_a_directory(tree: Path, tmp_path: Path) -> None:
    """Root's or one's own link is as good as the directory."""
    (tmp_path / "his").mkdir()
    link = tmp_path / "out"
    link.symlink_to(tmp_path / "his")
    command = [sys.executable, "-m", "rocm_sdk_build", "code", "--no-load", "--keep", "gfx1030", "--output", str(link)]
    command.append(str(tree / "lib/libx.so"))
    os.lchown(link, USER, USER)
    done = completed(command)
    assert (done.returncode, list((tmp_path / "his").iterdir())) == (1, [])
    assert f"{link}: is a link of user {USER}, who chose the directory behind it: name that" in done.stderr
    os.lchown(link, 0, 0)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert [path.name for path in (tmp_path / "his").iterdir()] == ["libx.so"]


@is_root
def test_no_special_rights_under_a_new_owner(tree: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    paths = [tree, tree / "lib", tree / "lib/libx.so", tree / "program"]
    for path in paths:
        os.chown(path, USER, USER)
    os.setxattr(tree / "program", "security.capability", CAPABILITY)
    os.setxattr(tree / "program", "user.origin", b"here")
    (tree / "program").chmod(0o6777)
    os.setxattr(tree / "program", "security.capability", CAPABILITY)
    (tree / "lib/libx.so").chmod(0o4755)
    (tree / "lib").chmod(0o3777)
    with caplog.at_level(logging.WARNING):
        rewrite_directory(str(tree), str(tmp_path / "new"), KEEP)
        rewrite_file(str(tree / "lib/libx.so"), str(tmp_path / "file"), KEEP)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").rglob("*")}
    assert modes == {"lib": 0o755, "libx.so": 0o755, "program": 0o755}
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o755
    assert os.listxattr(tmp_path / "new/program") == ["user.origin"]
    why = f"(it belongs to user {USER}, and the copy to user 0)"
    assert sorted(set(caplog.messages)) == sorted(
        f"{path}: the copy loses what the file has: {lost} {why}"
        for path, lost in (
            (tree / "lib", "set-group-ID, sticky"),
            (tree / "lib/libx.so", "set-user-ID"),
            (tree / "program", "set-user-ID, set-group-ID, capabilities"),
        )
    )


@is_root
def test_rights_of_the_same_owner_stay(tree: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As `cp -p` keeps them: the group too, and no capabilities."""
    os.chown(tree / "program", 0, USER)
    (tree / "program").chmod(0o6751)
    os.setxattr(tree / "program", "security.capability", CAPABILITY)
    (tree / "lib").chmod(0o1777)
    rewrite_directory(str(tree), str(tmp_path / "new"), KEEP)
    subprocess.run(["cp", "-rp", tree, tmp_path / "copy"], check=True)
    for name in ("program", "lib", "lib/libx.so"):
        made, copied = ((tmp_path / each / name).stat() for each in ("new", "copy"))
        assert (made.st_mode, made.st_uid, made.st_gid) == (copied.st_mode, copied.st_uid, copied.st_gid), name
        assert os.listxattr(tmp_path / "new" / name) == os.listxattr(tmp_path / "copy" / name) == []
    assert stat.S_IMODE((tmp_path / "new/program").stat().st_mode) == 0o6751
    message = f"{tree}/program: the copy loses what the file has: capabilities (as cp -p does)"
    assert caplog.messages == [message]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_a_file_that_is_no_copy_has_usual_rights(tree: Path, tmp_path: Path, umask: int, mode: int) -> None:
    """The file has the rights that the umask leaves, as every new file."""
    before = os.umask(umask)
    try:
        found = extract_code(str(tree / "lib/libx.so"), str(tmp_path / "code"))
    finally:
        os.umask(before)
    assert {stat.S_IMODE(Path(each.path).stat().st_mode) for each in found} == {mode}


@pytest.mark.always
def test_directories_that_nobody_may_write_to() -> None:
    """The directories are as in Nix's store.

    Traces of a failed run in such directories go, too.
    """
    program = (
        "import sys; from pathlib import Path; from rocm_sdk import RewriteError\n"
        "from rocm_sdk_build.code.rewrite import NewCode; from rocm_sdk_build.code.trees import rewrite_directory\n"
        "keep, refused = (NewCode((gpu,), check_loading=False) for gpu in ('gfx1030', 'gfx1200'))\n"
        "rewrite_directory(sys.argv[1], sys.argv[2], keep)\n"
        "try: rewrite_directory(sys.argv[1], sys.argv[2] + '2', refused)\n"
        "except RewriteError: pass\n"
    )
    with become_possible() as other, open_directory() as place:
        source = place / "source"
        (source / "a/b").mkdir(parents=True)
        library(source / "a/b/libx.so", [CODE])
        (source / "a/b/libx.0.bundle").unlink()
        (source / "a/b/libx.so").chmod(0o444)
        os.utime(source / "a", (1, 1))
        for path in (source / "a/b", source / "a", source):
            path.chmod(0o555)
        (place / "out").mkdir()
        os.chown(place / "out", USER, USER)
        done = other.run("-c", program, source, place / "out/new")
        assert done.returncode == 0, done.stderr
        assert [path.name for path in (place / "out").iterdir()] == ["new"]
        facts = {path.name: path.stat() for path in [place / "out/new", *(place / "out/new").rglob("*")]}
        assert {name: stat.S_IMODE(each.st_mode) for name, each in facts.items()} == {
            "new": 0o555,
            "a": 0o555,
            "b": 0o555,
            "libx.so": 0o444,
        }
        assert facts["a"].st_mtime == 1


# ---- what has the name of the output


def test_a_directory_in_which_nothing_can_be_made(tmp_path: Path) -> None:
    """The directory is named, and no file that was to be in it."""
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942"))])
    with pytest.raises(FileNotFoundError) as caught:
        rewrite_file(str(path), "/proc/new", NewCode(("gfx1030",)))
    assert caught.value.filename == "/proc"


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def make_device(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a device")
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))


def make_link(path: Path) -> None:
    path.symlink_to("elsewhere")


def make_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [make_fifo, make_socket, make_device, make_link, make_directory])
def test_an_output_that_is_no_file(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "out")
    before = (tmp_path / "out").lstat()
    path = library(tmp_path / "libx.so", [CODE])
    with CodeArchives(str(tmp_path), "x", False) as archives:
        for attempt in (
            lambda: rewrite_file(str(path), str(tmp_path / "out"), KEEP),
            lambda: split_file(str(path), str(tmp_path / "out"), Place("lib/libx.so", "x"), archives),
        ):
            with pytest.raises(OSError, match=r"it is a (device|symbolic link|directory)") as caught:
                attempt()
            assert caught.value.filename == str(tmp_path / "out")
    after = (tmp_path / "out").lstat()
    assert (after.st_ino, after.st_mode, after.st_ctime_ns) == (before.st_ino, before.st_mode, before.st_ctime_ns)
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_that_appears_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("of somebody else")
    with pytest.raises(OutputRefusedError, match="symbolic link"), new_file(str(tmp_path / "out")) as new:
        os.write(new, b"x")
        (tmp_path / "out").symlink_to("target")
    assert (tmp_path / "target").read_text() == "of somebody else"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "target"]


def test_names_that_were_planted(tmp_path: Path) -> None:
    """A name that follows from the process is known to others: containers give the same numbers again."""
    planted = [tmp_path / f".rocm-sdk-{os.getpid()}-{number}.new" for number in range(100)]
    for path in planted:
        path.symlink_to("target")
    (tmp_path / "out").write_text("before")
    with new_file(str(tmp_path / "out")) as new:
        os.write(new, b"x")
    assert (tmp_path / "out").read_text() == "x"
    assert not (tmp_path / "target").exists()
    assert sorted(tmp_path.iterdir()) == sorted([*planted, tmp_path / "out"])


def test_a_file_system_without_files_without_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(path: str, flags: int, *words: int, **places: int | None) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "not supported", path)
        return opening(path, flags, *words, **places)

    opening = os.open
    monkeypatch.setattr(os, "open", refusing)
    for content in (b"first", b"second"):
        with new_file(str(tmp_path / "out")) as new:
            os.write(new, content)
        assert (tmp_path / "out").read_bytes() == content
    with pytest.raises(ZeroDivisionError), new_file(str(tmp_path / "out")) as new:
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_output_in_the_source(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("tree/lib")
    for output in (tree / "new", tree / "lib/new", tmp_path / "link/new"):
        with pytest.raises(RewriteError, match="lies in it, and would be copied into itself"):
            rewrite_directory(str(tree), str(output), KEEP)
        assert not output.exists()


# ---- what a killed run leaves


@pytest.mark.long
def test_killed(tree: Path, tmp_path: Path) -> None:
    with (tree / "large").open("wb") as large:
        large.truncate(1 << 30)
    command = [sys.executable, "-m", "rocm_sdk_build", "code", "--no-load", "--keep", "gfx1030", str(tree)]
    out = tmp_path / "out"
    out.mkdir()
    for _ in range(2):
        with subprocess.Popen([*command, "--output", str(out)]) as run:
            deadline = time.monotonic() + 30
            while not list(out.glob("*/tree/large")) and time.monotonic() < deadline:
                time.sleep(0.001)
            run.send_signal(signal.SIGKILL)
        assert len(list(out.iterdir())) == 1, "what the run before has left is removed"
    (tree / "large").unlink()
    subprocess.run([*command, "--output", str(out)], check=True, stdout=subprocess.DEVNULL)
    assert [path.name for path in out.iterdir()] == ["tree"]


# ---- files that change


def test_a_file_that_changes(tmp_path: Path) -> None:
    path = library(tmp_path / "libx.so", [bundle(objects("gfx1030", "gfx942", size=5_000_000))])
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/libx.so").hardlink_to(path)
    (tmp_path / "tree/liby.so").write_bytes(path.read_bytes())
    (tmp_path / "out").write_text("before")
    is_done = threading.Event()

    def write() -> None:
        with path.open("r+b", buffering=0) as file:
            size = path.stat().st_size
            while not is_done.wait(0.001):
                os.pwrite(file.fileno(), b"\0", size - 100)  # as before: whenever it is read, it is sound

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(ChangedInputError, match="it changed while it was read") as caught:
            rewrite_file(str(path), str(tmp_path / "out"), KEEP)
        assert caught.value.filename == str(path)
        with pytest.raises(ChangedInputError):
            rewrite_directory(str(tmp_path / "tree"), str(tmp_path / "new"), KEEP)
    finally:
        is_done.set()
        writer.join()
    assert (tmp_path / "out").read_text() == "before"
    assert not (tmp_path / "new").exists()
    assert not list(tmp_path.glob(".rocm-sdk-*"))


# ---- RECORD


def test_what_looks_like_damage_in_a_file_that_changes(tmp_path: Path) -> None:
    path = tmp_path / "libx.so"
    path.write_bytes(b"before")
    with pytest.raises(ChangedInputError, match="it changed while it was read"), open_input(str(path)):
        path.write_bytes(b"after it")
        raise RewriteError("libx.so cannot be rewritten")
    with pytest.raises(RewriteError), open_input(str(path)):
        raise RewriteError("libx.so cannot be rewritten")


def wrong_rows(site: Path) -> list[str]:
    """Return the rows of all RECORDs below a directory that do not fit their files."""
    wrong = []
    for record in site.rglob("*.dist-info/RECORD"):
        with record.open(newline="") as file:
            for name, digest, size in csv.reader(file):
                data = (record.parent.parent / name).read_bytes()
                expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                if digest and (digest, size) != (f"sha256={expected}", str(len(data))):
                    wrong.append(f"{record}: {name}")
    return wrong


def test_every_record_of_an_environment(tmp_path: Path) -> None:
    """Below the top, with rows that lead to a rewritten file through links to files and directories."""
    environment = tmp_path / "venv"
    empty_environment(environment)
    (site,) = environment.glob("lib/python3*/site-packages")
    (site / "pkg").mkdir()
    (site / "pkg-1.0.dist-info").mkdir()
    path = library(site / "pkg/libx.so.1", [CODE])
    (site / "pkg/libx.so").symlink_to("libx.so.1")
    (site / "other").symlink_to("pkg")
    (site / "outside").symlink_to("/")
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
    names = ("pkg/libx.so.1", "pkg/libx.so", "other/libx.so", "./pkg/../other/libx.so.1", "pkg//libx.so.1")
    rows = [f"{name},sha256={digest},{path.stat().st_size}\n" for name in names]
    (site / "pkg-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n")
    (site / "pkg-1.0.dist-info/RECORD").write_text("".join([*rows, "pkg-1.0.dist-info/METADATA,,\n"]))
    assert wrong_rows(environment) == []
    rewrite_directory(str(environment), str(tmp_path / "slim"), KEEP)
    (record,) = (tmp_path / "slim").rglob("pkg-1.0.dist-info/RECORD")
    assert [row[0] for row in csv.reader(record.read_text().splitlines())] == [*names, "pkg-1.0.dist-info/METADATA"]
    assert (record.parent.parent / "pkg/libx.so.1").stat().st_size < path.stat().st_size
    assert wrong_rows(tmp_path / "slim") == []


def test_a_record_that_is_none(tree: Path, tmp_path: Path) -> None:
    (tree / "x-1.dist-info").mkdir()
    (tree / "x-1.dist-info/RECORD").write_bytes(b"a\0b,,\n")
    with pytest.raises(RewriteError, match="it is not a RECORD: it contains NUL bytes") as caught:
        rewrite_directory(str(tree), str(tmp_path / "new"), KEEP)
    assert caught.value.path == str(tree / "x-1.dist-info/RECORD")
    assert not (tmp_path / "new").exists()


def test_a_file_of_a_tree_that_may_not_be_read(other_user: OtherUser) -> None:
    """The error names the file with its directory, and nothing of the new tree is left."""
    with open_directory() as place:
        (place / "site/pkg").mkdir(parents=True)
        (place / "out").mkdir()
        (place / "out").chmod(0o777)
        file = place / "site/pkg/data"
        file.touch(0)
        words = ("code", place / "site", "--keep", "gfx1030", "--output", place / "out/slim")
        ran = other_user.run("-m", "rocm_sdk_build", *words)
        assert (ran.returncode, ran.stderr) == (1, f"rocm-sdk-build: {file}: Permission denied\n{RIGHT}")
        assert list((place / "out").iterdir()) == []
