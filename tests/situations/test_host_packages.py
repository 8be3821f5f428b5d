"""Libraries of the system that are missing: the package that has them, on the releases that have such a package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from own_mounts import need_mounts
from sample_site import clean_environment

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts another os-release")

# A library, a release, and the package there; "": no package has it any more.
RELEASES = """\
libxml2.so.2      ubuntu 25.04 libxml2
libxml2.so.2      ubuntu 25.10
libxml2.so.2      debian 13    libxml2
libxml2.so.2      debian 14
libmpi_cxx.so.40  ubuntu 24.04 libopenmpi3
libmpi_cxx.so.40  ubuntu 26.04
libmpi_cxx.so.40  debian 12    libopenmpi3
libmpi_cxx.so.40  debian 13
libmpi_cxx.so.40  debian -
libz.so.1         debian -     zlib1g
"""


PROGRAM = """
import sys
from rocm_sdk._native import missing_library
from rocm_sdk.problems import problem
name = sys.argv[1]
print(problem("E-LIB-002", "/x/libuser.so", needing="libuser.so", **missing_library(name, False)[2]).fix)
"""


def fix_of(tmp_path: Path, name: str, system: str, version: str) -> str:
    """Return the fix for a library that nothing here has, on a release of a system."""
    need_mounts()
    release = tmp_path / "os-release"
    release.write_text(f"ID={system}\n" + (f'VERSION_ID="{version}"\n' if version != "-" else ""))
    script = f'mount --bind "{release}" "$(readlink -f /etc/os-release)" && exec "$0" -c "$1" {name}'
    command = ["unshare", "--mount", "sh", "-c", script, sys.executable, PROGRAM]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.mark.parametrize("row", RELEASES.splitlines())
def test_a_package_of_this_release(tmp_path: Path, row: str) -> None:
    name, system, version, *package = row.split(maxsplit=3)
    fix = fix_of(tmp_path, name, system, version)
    gone = f"Take a build of libuser.so for this release of the system  # no package of it has {name}"
    assert fix == (f"apt-get install {package[0]}" if package else gone)


@pytest.mark.parametrize("answer", ["", "libnobody3"])
def test_a_search_that_finds_nothing_fails(tmp_path: Path, answer: str) -> None:
    """apt-get itself succeeds without a name."""
    found = f"echo {answer}" if answer else "exit 0"
    programs = {"apt-file": found, "apt-get": '[ $# = 1 ] || [ "$*" = "install libnobody3" ]'}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    fix = fix_of(tmp_path, "libnobody.so.3", "debian", "12")
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert (subprocess.run(["sh", "-c", fix], env=variables, check=False).returncode == 0) is bool(answer)
