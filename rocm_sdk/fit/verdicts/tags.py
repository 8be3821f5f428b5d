"""Whether a wheel's name fits this Python and this system. Source: the platform compatibility tags of PyPA."""

from __future__ import annotations

import os
import platform
import re
import sys
from contextlib import suppress

from rocm_sdk._native import inspect_library
from rocm_sdk.base.glibc import glibc_version, numbers_of
from rocm_sdk.errors import RocmSdkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"[^-]+-[^-]+(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
_MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)")
_OLD = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}


def misfit(path: str) -> str | None:
    """Return why the wheel cannot be installed here; None if it can."""
    found = _NAME.fullmatch(os.path.basename(path))
    if found is None:
        return "its name does not have the form of a wheel: NAME-VERSION-PYTHON-ABI-PLATFORM.whl"
    pythons, abis = found["python"].split("."), found["abi"].split(".")
    if not any(_fits_python(tag, abi) for tag in pythons for abi in abis):
        here = f"cp{sys.version_info.major}{sys.version_info.minor}"
        return f"it is for Python {found['python']} ({found['abi']}), this is {here}"
    has_no_abi = "none" in abis  # without it, a platform is named
    if not any(_fits_platform(tag, has_no_abi=has_no_abi) for tag in found["platform"].split(".")):
        return f"it is for {found['platform']}, this is {_here()}"
    return None


def broken_glibc(tag: str, files: Iterable[str]) -> str | None:
    """Return words for a file that needs a newer glibc than a wheel's tag promises; None if none does."""
    promised = [_promised(each) for each in tag.rpartition("-")[2].split(".")]
    if not promised or None in promised:
        return None
    for path in files:
        with suppress(RocmSdkError):
            newest = inspect_library(path).newest_glibc
            if newest is not None and numbers_of(newest) > max(filter(None, promised)):
                return f"{os.path.basename(path)} needs glibc {newest}, and {tag} is for an older one"
    return None


def _promised(tag: str) -> tuple[int, int] | None:
    """Return the version of glibc that a platform tag is for; None for other tags."""
    if found := _MANYLINUX.fullmatch(tag):
        return int(found[1]), int(found[2])
    return _OLD.get(tag.partition("_")[0])


def promises_code(tag: str) -> bool:
    """Return whether a tag is that of a wheel with compiled modules: "cp311-cp311-linux_x86_64"."""
    parts = tag.split("-")
    return len(parts) == 3 and parts[1] != "none"


def _fits_python(tag: str, abi: str) -> bool:
    major, minor = sys.version_info.major, sys.version_info.minor
    if tag.startswith(f"py{major}"):  # of this version, or an older one
        return abi == "none" and (not tag[3:] or (tag[3:].isdecimal() and int(tag[3:]) <= minor))
    if sys.implementation.name != "cpython" or not tag.startswith(f"cp{major}") or not tag[3:].isdecimal():
        return False
    is_free_threaded = "t" in getattr(sys, "abiflags", "")
    if abi == "abi3":
        return int(tag[3:]) <= minor and not is_free_threaded
    return int(tag[3:]) == minor and abi in ("none", f"{tag}{'t' if is_free_threaded else ''}")


def _fits_platform(tag: str, *, has_no_abi: bool) -> bool:
    machine = platform.machine()
    if tag == "any":
        return has_no_abi
    if tag == f"linux_{machine}":
        return True
    version = _promised(tag)
    return version is not None and tag.endswith(f"_{machine}") and version <= numbers_of(glibc_version())


def _here() -> str:
    version = glibc_version()
    return f"{platform.machine()} {f'with glibc {version}' if version else 'without glibc'}"
