"""A wheel that is to be made: its package, its input, and its tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.base.processes import find_program
from rocm_sdk_build.code.patchelf import which_patchelf
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.original_bytes import Rest
from rocm_sdk_build.inputs.catalog import Artifact

from .development import DevelEntry
from .platform_tag import Needs, machine_of
from .staging import Package

_NO_FILES: Mapping[str, Path] = {}
_NO_RESTS: Mapping[str, Rest] = {}
_NO_SCRIPTS: Mapping[str, str] = {}


class Making(NamedTuple):
    """A wheel that is to be made."""

    package: Package
    name: str  # name of the wheel without its tag
    tag: str
    needs: Needs
    sources: Sequence[Path]  # the files of the package
    facts: object  # facts that decide on the content beside files; repr() shows them
    stage: Callable[[Path], Contents]  # writes the own files of the package to a new directory
    licences: Mapping[str, Path]
    directory: str = ""  # directory below `dist`
    changed: Sequence[Path] = ()  # files of which the package has copies
    programs: int = 0  # small programs that are compiled
    artifacts: Sequence[Artifact] = ()  # artifacts from which the package has files
    tools: Sequence[Path] = ()  # programs that make its files, beside `making_tools`
    compression: str = "none"  # of its development tree: a key of DEVEL_ARCHIVES

    @property
    def file(self) -> str:
        """The path of the wheel below `dist`."""
        return f"{self.directory}/{self.name}-{self.tag}.whl".removeprefix("/")

    @property
    def input_files(self) -> Iterator[Path]:
        """The files whose digests the package has, also files that the package itself does not have."""
        return (entry.source for each in self.artifacts for entry in each.entries if entry.kind == "file")

    def in_wheel(self, info: str) -> dict[str, Path]:
        """Return the licence files by their names in the wheel."""
        return {f"{info}/licenses/{path}": source for path, source in self.licences.items()}


class Contents(NamedTuple):
    """The content that a wheel gets beside the files in its staging directory."""

    unchanged: Mapping[str, Path] = _NO_FILES
    rests: Mapping[str, Rest] = _NO_RESTS
    entry_points: Mapping[str, str] = _NO_SCRIPTS
    development: list[DevelEntry] | None = None


def check_processors(wheel: str, site: Path, needs: Needs) -> None:
    """Raise PackagingError if a program compiled for a package is for another processor than the package's files."""
    for path in sorted(site.rglob("*")):
        machine = machine_of(path) if path.is_file() else None
        if machine is not None and needs.machines and machine not in needs.machines:
            raise PackagingError(
                f"{wheel}: {path.name} is compiled for {machine}, the package is for {', '.join(needs.machines)}",
                "set CC to a compiler for that processor",
            )


def making_tools() -> list[Path]:
    """Return the programs that make files of wheels."""
    found = (find_program(os.environ.get("CC", "cc")), which_patchelf())
    return [Path(path) for path in found if path is not None]
