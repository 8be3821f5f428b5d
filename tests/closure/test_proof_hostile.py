"""The proof runs code of the application: what constructors of its libraries reach, in each way to have no rights.

Each attack is tried without the proof, too: it must succeed there, or the test shows nothing.
"""

import ctypes
import fcntl
import hashlib
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hostile_code import ATTACKS, PROCESS_NAME, SUCCESS, write_attack
from other_user import USER, OtherUser, has_user_namespaces, need_user_namespaces
from own_mounts import need_mounts
from sample_closure import closure, names_in
from sample_devel import as_root
from sample_site import clean_environment

# Attacks that show only outside: nothing that the constructor sees tells whether they succeed.
_SEEN_OUTSIDE = {"outlives", "answer"}
# Attacks that are not tried without the proof: on what is there alone, on this interpreter, on the first process of
# this machine, on the programs of this terminal.
_NOT_TRIED = {"closure", "session", "python", "first-process", "process-group"}
_IN_USER_NAMESPACES = {"chroot", "mount-in-namespace"}  # attacks that need one
_LIBC = ctypes.CDLL(None)


class Outside:
    """The targets of attacks outside of the proof, with a record whether an attack reached them."""

    def __init__(self, directory: Path, block: ExitStack) -> None:
        self.directory = directory / "outside"
        self.directory.mkdir()
        self.directory.chmod(0o777)
        self.victim = block.enter_context(subprocess.Popen(["sleep", "600"], user=USER, group=USER))
        block.callback(self.victim.kill)
        self.abstract, self.named = (block.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        self.network = block.enter_context(socket.socket())
        name = f"rocm-sdk-{os.getpid()}-{id(self)}"
        self.abstract.bind(f"\0{name}")
        self.named.bind(str(self.directory / "socket"))
        (self.directory / "socket").chmod(0o777)
        self.network.bind(("127.0.0.1", 0))
        for each in (self.abstract, self.named, self.network):
            each.listen(64)
            each.setblocking(False)
        self.key = os.getpid() << 8 | 0x7F
        segment = _LIBC.shmget(self.key, 4096, 0o1666)
        block.callback(_LIBC.shmctl, segment, 0, None)
        self.inherited = (self.directory / "inherited").open("wb", buffering=0)
        block.enter_context(self.inherited)
        self.values: dict[str, Any] = {
            "OUTSIDE": str(self.directory),
            "VICTIM": self.victim.pid,
            "SOCKET": name,
            "PORT": self.network.getsockname()[1],
            "KEY": self.key,
            "PYTHON": os.path.realpath(sys.executable),
            "STDLIB": sysconfig.get_path("stdlib"),
        }

    def touched(self) -> list[str]:
        """Return the names of the targets that were reached."""
        found = [path.name for path in self.directory.iterdir() if path.name not in {"socket", "inherited"}]
        found += ["inherited"] if (self.directory / "inherited").stat().st_size else []
        found += ["victim"] if self.victim.poll() is not None else []
        for name, each in (("abstract", self.abstract), ("named", self.named), ("network", self.network)):
            try:
                each.accept()
            except BlockingIOError:
                continue
            found.append(name)
        return found + [f"process {pid}" for pid in processes(PROCESS_NAME)]


def processes(name: str) -> list[int]:
    """Return the processes of a name that have not ended.

    The first process of a machine may leave ended processes in the table for a while.
    """
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            its_name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            if its_name == name[:15] and rest.split()[0] != "Z":
                found.append(int(path.parent.name))
    return found


def commands(text: str) -> list[int]:
    """Return the processes with a text in their command, except the processes that start them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if text in command and "python" in command.split(" ")[0]:
                found.append(int(path.parent.name))
    return found


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def digests(directory: Path) -> dict[str, str]:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def outside(open_directory: Path) -> Iterator[Outside]:
    with ExitStack() as block:
        yield Outside(open_directory, block)


@pytest.fixture
def application(open_directory: Path, outside: Outside) -> Path:
    """Return a directory with a library for each attack."""
    directory = open_directory / "application"
    directory.mkdir()
    for name in ATTACKS:
        write_attack(directory, name, outside.values)
    return directory


def with_terminal(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command whose controlling terminal is a new one."""
    main, terminal = pty.openpty()

    def take() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which ends what has the terminal, when the first process dies
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    try:
        return subprocess.run(
            list(map(str, command)),
            stdin=terminal,
            capture_output=True,
            text=True,
            preexec_fn=take,
            check=False,
            timeout=300,
            **options,
        )
    finally:
        os.close(main)
        os.close(terminal)


@as_root
@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in _NOT_TRIED])
def test_the_attack_succeeds_without_the_proof(open_directory: Path, outside: Outside, name: str) -> None:
    library = write_attack(open_directory, name, outside.values)
    program = f"import ctypes; ctypes.CDLL({str(library)!r})"
    command = ["unshare", "--mount", "--uts", sys.executable, "-I", "-c", program]
    need_mounts()
    if name == "hypervisor" and not _has_sockets_of_hypervisors():
        pytest.skip("this kernel has no sockets to a hypervisor")
    if name in _IN_USER_NAMESPACES:
        need_user_namespaces()
    os.set_inheritable(outside.inherited.fileno(), True)
    done = with_terminal(command, pass_fds=[outside.inherited.fileno()])
    if name in _SEEN_OUTSIDE:
        assert done.returncode == 0, done.stderr
        assert name == "answer" or outside.touched()
    else:
        assert done.returncode == SUCCESS, (done.returncode, done.stderr)
    end = time.monotonic() + (3 if name == "outlives" else 0)  # it starts others meanwhile
    while (found := processes(PROCESS_NAME)) or time.monotonic() < end:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _has_sockets_of_hypervisors() -> bool:
    try:
        socket.socket(socket.AF_VSOCK).close()
    except OSError:
        return False
    return True


