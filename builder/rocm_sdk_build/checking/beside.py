"""The check that files about packages are about the present packages: metadata, digests, the pages of an index."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocm_sdk_build.files.damaged import package_damage, read_small, refusing_damage
from rocm_sdk_build.files.digest import sha256_of
from rocm_sdk_build.output.package_files import PackageFile

from .listing import BESIDE
from .problems import Problems
from .wheel_facts import WheelFacts


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
