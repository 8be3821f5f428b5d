"""The check that a directory has all packages of an SDK.

The packages must state the same facts, be whole, and work when they are installed.

The check is the counterpart of `index`, which writes pages for any packages: here, packages of several machines come
together for the first time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk_build.base.damaged import package_damage, read_small, refusing_damage
from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.base.scratch import scratch_directory
from rocm_sdk_build.output.package_files import PackageFile
from rocm_sdk_build.output.trial_installation import read_back
from rocm_sdk_build.packages.assignment import LEFT_OUT, LeftOut, read_left_out

from .comparison import compare
from .installability import Installation, Opening
from .package_list import BESIDE, LOADER, list_packages
from .problems import Problem, Problems, again
from .wheel_facts import WheelFacts, read_facts


class Checked(NamedTuple):
    """The answer about a directory."""

    packages: tuple[PackageFile, ...]
    tested: tuple[tuple[str, ...], ...]  # short names of packages that were installed and tested together
    problems: tuple[Problem, ...]
    openings: tuple[Opening, ...] = ()
    left_out: tuple[LeftOut, ...] = ()  # artifacts with files in no package, as the build of the packages has listed
    compared: tuple[str, ...] = ()  # by what the packages were compared, in words

    @property
    def versions(self) -> list[str]:
        """The versions of the packages; several are a problem."""
        return sorted({each.version for each in self.packages if each.is_of_sdk})

    @property
    def has_loader(self) -> bool:
        """True if the loader is there, which the selector requires: another index may have it."""
        return any(each.project == LOADER for each in self.packages)


def check(directory: Path, scratch: Path) -> Checked:
    """Check all packages in a directory and directly below it.

    `scratch` is the directory in which the packages are installed for a test. If a fault is found before, the wheels
    are read back, and nothing is installed.
    """
    problems, tested = Problems(), list[tuple[str, ...]]()
    openings: dict[Opening, None] = {}
    packages = list_packages(directory, problems)
    facts: dict[Path, WheelFacts] = {}
    if packages:
        for package in packages:
            if package.is_wheel and package.is_of_sdk:
                with problems.of(package.path, again(package.project)):
                    facts[package.path] = read_facts(package)
        groups = compare(directory, packages, facts, problems)
        compare_beside(directory, packages, facts, problems)
        if problems:
            for package in packages:
                if package.path in facts:
                    with problems.of(package.path, again(package.project)):
                        read_back(package.path)
        else:
            for package in packages:
                if package.debug_of is not None:  # no program loads the package, so it is not installed
                    with problems.of(package.path, again(package.project)):
                        read_back(package.path)
            with scratch_directory(scratch) as place:
                for number, group in enumerate(groups):
                    installation = Installation(group, place / f"site{number}", problems)
                    installation.run()
                    tested += installation.tested
                    openings |= dict.fromkeys(installation.openings)
    compared = ["requirements", "RECORD"]
    compared += ["artifacts"] if any(each.inputs for each in facts.values()) else []
    compared += ["the development tree"] if any("devel" in names for names in tested) else []
    found = Checked(tuple(packages), tuple(tested), (), tuple(openings), compared=tuple(compared))
    with problems.of(directory / LEFT_OUT, "remove it"):
        found = found._replace(left_out=tuple(read_left_out(directory, found.versions)))
    return found._replace(problems=tuple(problems))


def compare_beside(
    directory: Path, packages: Sequence[PackageFile], facts: Mapping[Path, WheelFacts], problems: Problems
) -> None:
    """Compare the files beside packages, and the pages of an earlier run of `index`, with the packages."""
    for path in (each.path for each in packages):
        metadata, digest = (path.with_name(f"{path.name}{ending}") for ending in BESIDE)
        if metadata.is_file() and path in facts:
            with problems.of(metadata):
                if _small(metadata) != facts[path].metadata:
                    problems.tell(metadata, "is not the METADATA of its wheel", f"rocm-sdk-build index {path.parent}")
        if digest.is_file():
            with problems.of(digest):
                wanted = (_small(digest).split() or [b""])[0].decode("ascii", errors="replace").lower()
                if wanted != sha256_of(path).hexdigest():
                    problems.tell(path, f"is not the file that {digest.name} is about", "get or make the package again")
    for place in dict.fromkeys((directory, *(each.path.parent for each in packages))):
        if os.path.lexists(place / "simple"):
            with problems.of(place / "simple", f"rocm-sdk-build index {place}"):
                _compare_pages(place, packages, problems)


def _compare_pages(directory: Path, packages: Sequence[PackageFile], problems: Problems) -> None:
    simple = directory / "simple"
    if simple.is_symlink() or not simple.is_dir():
        problems.tell(simple, "is not a directory that rocm-sdk-build index has written", "remove it")
        return
    listed: dict[str, str] = {}
    for page in sorted(simple.glob("*/index.json")):
        with refusing_damage(package_damage(page)):
            document = json.loads(_small(page))
            listed |= {str(each["filename"]): str(each["hashes"]["sha256"]) for each in document["files"]}
    for path in (each.path for each in packages):
        if path.is_relative_to(directory) and listed.get(path.name) != sha256_of(path).hexdigest():
            what = f"is not the file of this name that {simple} lists"
            problems.tell(path, what, f"rocm-sdk-build index {directory}")


def _small(path: Path) -> bytes:
    with path.open("rb") as file, refusing_damage(package_damage(path)):
        return read_small(file)
