"""The own files of a package, staged as pip would install them, in a new directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rocm_sdk_build.files.text_files import write_text
from rocm_sdk_build.inputs.rules import Script
from rocm_sdk_build.packages import staging
from rocm_sdk_build.packages.absent_libraries import FACTS, FACTS_OF_LIBRARIES, facts_text
from rocm_sdk_build.packages.debug_files import DebugFiles
from rocm_sdk_build.packages.development import DevelEntry
from rocm_sdk_build.packages.dist_info import SdkFacts
from rocm_sdk_build.packages.making import Contents
from rocm_sdk_build.packages.population import Population
from rocm_sdk_build.packages.staging import Changes, Package, write_pure_module, write_scripts


def stage_runtime(
    package: Package,
    population: Population,
    scripts: Sequence[Script],
    sdk: SdkFacts,
    site: Path,
    *,
    absent: list[str],
    changes: Changes,
) -> Contents:
    """Stage the files of a runtime or device package, and its commands; return the content of the package.

    `absent` are the libraries that the package does not have.
    """
    staged = staging.stage_runtime(package, population, sdk, site, changes)
    facts = staged.unchanged.pop(f"{package.platform_directory}/{FACTS}", None)
    if facts is not None:
        write_text(site / f"{package.platform_directory}/{FACTS}", facts_text(facts, absent))
    elif absent and package.logical_name == "libraries":
        write_text(site / f"{package.platform_directory}/{FACTS_OF_LIBRARIES}", facts_text(None, absent))
    if not package.pure_module or not scripts:
        return Contents(unchanged=staged.unchanged, rests=staged.rests)
    entry_points = write_scripts(package, population, scripts, sdk, site)
    return Contents(unchanged=staged.unchanged, rests=staged.rests, entry_points=entry_points)


def stage_development(package: Package, entries: list[DevelEntry], sdk: SdkFacts, site: Path) -> Contents:
    """Stage the module of the development package; return the content of the package."""
    write_pure_module(package, sdk, site)
    return Contents(development=entries)


def stage_debug(package: Package, debug: DebugFiles, site: Path) -> Contents:
    """Stage the debug information of a package's files; return the content of the debug package."""
    site.mkdir()
    return Contents(unchanged=debug.members(str(package.platform_directory)))
