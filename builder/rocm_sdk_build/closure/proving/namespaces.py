"""The keeper, which the builder starts to run the program of a proof in a root, without privileges.

The keeper makes the root of read-only bind mounts on a tmpfs, in a mount namespace of its own. The child of the keeper
is the first process of new namespaces for processes, IPC, network and host name. The child goes into the root, gives up
all privileges, starts the program, and ends with it. Then the kernel kills all processes in the namespace. The child
also dies when the keeper dies, and the keeper when the builder dies. So no process and no mount is left.

Standard input has the plan as JSON. The keeper prints one line of JSON if this system refuses a step: {"refused":
"..."}. Calls and constants: namespaces(7), mount(2), pivot_root(2), prctl(2), capset(2), seccomp(2).
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import select
import shutil
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from rocm_sdk.base import processes
from rocm_sdk.base.namespaces import (
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_REC,
    be_private,
    become_root_of_namespace,
    call,
    die_with_parent,
    libc,
    mount,
    mounts,
    prctl,
    refuse,
    unshare,
)

CLONE_NEWUTS, CLONE_NEWIPC = 0x04000000, 0x08000000
MS_RDONLY, MS_REMOUNT = 1, 32

# Ways to have no privileges. The first three differ in the user of the program.
MAPPED = "mapped"  # for root: a user namespace whose only user is NOBODY
OWN = "own"  # for an ordinary user: a user namespace whose only user is himself
CHANGED = "changed"  # for root where user namespaces are refused: the process becomes NOBODY
COPIES = "copies"  # for root where namespaces are refused: chroot into copies, and NOBODY. Not safe.
NOBODY = 65534

_MNT_DETACH = 2
_PR_SET_DUMPABLE, _PR_CAPBSET_READ, _PR_CAPBSET_DROP = 4, 23, 24
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 22, 38
_CAPABILITY_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
# The flags of a mount stay when it becomes read-only: in a user namespace they are locked.
_MOUNT_FLAGS = {
    "nosuid": MS_NOSUID,
    "nodev": MS_NODEV,
    "noexec": MS_NOEXEC,
    "noatime": 1 << 10,
    "nodiratime": 1 << 11,
    "relatime": 1 << 21,
    "nosymfollow": 1 << 8,
}
_DEVICES = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}  # minor numbers
_MEMORY_DEVICES = 1  # the major number
_ROOT_BYTES, _TEMPORARY_BYTES = 256 << 20, 1 << 30  # bytes of tmpfs
_FILE_BYTES, _DESCRIPTORS, _PROCESSES, _PROCESSES_OF_CPU = 1 << 30, 1024, 512, 32


# ---- calls


class _Machine(NamedTuple):
    """The facts of system calls that depend on the processor.

    `first_foreign` is the first number of calls of another ABI.
    """

    audit: int
    first_foreign: int
    pivot_root: int
    socket: int
    refused: tuple[int, ...]


# Refused: add_key, request_key, keyctl (keyrings have no namespace); io_uring_setup (no filter sees what it does).
_MACHINES = {
    "x86_64": _Machine(0xC000003E, 0x40000000, 155, 41, (248, 249, 250, 425)),
    "aarch64": _Machine(0xC00000B7, 0x40000000, 41, 198, (217, 218, 219, 425)),
}


def _machine() -> _Machine:
    name = platform.machine()
    if name not in _MACHINES:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), f"system calls of {name}")
    return _MACHINES[name]


# ---- the keeper


def main() -> NoReturn:
    """Run the plan from standard input, and exit with the status of the program."""
    plan = json.load(sys.stdin)
    try:
        status = _keep(plan)
    except OSError as error:
        refuse(error)
        status = 1
    sys.stdout.flush()
    os._exit(status)


def _keep(plan: dict[str, Any]) -> int:
    way, root = plan["way"], plan["root"]
    os.umask(0o022)  # another user is to read the new files
    die_with_parent()
    if os.getppid() != plan["parent"]:
        return 1
    nobodys = _count_processes(os.geteuid() if way == OWN else NOBODY)
    if way == OWN:
        become_root_of_namespace()
    if way == COPIES:
        _fill(root, plan)
    else:
        be_private()
        _make_root(root, plan)
        # From here on the next child is the first process.
        unshare(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS, "unshare --pid --ipc --net --uts")
    life, alive = os.pipe()
    asking, question = os.pipe()
    answering, answer = os.pipe()
    child = os.fork()
    if child == 0:
        for descriptor in (alive, asking, answer):
            os.close(descriptor)
        _be_first(plan, life, question, answering, nobodys)
    for descriptor in (life, question, answering):
        os.close(descriptor)
    if os.read(asking, 1):  # only the way MAPPED asks
        Path(f"/proc/{child}/uid_map").write_text(f"0 {NOBODY} 1\n", encoding="utf-8")
        Path(f"/proc/{child}/gid_map").write_text(f"0 {NOBODY} 1\n", encoding="utf-8")
        os.write(answer, b"!")
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) & 0xFF


def _count_processes(user: int) -> int:
    """Return the number of threads that a user has already.

    Before Linux 5.14 these threads count for his limit in each user namespace.
    """
    total = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # the process has ended
            if os.stat(f"/proc/{name}").st_uid == user:
                total += len(os.listdir(f"/proc/{name}/task"))
    return total


# ---- the root


def _make_root(root: str, plan: dict[str, Any]) -> None:
    """Mount a tmpfs at `root`, with all parts except /proc, and make it read-only."""
    mount("proof", root, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=755,size={_ROOT_BYTES}")
    os.mkdir(f"{root}/proc")
    os.mkdir(f"{root}/tmp")
    mount("tmp", f"{root}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777,size={_TEMPORARY_BYTES}")
    places = [*plan["parts"], *([f"/dev/{name}", f"dev/{name}"] for name in _DEVICES)]
    for source, place in places:  # make all before the first mount: nothing is made where a mount leads
        _make_mount_point(source, f"{root}/{place}")
    for source, place in places:
        mount(source, f"{root}/{place}", "", MS_BIND | MS_REC)
    for point, flags in list(_mounts_below(root)):
        if point != f"{root}/tmp":
            _make_read_only(point, flags | (0 if point.startswith(f"{root}/dev/") else MS_NODEV))
    _write_own(root, plan)
    _make_read_only(root, MS_NODEV)


def _make_mount_point(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        with open(target, "ab"):
            pass


def _mounts_below(root: str) -> Iterator[tuple[str, int]]:
    """Yield the mount points below the root, and their flags."""
    for point, options in mounts():
        if point.startswith(f"{root}/"):
            yield point, sum(_MOUNT_FLAGS.get(name, 0) for name in options)


def _make_read_only(point: str, flags: int) -> None:
    mount("none", point, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | flags)


def _write_own(root: str, plan: dict[str, Any]) -> None:
    """Write links and small files; a place that a mount has already has its file."""
    for place, text in plan["links"]:
        if not os.path.lexists(f"{root}/{place}"):
            os.makedirs(os.path.dirname(f"{root}/{place}"), exist_ok=True)
            os.symlink(text, f"{root}/{place}")
    for place, text in plan["texts"]:
        os.makedirs(os.path.dirname(f"{root}/{place}"), exist_ok=True)
        Path(root, place).write_text(text, encoding="utf-8")
    if plan["ldconfig"] is not None:
        processes.run([plan["ldconfig"], "-r", root])


def _fill(root: str, plan: dict[str, Any]) -> None:
    """Copy all parts that would be bound, where nothing can be mounted."""
    for source, place in plan["parts"]:
        _copy(root, source, f"{root}/{place}")
    os.makedirs(f"{root}/tmp", exist_ok=True)
    os.chmod(f"{root}/tmp", 0o1777)
    os.makedirs(f"{root}/dev", exist_ok=True)
    for name, minor in _DEVICES.items():
        with suppress(PermissionError):
            os.mknod(f"{root}/dev/{name}", stat.S_IFCHR, os.makedev(_MEMORY_DEVICES, minor))
            os.chmod(f"{root}/dev/{name}", 0o666)
    if not os.path.lexists(f"{root}/dev/null"):  # a file stands for the device
        Path(root, "dev/null").touch()
        os.chmod(f"{root}/dev/null", 0o666)
    _write_own(root, plan)
    os.chmod(root, 0o755)


def _copy(root: str, source: str, target: str) -> None:
    """Copy a file or directory, and write only below the root, wherever copied links lead.

    Raise OSError if a link leads out of the root.
    """
    directory = os.path.dirname(target)
    if not f"{os.path.realpath(directory)}/".startswith(f"{root}/"):
        raise OSError(errno.ELOOP, "a link leads out of the root", target)
    os.makedirs(directory, exist_ok=True)
    if os.path.islink(target):
        os.unlink(target)
    if os.path.isdir(source):
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


# ---- the first process


def _be_first(plan: dict[str, Any], life: int, question: int, answering: int, nobodys: int) -> NoReturn:
    """Go into the root, give up all privileges, start the program, and end with it."""
    status = 1
    try:
        die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the first process gets only the signals that it handles
        _enter(plan["root"], plan["way"])
        _become_user(plan["way"], question, answering)
        os.close(question)
        prctl(_PR_SET_NO_NEW_PRIVS, 1, "prctl PR_SET_NO_NEW_PRIVS")
        _filter_calls()
        prctl(_PR_SET_DUMPABLE, 0, "prctl PR_SET_DUMPABLE")
        die_with_parent()  # a change of the user clears it
        if not select.select([life], [], [], 0)[0]:  # otherwise the keeper has died meanwhile
            status = _run_program(plan, nobodys)
    except OSError as error:
        refuse(error)
    finally:
        os._exit(status)


def _enter(root: str, way: str) -> None:
    if way != COPIES:
        unshare(CLONE_NEWNS, "unshare --mount")  # the keeper keeps its own root and /proc
        mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        mount(f"{root}/proc/sys", f"{root}/proc/sys", "", MS_BIND | MS_REC)
        _make_read_only(f"{root}/proc/sys", MS_NODEV | MS_NOEXEC)
    os.chdir(root)
    try:
        if way == COPIES:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        call("pivot_root", "syscall", _machine().pivot_root, b".", b".")
        call("umount", "umount2", b".", _MNT_DETACH)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        os.chroot(".")  # this process is in a chroot already, whose root is no mount point
    os.chdir("/")


def _become_user(way: str, question: int, answering: int) -> None:
    """Become the user without privileges; a step that needs one comes before the step that gives it up."""
    if way != OWN:
        os.setgroups([])
    if way == MAPPED:
        unshare(CLONE_NEWUSER, "unshare --user")
        os.write(question, b"?")
        if not os.read(answering, 1):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM), "uid_map")
    for number in range(_MOST_CAPABILITIES):
        if libc.prctl(_PR_CAPBSET_READ, *map(ctypes.c_ulong, (number, 0, 0, 0))) == 1:  # -1: the kernel has fewer
            prctl(_PR_CAPBSET_DROP, number, "prctl PR_CAPBSET_DROP")
    user = NOBODY if way in {CHANGED, COPIES} else 0
    if way != OWN:
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    call("capset", "capset", header, (ctypes.c_uint32 * 6)())


# ---- system calls


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction))]


_LOAD, _EQUAL, _NOT_BELOW, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little-endian
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: families that have namespaces
_MODE_FILTER = 2


def _filter_calls() -> None:
    """Refuse the calls that no namespace confines: keyrings, and sockets of other families, as to a hypervisor."""
    machine = _machine()
    refused = (_RETURN, 0, 0, _ERROR | errno.ENOSYS)
    code = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, machine.audit), refused, (_LOAD, 0, 0, _NUMBER)]
    code += [(_NOT_BELOW, 0, 1, machine.first_foreign), refused]
    for number in machine.refused:
        code += [(_EQUAL, 0, 1, number), refused]
    code += [(_EQUAL, 1, 0, machine.socket), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        code += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    code.append((_RETURN, 0, 0, _ERROR | errno.EAFNOSUPPORT))
    instructions = (_Instruction * len(code))(*(_Instruction(*each) for each in code))
    program = _Program(len(code), instructions)
    call("prctl PR_SET_SECCOMP", "prctl", _PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(program))


# ---- the program


def _run_program(plan: dict[str, Any], nobodys: int) -> int:
    """Start the program, and wait for its end; return its exit status.

    Processes that lost their parents are waited for, too.
    """
    if not plan["command"]:
        print(json.dumps({"ready": True}), flush=True)
        return 0
    child = os.fork()
    if child == 0:
        _become_program(plan["command"], plan["variables"], plan["memory"], plan["seconds"], nobodys)
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status) & 0xFF


def _become_program(command: list[str], variables: dict[str, str], memory: int, seconds: int, nobodys: int) -> NoReturn:
    """Become the program, with no terminal, no descriptors except two for output, and with limits."""
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        limits = {
            resource.RLIMIT_AS: memory,
            resource.RLIMIT_CPU: seconds,
            resource.RLIMIT_FSIZE: _FILE_BYTES,
            resource.RLIMIT_NOFILE: _DESCRIPTORS,
            resource.RLIMIT_NPROC: nobodys + _PROCESSES + _PROCESSES_OF_CPU * (os.cpu_count() or 1),
            resource.RLIMIT_CORE: 0,
        }
        for limit, value in limits.items():
            hard = resource.getrlimit(limit)[1]
            chosen = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (chosen, chosen))
        processes.become(command, {os.fsencode(key): os.fsencode(value) for key, value in variables.items()})
    except OSError as error:
        refuse(error)
    finally:
        os._exit(1)
