"""The answers of `rocm-sdk gpus --arch` beside rocm_agent_enumerator, an independent judge that Debian packages.

Both programs look where the kernel has its files, in a mount namespace with a tree of ours there.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from own_mounts import need_mounts
from programs import completed
from sample_machine import Machine, machine_of
from sample_site import clean_environment

from rocm_sdk_build.inputs.apt import Apt

BUILD = Path(__file__).resolve().parents[2] / "build"
SCRIPT = Path(sysconfig.get_path("scripts"), "rocm-sdk")

_MOUNT = """
set -e
mount -t tmpfs none /sys
mkdir -p /sys/class /sys/devices/virtual
cp -a "$1/sys/class/kfd" /sys/class/kfd
cp -a "$1/sys/module" /sys/module
ln -s /sys/class/kfd /sys/devices/virtual/kfd
shift
exec "$@"
"""


def in_place(machine: Machine, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the machine's files where the kernel has them."""
    return completed(
        ["unshare", "-m", "sh", "-c", _MOUNT, "sh", str(machine.root), *command], env=clean_environment(), timeout=120
    )


@pytest.fixture(scope="session")
def enumerator() -> Path:
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not on this system: there is no package rocminfo to take the judge from")
    apt = Apt(BUILD / "agent-enumerator")
    (package,) = (package for package in apt.closure(["rocminfo"], ()) if package.name == "rocminfo")
    return apt.unpack([package])[package] / "usr/bin/rocm_agent_enumerator"


@pytest.mark.slow
def test_both_name_the_same_targets(tmp_path: Path, enumerator: Path) -> None:
    machine = machine_of(tmp_path / "machine")
    machine.cpu(1)
    machine.gpu(2, "gfx90a")
    machine.gpu(3, "gfx1100")
    machine.gpu(4, "gfx1036")
    need_mounts()
    ours = in_place(machine, sys.executable, str(SCRIPT), "gpus", "--arch")
    assert (ours.returncode, ours.stdout) == (0, "gfx90a\ngfx1100\ngfx1036\n")
    judged = in_place(machine, sys.executable, str(enumerator))
    names = [line for line in judged.stdout.split() if line != "gfx000"]  # what versions of 2022 call the CPU
    assert names == ours.stdout.split(), judged.stderr
