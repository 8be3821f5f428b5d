"""Situations: refusals, lacks and limits of the system: another user, mounts, filters, limits."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from other_user import USER
from sample_machine import machine_of
from sample_site import CORE, LIBRARIES
from sdk_environment import Environment, library_of_host
from situations import HIP, METADATA, Situation, by_hand, on

_STDCXX = library_of_host("libstdc++.so.6")

# A shell in a mount namespace of its own, and one of a user who owns nothing.
MOUNTS = ("unshare", "--mount", "--propagation", "private", "bash", "-c")
OTHER_USER = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "bash", "-c")

# A shell in which the kernel refuses system calls, as the filter of a container does: numbers on x86-64.
_CALLS = {
    "prlimit64": 302,
    "memfd_create": 319,
    "unshare": 272,
    "clone3": 435,
    "ptrace": 101,
    "statx": 332,
    "close_range": 436,
}


def _filtered(*names: str) -> tuple[str, ...]:
    return (
        sys.executable,
        str(Path(__file__).with_name("filtered.py")),
        *(str(_CALLS[each]) for each in names),
        "--",
        "bash",
        "-c",
    )


def _read_only(directory: str) -> tuple[str, str]:
    return (f"mount --bind {directory} {directory}", f"mount -o remount,bind,ro {directory}")


def _another(place: str, options: str = "mode=1777") -> tuple[str, ...]:
    """Return the lines that mount an empty directory, in which the environment and the sources stay where they are."""
    kept = ("{folder}", str(Path(__file__).resolve().parents[2]))
    return (
        "mount -t tmpfs none /mnt",
        *(f"mkdir /mnt/{i}; mount --bind {path} /mnt/{i}" for i, path in enumerate(kept)),
        f"mount -t tmpfs -o {options} none {place}",
        *(
            f"case {path} in {place}/*) mkdir -p {path}; mount --bind /mnt/{i} {path};; esac"
            for i, path in enumerate(kept)
        ),
    )


def _own_directory(environment: Environment) -> None:
    path = environment.site / LIBRARIES
    os.chown(path, USER, USER)
    path.chmod(0)


def _closed_device(environment: Environment) -> None:
    environment.install("rocm-sdk-device-gfx1030==7.10.0")
    machine = machine_of(environment.root / "machine", "gfx1030")
    for path in (machine.root / "dev/kfd", machine.root / "dev/dri/renderD129"):
        path.chmod(0o660)


def _refused(what: str, says: str, breaks: Callable[[Environment], object]) -> Situation:
    """Return a situation in which another user may not read something of the installation."""
    return by_hand(f"another user, {what}", "E-FILE-007", says, breaks, shell=OTHER_USER)


# fmt: off
ROWS = (
    Situation("there is no /dev", "E-ENV-012", "/dev/null", lines=_another("/dev"), shell=MOUNTS),
    Situation("there is no /proc", "E-ENV-012", "/proc", lines=("mount -t tmpfs none /proc",), shell=MOUNTS),
    Situation("there is no /sys", "E-ENV-012", "/sys", lines=("mount -t tmpfs none /sys",), shell=MOUNTS),
    Situation("/proc hides the processes of others", None, "", lines=("mount -t proc -o hidepid=2 proc /proc",), shell=MOUNTS),
    Situation("site-packages is read-only", None, "", lines=_read_only("{site}"), shell=MOUNTS),
    Situation("site-packages is mounted noexec", "E-LIB-017", "noexec", lines=("mount --bind {site} {site}", "mount -o remount,bind,noexec {site}"), shell=MOUNTS),
    Situation("/tmp is full", "E-ENV-012", "No space left", lines=_another("/tmp", "size=4k"), shell=MOUNTS),
    Situation("/tmp is read-only", "E-ENV-012", "Read-only file system", lines=(*_another("/tmp", "size=1m"), "mount -o remount,ro /tmp"), shell=MOUNTS),
    Situation("a filter refuses namespaces, memfd_create and ptrace", None, "", shell=_filtered("memfd_create", "unshare", "ptrace")),
    Situation("a filter refuses prlimit64, statx, clone3 and close_range", None, "", shell=_filtered("prlimit64", "statx", "clone3", "close_range")),
    Situation("RLIMIT_AS, soft", "E-ENV-010", "the soft limit of the address space", lines=("export NEEDS_SPACE=1", "ulimit -S -v 1000000")),
    by_hand("RLIMIT_AS, hard", "E-ENV-011", "the address space", lines=("export NEEDS_SPACE=1", "ulimit -v 1000000")),
    Situation("limits that do no harm", None, "", lines=("ulimit -S -s 256", "ulimit -t 60 -c 0", "umask 77")),
    Situation("another user, his umask is 0777", "E-ENV-010", "the umask 0777", lines=("umask 777",), shell=OTHER_USER),
    Situation("another user, all is readable", None, "", shell=OTHER_USER),
    _refused("the libraries' directory is 0700", "_rocm_sdk_libraries", on(LIBRARIES, Path.chmod, 0o700)),
    _refused("core's directory is 0700", CORE, on(CORE, Path.chmod, 0o700)),
    _refused("HIP is 0600", "libamdhip64", on(HIP, Path.chmod, 0o600)),
    _refused("the metadata of core is 0700", "dist-info", on(METADATA["core"], Path.chmod, 0o700)),
    Situation("another user, TMPDIR is root's", "E-ENV-010", "TMPDIR makes", lines=("export TMPDIR={root}/mine",), breaks=lambda e: (e.root / "mine").mkdir(mode=0o700), shell=OTHER_USER),
    Situation("another user, his own directory has no rights", "E-FILE-007", "chmod u+rx", _own_directory, shell=OTHER_USER),
    by_hand("another user, he may not open the device of the GPU", "W-GPU-017", "add the user to that group", _closed_device, lines=("export ROCM_SDK_ROOTFS={root}/machine",), shell=OTHER_USER),
    _refused("site-packages is 0700", "", lambda e: e.site.chmod(0o700)),
    Situation("the system's libstdc++ is empty", "E-LIB-006", "libstdc++", lines=("touch {root}/empty", f"mount --bind {{root}}/empty {_STDCXX}"), shell=MOUNTS, is_tried=False),
    Situation("the system's libstdc++ is not there", "E-LIB-002", "libstdc++", lines=("mkdir {root}/o && mount -t tmpfs none {root}/o && mkdir {root}/o/upper {root}/o/work", f"mknod {{root}}/o/upper/{_STDCXX.name} c 0 0 && mknod {{root}}/o/upper/libstdc++.so.6 c 0 0", (f"mount -t overlay -o lowerdir={_STDCXX.parent},upperdir={{root}}/o/upper,workdir={{root}}/o/work" f" none {_STDCXX.parent}")), shell=MOUNTS, is_tried=False),
)
# fmt: on
