"""Writes the closure as a directory like site-packages: files with the GPU code that stays, links, dist-info."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.errors import RocmSdkError
from rocm_sdk_build.code.rewrite import Wish
from rocm_sdk_build.code.tree_file import write_tree_file
from rocm_sdk_build.errors import PackagingError
from rocm_sdk_build.files.input_file import open_input

from .commands import write_commands
from .installation import InstalledSdk, SdkPackage
from .metadata import ClosureVersion, Note, required, write_dist_info, write_record
from .selection import Kept, Selection
from .tools import kept_commands

_WITHOUT_CODE = "E-CODE-012"


class Written(NamedTuple):
    """A file of the closure. Sizes are in bytes. dropped: targets whose code went; remark: why it stays whole."""

    kept: Kept
    size: int
    dropped: tuple[str, ...] = ()
    remark: str | None = None
    has_no_code: bool = False  # for the GPUs, though for others


class Site(NamedTuple):
    """The directory that was written."""

    place: Path
    files: tuple[Written, ...]
    packages: tuple[tuple[str, str], ...]  # name, version


class Recipe(NamedTuple):
    """What files and packages become. command: of the user, for the note in each package."""

    wish: Wish
    version: ClosureVersion
    command: str
    requires: tuple[str, ...]  # what the applications require


def write_site(sdk: InstalledSdk, selection: Selection, recipe: Recipe, place: Path) -> Site:
    """Writes the new directory `place`. Raises OSError; ChangedInputError for a file that changes meanwhile."""
    place.mkdir()
    wish, version, command, _ = recipe
    files = tuple(_write(each, wish, place) for each in selection.kept)
    packages = []
    commands = kept_commands(each.file for each in selection.kept)
    for package in _packages(sdk, selection, recipe.requires):
        note = Note(command, wish.gpus, package.distribution.version)
        info = write_dist_info(place, package, version, note, commands)
        own = [each.file.path for each in selection.kept if each.file.path in package.files]
        write_record(place, info, [*own, *write_commands(place, package, info, commands)])
        packages.append((package.name, version.of(package.distribution.version)))
    return Site(place, files, tuple(packages))


def _packages(sdk: InstalledSdk, selection: Selection, requires: Iterable[str]) -> Sequence[SdkPackage]:
    """The packages with a kept file that is more than a module, and those that they or the applications require."""
    own = {each.file.distribution for each in selection.kept if each.kind != "module"}
    own |= {package.name for package in sdk.packages if package.name in ("rocm", "rocm-sdk-core")}
    extras = ["rocm[libraries]"] if "rocm-sdk-libraries" in own else []
    names = own | required(sdk.packages, [*own, *extras, *requires])
    return [package for package in sdk.packages if package.name in names]


def _write(kept: Kept, wish: Wish, place: Path) -> Written:
    target = place / kept.file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    if kept.file.link is not None:
        target.symlink_to(kept.file.link)
        return Written(kept, 0)
    with open_input(str(kept.file.source)) as source:
        try:
            made = write_tree_file(source, str(target), wish)
        except RocmSdkError as error:
            raise PackagingError(f"{source.path}: {error.message}", error.fix or "") from error
    remark = made.left.detail if made.left is not None else None
    dropped = made.rewritten.dropped if made.rewritten is not None else ()
    has_none = made.left is not None and made.left.code == _WITHOUT_CODE
    return Written(kept, made.size, dropped, remark, has_none)