Done = subprocess.CompletedProcess[str]
Words, Variables = Sequence[str | Path], dict[str, str]
Run = Callable[[Words, Variables, Outside, OtherUser], Done]


def as_root_user(words: Words, variables: Variables, outside: Outside, _: OtherUser) -> Done:
    command = [sys.executable, "-m", "rocm_sdk_build", *words]
    return with_terminal(command, env=clean_environment() | variables, pass_fds=[outside.inherited.fileno()])


def in_a_chroot(words: Words, variables: Variables, outside: Outside, _: OtherUser, script: str = "") -> Done:
    """Run a closure in a chroot, where the kernel refuses user namespaces."""
    place = outside.directory.parent / "chroot"
    place.mkdir()
    script = script or 'mount --rbind / "$0" && exec chroot "$0" "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, place, sys.executable, "-m", "rocm_sdk_build", *words]
    return with_terminal(command, env=clean_environment() | variables, pass_fds=[outside.inherited.fileno()])


# A chroot whose root is no mount, below mounts that are shared. It says how many mounts there are outside, before and
# after.
_PLAIN = """
mount --make-rshared /
for each in /*; do
    if [ -L "$each" ]; then cp -P "$each" "$0$each"; elif [ -d "$each" ]; then mkdir "$0$each"; fi
done
for each in /*; do [ -L "$each" ] || [ ! -d "$each" ] || mount --rbind "$each" "$0$each" || exit; done
before=$(grep -c . /proc/self/mountinfo)
chroot "$0" sh -c 'grep -qE "^([^ ]+ ){4}/ " /proc/self/mountinfo && exit 3; exec "$@"' sh "$@"
status=$?
echo "mounts: $before, then $(grep -c . /proc/self/mountinfo)" >&2
exit $status
"""


def in_a_plain_chroot(words: Words, variables: Variables, outside: Outside, other: OtherUser) -> Done:
    """Run a closure in a chroot as debootstrap leaves it: nothing that the proof mounts is seen outside."""
    done = in_a_chroot(words, variables, outside, other, _PLAIN)
    _, _, told = done.stderr.rpartition("mounts: ")
    before, _, after = told.strip().partition(", then ")
    assert done.returncode < 0 or before == after != "", done.stderr
    return done


