"""The process that runs a command that may change directories, and whose end takes the changes with it.

Each directory has an overlay over the same path, in a mount namespace where everything else is read-only. Changes are
written into a scratch directory: a tmpfs, or the directory itself for changes that may be large. The command and all
that it starts end with this process, and this process with its parent. An ordinary user needs a user namespace.

Standard input is the plan, as JSON. The process prints one line of JSON if this system refuses a step: {"refused":
"..."}. Calls: mount_setattr(2); options of overlayfs: Documentation/filesystems/overlayfs.rst of Linux.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import NamedTuple, NoReturn

from rocm_sdk.base import namespaces, processes

_MOUNT_SETATTR = 442  # the number of the call on all machines: Linux 5.12
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY = 1
_NEEDS_ESCAPE = str.maketrans({letter: f"\\{letter}" for letter in "\\:,"})


class Plan(NamedTuple):
    """The task of the keeper."""

    parent: int  # the process that starts it
    scratch: str  # an empty directory of ours
    room: int | None  # bytes that a tmpfs has for what changes; None: the directory itself takes it
    directories: tuple[str, ...]  # those that the command may change
    has_network: bool
    variables: dict[str, str]  # for the command, beside ours
    command: tuple[str, ...]


class _Attributes(ctypes.Structure):
    """The struct mount_attr of the kernel."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def main() -> NoReturn:
    """Run the plan on standard input. The exit status is the command's."""
    plan = Plan(**json.load(sys.stdin))
    try:
        status = _keep(plan)
    except OSError as error:
        namespaces.refuse(error)
        status = 1
    sys.stdout.flush()
    os._exit(status)


def _keep(plan: Plan) -> int:
    namespaces.die_with_parent()
    if os.getppid() != plan.parent:
        return 1
    user, group = os.geteuid(), os.getegid()
    if os.access(os.environ.get("TMPDIR", "/tmp"), os.W_OK):  # otherwise a fix may be about it
        os.environ["TMPDIR"] = f"{plan.scratch}/tmp"
    if user != 0:
        namespaces.become_root_of_namespace()
    namespaces.be_private()
    if plan.room is not None:
        namespaces.mount("changes", plan.scratch, "tmpfs", 0, f"mode=700,size={plan.room}")
    else:
        namespaces.mount(plan.scratch, plan.scratch, "", namespaces.MS_BIND)
    _set_read_only("/", _AT_RECURSIVE, is_set=True)
    _set_read_only(plan.scratch, 0, is_set=False)
    Path(plan.scratch, "tmp").mkdir()
    kind = "redirect_dir=on" if user == 0 else "userxattr"  # the former moves a directory without a copy of its files
    for number, directory in enumerate(plan.directories):
        places = {"lowerdir": directory}
        for option in ("upperdir", "workdir"):
            places[option] = f"{plan.scratch}/{option}{number}"
            os.mkdir(places[option])
        options = ",".join(f"{option}={place.translate(_NEEDS_ESCAPE)}" for option, place in places.items())
        namespaces.mount("overlay", directory, "overlay", 0, f"{options},{kind}")
    others = namespaces.CLONE_NEWPID | (0 if plan.has_network else namespaces.CLONE_NEWNET)
    namespaces.unshare(others, "unshare --pid --net")  # the next child is the first process
    life, alive = os.pipe()  # it ends with this process
    child = os.fork()
    if child == 0:
        os.close(alive)
        _be_first(plan, life, user, group)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) & 0xFF


def _set_read_only(place: str, flags: int, *, is_set: bool) -> None:
    attributes = _Attributes(*((_MOUNT_ATTR_RDONLY, 0) if is_set else (0, _MOUNT_ATTR_RDONLY)))
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    where = (ctypes.c_int(_AT_FDCWD), os.fsencode(place), ctypes.c_uint(flags))
    namespaces.call(
        f"mount_setattr {place}", "syscall", ctypes.c_long(_MOUNT_SETATTR), *where, ctypes.byref(attributes), size
    )


def _be_first(plan: Plan, life: int, user: int, group: int) -> NoReturn:
    """Run as the first process of its namespace: start the command as the user who started us, and end with it."""
    status = 1
    try:
        namespaces.die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        flags = namespaces.MS_NOSUID | namespaces.MS_NODEV | namespaces.MS_NOEXEC
        namespaces.mount("proc", "/proc", "proc", flags)
        if user != 0:
            namespaces.unshare(namespaces.CLONE_NEWUSER, "unshare --user")
            Path("/proc/self/uid_map").write_text(f"{user} 0 1\n", encoding="utf-8")
            Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
            Path("/proc/self/gid_map").write_text(f"{group} 0 1\n", encoding="utf-8")
        if select.select([life], [], [], 0)[0]:  # the keeper has died before this process would have died with it
            os._exit(status)
        status = processes.run_shown(plan.command, base={**os.environ, **plan.variables}, directory=_here())
    except OSError as error:
        namespaces.refuse(error)
    finally:
        os._exit(status)


def _here() -> str:
    """Return the user's directory by its path, which leads into an overlay.

    Messages name paths as they lie from there.
    """
    try:
        return os.getcwd()
    except OSError:  # the directory is gone
        return "/"
