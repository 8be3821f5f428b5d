"""The compilers that are not AMD's: where they are, and the flags with which they use a development tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from rocm_sdk.base.processes import find_program, search_path

from .named_files import BITCODE


def hip_flags(root: str, targets: Iterable[str]) -> list[str]:
    """Return the flags with which a clang compiles HIP against the tree at `root`, for targets such as gfx1030."""
    flags = [f"--rocm-path={root}"]
    if (bitcode := device_libraries(root)) is not None:
        flags.append(f"--rocm-device-lib-path={bitcode}")
    return [*flags, *(f"--offload-arch={target}" for target in targets)]


def device_libraries(root: str) -> str | None:
    """Return the directory of the tree's device libraries (bitcode); None if it has none."""
    directories = (f"{root}/{directory}" for directory in BITCODE.directories)
    return next((directory for directory in directories if os.path.isdir(directory)), None)


def has_bitcode(root: str, target: str) -> bool:
    """Return whether the device libraries of a tree support a target: for gfx1030, oclc_isa_version_1030.bc."""
    bitcode = device_libraries(root)
    return bitcode is not None and os.path.exists(f"{bitcode}/oclc_isa_version_{target.removeprefix('gfx')}.bc")


def driver_name(name: str) -> str:
    """Return the file name of the C++ driver that belongs to `clang`, `clang-19` or the path of such a program."""
    base = os.path.basename(name)
    return base if "++" in base else base.replace("clang", "clang++", 1)


def find_driver(name: str) -> str | None:
    """Return the path of the C++ driver that belongs to a clang; None if there is none."""
    return find_program(os.path.join(os.path.dirname(name), driver_name(name)))


def directory_for_hipcc(driver: str) -> str | None:
    """Return the directory in which hipcc finds this driver; None if that has another `clang++`.

    hipcc starts `clang++`.
    """
    real = os.path.realpath(driver)
    directory = os.path.dirname(real)
    return directory if os.path.realpath(f"{directory}/clang++") == real else None


def find_drivers() -> list[str]:
    """Return the paths of clang's C++ drivers in PATH: `clang++`, then drivers with a version, the highest first."""
    versions = set()
    for directory in search_path():
        names = os.listdir(directory) if os.path.isdir(directory) else []
        versions |= {int(match[1]) for name in names if (match := re.fullmatch(r"clang\+\+-([0-9]{1,4})", name))}
    clangs = ("clang", *(f"clang-{version}" for version in sorted(versions, reverse=True)))
    drivers: dict[str, str] = {}
    for path in filter(None, map(find_driver, clangs)):
        drivers.setdefault(os.path.realpath(path), path)
    return list(drivers.values())