def as_other_user(words: Words, variables: Variables, outside: Outside, other: OtherUser) -> Done:
    command = [other.python, "-m", "rocm_sdk_build", *words]
    return with_terminal(
        command,
        env=clean_environment() | variables | {"HOME": "/nonexistent"},
        pass_fds=[outside.inherited.fileno()],
        user=USER,
        group=USER,
        extra_groups=[],
        cwd="/",
    )


WAYS: dict[str, Run] = {
    "user": as_other_user,
    "root": as_root_user,
    "chroot": in_a_chroot,
    "plain chroot": in_a_plain_chroot,
}


def way_of(who: str) -> str:
    """Return the way that the proof takes; skip the test where there are no namespaces for it."""
    if who == "user":
        need_user_namespaces()
        return "own"
    if who == "root":
        return "mapped" if has_user_namespaces() else "changed"
    need_mounts()
    return "changed"


def begun(who: str, words: Words, variables: Variables, outside: Outside, other: OtherUser) -> threading.Thread:
    """Run a command in the background, and return its thread."""
    thread = threading.Thread(target=WAYS[who], args=(words, variables, outside, other))
    thread.start()
    return thread


@pytest.mark.always
@as_root
@pytest.mark.parametrize("who", WAYS)
@pytest.mark.parametrize("dies", ["builder", "keeper"])
def test_no_process_outlives_a_kill(  # noqa: PLR0917
    sdk: Path, open_directory: Path, outside: Outside, other_user: OtherUser, who: str, dies: str
) -> None:
    """Of the command, or of the process that keeps the namespaces, while code of the application runs."""
    way_of(who)
    site = Path(shutil.copytree(sdk, open_directory / "site", symlinks=True))
    application, place = open_directory / "application", open_directory / "place"
    application.mkdir()
    place.mkdir()
    place.chmod(0o777)
    write_attack(application, "sleeps", outside.values)
    words = ("closure", "--library", "hipsparse", "--for", application, "--proof", "--output", place / "out")
    thread = begun(who, words, {"PYTHONPATH": str(site)}, outside, other_user)
    end = time.monotonic() + 60
    while not processes(PROCESS_NAME):
        assert time.monotonic() < end
        time.sleep(0.02)
    (builder,) = commands(f"closure --library hipsparse --for {application}")
    (keeper,) = children(builder)
    (first,) = children(keeper)  # in the namespace
    os.kill(builder if dies == "builder" else keeper, signal.SIGKILL)
    while processes(PROCESS_NAME) or any(Path(f"/proc/{each}").exists() for each in (keeper, first)):
        assert time.monotonic() < end
        time.sleep(0.02)
    thread.join()


@pytest.mark.always
@as_root
@pytest.mark.parametrize("who", WAYS)
def test_attacks_of_constructors(  # noqa: PLR0917
    sdk: Path, open_directory: Path, application: Path, outside: Outside, other_user: OtherUser, who: str
) -> None:
    """None of them reaches anything, and the closure is what it is without a proof."""
    way = way_of(who)
    site = Path(shutil.copytree(sdk, open_directory / "site", symlinks=True))
    place = open_directory / "place"
    place.mkdir()
    place.chmod(0o777)
    application.chmod(0o777)
    os.set_inheritable(outside.inherited.fileno(), True)
    before = digests(application)
    words = ("closure", "--library", "hipsparse", "--for", application, "--gpu", "gfx1030")
    done = WAYS[who](
        (*words, "--proof", "--json", "--output", place / "out"), {"PYTHONPATH": str(site)}, outside, other_user
    )
    assert done.returncode == 0, done.stderr
    assert f"the proof runs code of what you name: {application}" in done.stderr.splitlines()[0]
    proof = json.loads(done.stdout)["proof"]
    assert proof["way"] == way
    assert sorted(map(os.path.basename, proof["files"])) == sorted(f"lib{name}.so" for name in ATTACKS)
    time.sleep(0.2)
    assert outside.touched() == []
    assert digests(application) == before
    closure(site, *words[1:], "--no-proof", "--output", place / "whole")
    assert names_in(place / "out") == names_in(place / "whole")
    assert list(digests(place / "out").values()) == list(digests(place / "whole").values())


