"""Lays an SDK out as pip would install it: a directory like site-packages, from which wheels are then written.

Libraries that need no change are hard links to the unpacked packages: the tree of shape `none` costs no disk.
"""

from __future__ import annotations

import os
import shutil
from enum import Enum
from pathlib import Path, PurePosixPath

from . import executable_stack
from .development_archive import write_archive
from .dist_info import facts_of_targets, json_text, module_text, python_text
from .offload_targets import in_hardware_order, read_offload_targets
from .patchelf import write_with_search_path
from .plan import PlannedLibrary, SdkPlan
from .sdk_rules import CORE_SEARCH_DIRECTORIES, DEVELOPMENT_ARCHIVE, RUNTIME_WHEELS, WHEELS, Wheel
from .text_files import write_text
from .wheels import wheel_tag, write_record

DIST_INFO_JSON = "share/therock/dist_info.json"


class Shape(Enum):
    """How libraries find each other: not at all, through DT_RPATH (as AMD's wheels), or through DT_RUNPATH."""

    NONE = "none"
    RPATH = "rpath"
    RUNPATH = "runpath"


def write_site_tree(plan: SdkPlan, shape: Shape, site: Path, *, keeps_stack: bool = False) -> str:
    """Writes all files of all wheels of the plan, dist-info and RECORD too, into the new directory `site`.

    Returns what a user is to be told of it.

    keeps_stack: libraries that ask for an executable stack by mistake stay as they are.
    """
    found = ((str(library.site_path), library.found) for library in plan.libraries)
    flagged = {place: library.path for place, library in found if library.facts.executable_stack}
    decision = executable_stack.decide(flagged, keeps_stack)
    for library in plan.libraries:
        _write_library(library, shape, site / library.site_path, str(library.site_path) in decision.cleared)
    targets = _device_targets(plan)
    core = WHEELS["core"].platform_directory
    write_text(site / core / DIST_INFO_JSON, json_text(targets, plan.absent_libraries))
    for name in RUNTIME_WHEELS:
        write_text(site / WHEELS[name].platform_directory / "__init__.py", "")
    for wheel in WHEELS.values():
        module = site / wheel.pure_module
        write_text(module / "__init__.py", module_text(wheel.summary))
        write_text(module / "_dist_info.py", python_text(wheel.logical_name, facts_of_targets(plan.version, targets)))
    devel = WHEELS["devel"]
    write_archive(plan.development, devel.platform_directory, site / devel.pure_module / DEVELOPMENT_ARCHIVE)
    for wheel in WHEELS.values():
        _write_dist_info(site, wheel, plan)
    return decision.told


def dist_info_name(wheel: Wheel, version: str) -> str:
    """Name of the wheel's dist-info directory."""
    return f"{wheel.pure_module}-{version}.dist-info"


def search_path(library: PlannedLibrary) -> list[str]:
    """Entries of the library's RPATH or RUNPATH: those it has, its own directory, those of its wheel."""
    facts = library.found.facts
    up = PurePosixPath(*[".."] * len(library.site_path.parent.parts))
    core = up / WHEELS["core"].platform_directory
    entries = [entry for entry in (facts.rpath or facts.runpath).split(":") if entry]
    entries += ["$ORIGIN", *(f"$ORIGIN/{core / directory}" for directory in CORE_SEARCH_DIRECTORIES[library.wheel])]
    return list(dict.fromkeys(entries))


def _write_library(library: PlannedLibrary, shape: Shape, target: Path, without_stack: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if shape is not Shape.NONE:
        write_with_search_path(library.found.path, target, search_path(library), force_rpath=shape is Shape.RPATH)
    elif without_stack:
        shutil.copy2(library.found.path, target)
    else:
        os.link(library.found.path, target)
    if without_stack:
        executable_stack.clear(target)


def _device_targets(plan: SdkPlan) -> list[str]:
    """The GPU targets that every library with device code supports."""
    supported = [targets for library in plan.libraries if (targets := read_offload_targets(library.found.path))]
    return in_hardware_order(frozenset.intersection(*supported) if supported else frozenset())


def _write_dist_info(site: Path, wheel: Wheel, plan: SdkPlan) -> None:
    directory = site / dist_info_name(wheel, plan.version)
    write_text(
        directory / "METADATA",
        f"Metadata-Version: 2.1\nName: {wheel.distribution}\nVersion: {plan.version}\nSummary: {wheel.summary}\n",
    )
    # Purelib, although the files are for one machine: core and libraries find each other as siblings in one directory.
    write_text(
        directory / "WHEEL",
        f"Wheel-Version: 1.0\nGenerator: rocm_sdk_build\nRoot-Is-Purelib: true\nTag: {wheel_tag()}\n",
    )
    for package, file in plan.licenses.get(wheel.logical_name, {}).items():
        target = directory / "licenses" / package / "copyright"
        target.parent.mkdir(parents=True)
        shutil.copyfile(file, target)
    files = [
        path
        for top in (wheel.pure_module, wheel.platform_directory, directory.name)
        for path in (site / top).rglob("*")
    ]
    write_record(site, directory / "RECORD", sorted(path for path in files if path.is_file()))
