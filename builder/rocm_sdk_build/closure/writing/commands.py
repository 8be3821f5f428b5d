"""The commands of a closure's packages that are programs (`packages/trampoline.py`).

The commands are in `bin`, where `pip install --target` puts them. They look for the dist-info directory, whose name
changes with the version, so they are compiled again. Commands that are entry points need nothing: installers write
them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from rocm_sdk_build.base.text_files import write_text
from rocm_sdk_build.closure.source_sdk import SdkPackage
from rocm_sdk_build.inputs.rules import Script
from rocm_sdk_build.packages.trampoline import place_of, write_trampoline
from rocm_sdk_build.packages.writer import entry_point_of

from .metadata import COMMAND_GROUPS, entry_points_text, read_entry_points

DIRECTORY = "bin"


def write_commands(site: Path, package: SdkPackage, dist_info: Path, kept: Mapping[str, Script]) -> list[str]:
    """Write the programs of the package's commands that are kept; return their paths in the site.

    If there is no compiler, a command becomes an entry point of the package's module, as in packages that are made
    without a compiler.
    """
    path = dist_info / "entry_points.txt"
    points = read_entry_points(path.read_bytes(), dist_info) if path.exists() else {}
    known = {name for group in COMMAND_GROUPS for name in points.get(group, {})}
    names = {os.path.basename(row) for row in package.scripts} & kept.keys() - known
    module = package.name.replace("-", "_")
    written = []
    for name in sorted(names):
        platform = next(file.package for file in package.files.values() if file.place == kept[name].path)
        place = place_of(platform, platform.removeprefix(f"_{module}"), dist_info.name)
        if write_trampoline(site / DIRECTORY / name, kept[name], place):
            written.append(f"{DIRECTORY}/{name}")
        elif f"{module}/_cli.py" in package.files:
            points.setdefault("console_scripts", {})[name] = entry_point_of(module, name)
            write_text(path, entry_points_text(points))
    return written