def without_namespaces(words: Words, variables: Variables, outside: Outside, _: OtherUser) -> Done:
    """Run a closure as root of a container, which may not mount."""
    command = ["setpriv", "--bounding-set", "-sys_admin", sys.executable, "-m", "rocm_sdk_build", *words]
    return with_terminal(command, env=clean_environment() | variables, pass_fds=[outside.inherited.fileno()])


def in_a_chroot_as_other_user(words: Words, variables: Variables, outside: Outside, other: OtherUser) -> Done:
    need_mounts()
    change = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", other.python, "-m")
    place = outside.directory.parent / "chroot"
    place.mkdir()
    script = 'mount --rbind / "$0" && exec chroot "$0" "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, place, *change, "rocm_sdk_build", *words]
    return with_terminal(command, env=clean_environment() | variables, cwd="/")


def with_masked_proc(words: Words, variables: Variables, _: Outside, other: OtherUser) -> Done:
    """Run a closure with a masked /proc, as containers mask it."""
    need_mounts()
    change = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", other.python, "-m")
    script = 'mount -t tmpfs masked /proc/irq && exec "$0" "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, *change, "rocm_sdk_build", *words]
    return with_terminal(command, env=clean_environment() | variables, cwd="/")


REFUSED: dict[str, Run] = {
    "root without CAP_SYS_ADMIN": without_namespaces,
    "user in a chroot": in_a_chroot_as_other_user,
    "user with a masked /proc": with_masked_proc,
}


@as_root
@pytest.mark.parametrize("who", REFUSED)
def test_where_nothing_takes_the_rights(
    sdk: Path, open_directory: Path, outside: Outside, other_user: OtherUser, who: str
) -> None:
    """The proof is refused before anything is written, and nothing is left."""
    site = Path(shutil.copytree(sdk, open_directory / "site", symlinks=True))
    place = open_directory / "place"
    place.mkdir()
    place.chmod(0o777)
    words = ("closure", "--library", "hipsparse", "--gpu", "gfx1030", "--output", place / "out")
    done = REFUSED[who](words, {"PYTHONPATH": str(site)}, outside, other_user)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "this system gives no namespaces to run its code in without privileges (" in done.stderr
    assert "Operation not permitted" in done.stderr
    assert ("--proof=unsafe" in done.stderr) == who.startswith("root")
    assert list(place.iterdir()) == []


@as_root
def test_a_plain_chroot_without_proc(sdk: Path, outside: Outside, other_user: OtherUser) -> None:
    """The proof mounts over nothing else: a mount over a shared one would appear outside."""
    need_mounts()
    script = _PLAIN.replace("before=", 'umount -l "$0/proc"\nbefore=')
    words = ("closure", "--library", "hipsparse", "--gpu", "gfx1030", "--output", outside.directory / "out")
    done = in_a_chroot(words, {"PYTHONPATH": str(sdk)}, outside, other_user, script)
    assert "(mount /: Invalid argument (a chroot, in which /proc is no mount))" in done.stderr
    assert done.returncode == 1


@pytest.mark.slow
@as_root
def test_the_unsafe_proof(sdk: Path, open_directory: Path, outside: Outside, other_user: OtherUser) -> None:
    """The unsafe proof runs in copies: things that belong to root are out of its reach."""
    site = Path(shutil.copytree(sdk, open_directory / "site", symlinks=True))
    outside.directory.chmod(0o755)
    application = open_directory / "application"
    application.mkdir()
    for name in ("file", "own-file", "neighbour", "descriptor", "terminal", "limit", "user"):
        write_attack(application, name, outside.values)
    os.set_inheritable(outside.inherited.fileno(), True)
    before = digests(application)
    words = ("closure", "--library", "hipsparse", "--for", application, "--gpu", "gfx1030", "--proof=unsafe")
    output = open_directory / "out"
    done = without_namespaces((*words, "--output", output), {"PYTHONPATH": str(site)}, outside, other_user)
    assert done.returncode == 0, done.stderr
    assert (
        "not tried: without privileges: the code ran as user 65534 in a chroot without namespaces (--proof=unsafe)"
        in done.stdout
    )
    assert outside.touched() == []
    assert digests(application) == before
    assert [path.name for path in open_directory.iterdir() if path.name.startswith(".")] == []
