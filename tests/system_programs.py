"""Programs of the system that tests start.

A test that lacks one skips, and names the package. In `make test`, which installs all packages, the lack is a failure.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

# program -> Debian's package, where the two have different names. scripts/install-system-packages installs all of them.
PACKAGES = {
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "buildah": "buildah",
    "clang": "clang",
    "clang++": "clang",
    "cmocka": "libcmocka-dev",
    "c++": "g++",
    "debootstrap": "debootstrap",
    "debuginfod-find": "debuginfod",
    "eu-strip": "elfutils",
    "eu-unstrip": "elfutils",
    "fish": "fish",
    "fusermount3": "fuse3",
    "g++": "g++",
    "gdb": "gdb",
    "groff": "groff-base",
    "ld.lld": "lld",
    "llvm-objcopy": "llvm",
    "llvm-strip": "llvm",
    "mkfs.erofs": "erofs-utils",
    "mksquashfs": "squashfs-tools",
    "objcopy": "binutils",
    "objdump": "binutils",
    "patchelf": "patchelf",
    "pkgconf": "pkgconf",
    "qemu-aarch64-static": "qemu-user-static",
    "readelf": "binutils",
    "squashfuse": "squashfuse",
    "strace": "strace",
    "strip": "binutils",
    "unsquashfs": "squashfs-tools",
    "unzip": "unzip",
    "valgrind": "valgrind",
    "zsh": "zsh",
}
_ALL = os.environ.get("ROCM_SDK_TEST_PROGRAMS") == "all"


def find(program: str) -> str:
    """Return the path of a program, or end the test."""
    path = shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if path is None:
        lack(program)
    return str(path)


def need(*programs: str) -> None:
    """End the test where one of the programs is not on this system."""
    for program in programs:
        find(program)


def need_cmocka() -> None:
    """End the test where the library of the C tests is not on this system."""
    if subprocess.run([find("pkgconf"), "--exists", "cmocka"], check=False).returncode:
        lack("cmocka")


def lack(program: str) -> None:
    """End the test: the program is not on this system."""
    reason = f"needs {program}: apt-get install {PACKAGES.get(program, program)}"
    if _ALL and program in PACKAGES:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def skip_if_lacking(error: FileNotFoundError) -> None:
    """End the test if the error is the start of a program that is not on this system."""
    name = Path(os.fsdecode(error.filename or "")).name
    if name in PACKAGES and shutil.which(name) is None:
        lack(name)
