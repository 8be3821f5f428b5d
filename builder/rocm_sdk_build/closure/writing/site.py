"""The writer of the closure as a directory like site-packages: files with the GPU code that stays, links, dist-info."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rocm_sdk import Coverage, device_code
from rocm_sdk.base.value_text import size_text
from rocm_sdk.errors import RocmSdkError
from rocm_sdk.installed.distributions import without_closure
from rocm_sdk.targets import compatibility
from rocm_sdk.terminal.progress import waiting
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.base.input_file import open_input
from rocm_sdk_build.closure.choosing.selection import Kept, Selection
from rocm_sdk_build.closure.choosing.tools import commands_left_out, kept_commands
from rocm_sdk_build.closure.source_sdk import DEVELOPMENT, InstalledSdk
from rocm_sdk_build.code.rewrite import NewCode
from rocm_sdk_build.code.tree_file import write_tree_file

from .commands import write_commands
from .metadata import ClosureVersion, Note, required, write_dist_info, write_record

_WITHOUT_CODE = "E-CODE-012"


class Written(NamedTuple):
    """A file of the closure; sizes are in bytes.

    `dropped` are targets whose code was removed, and `remark` is the reason why the file stays whole.
    """

    kept: Kept
    size: int
    dropped: tuple[str, ...] = ()
    remark: str | None = None
    digest: str = ""  # digest of RECORD, if it is known without reading the file
    has_no_code: bool = False  # no code for the GPUs, only for others


class Site(NamedTuple):
    """The directory that was written."""

    place: Path
    files: tuple[Written, ...]
    packages: tuple[tuple[str, str], ...]  # (name, version)
    code: Coverage | None = None  # verdicts of check-gpu for the GPUs; None without GPUs


class Recipe(NamedTuple):
    """The recipe for files and packages; `command` is the user's, for the note in each package."""

    wish: NewCode
    version: ClosureVersion
    command: str
    requires: tuple[str, ...]  # of the applications
    may_link: bool = False  # files without changes become hard links


def write_site(sdk: InstalledSdk, selection: Selection, recipe: Recipe, place: Path) -> Site:
    """Write the new directory `place`; return the site.

    Raise OSError if a file cannot be read or written, and ChangedInputError for a file that changes meanwhile.
    """
    place.mkdir()
    names = _package_names(sdk, selection, recipe)
    packages = [package for package in sdk.packages if package.name in names]
    chosen = [each for each in selection.kept if each.file.distribution in {package.name for package in packages}]
    commands = kept_commands(each.file for each in chosen)
    left_out = commands_left_out(commands)
    files = _write_files(chosen, recipe, place)
    kept = {each.file.path for each in chosen}
    digests = {each.kept.file.path: each.digest for each in files if each.digest}
    for package in packages:
        note = Note(recipe.command, recipe.wish.gpus, without_closure(package.distribution.version))
        info = write_dist_info(place, package, recipe.version, note, left_out)
        own = [path for path in package.files if path in kept]
        own += write_commands(place, package, info, commands)
        write_record(place, info, own, digests)
    versions = tuple((each.name, recipe.version.of(each.distribution.version)) for each in packages)
    return Site(place, files, versions)


def _write_files(chosen: Sequence[Kept], recipe: Recipe, place: Path) -> tuple[Written, ...]:
    written = []
    with waiting("reading the GPU code"):
        sizes = [_expected(each, recipe) for each in chosen]
    with waiting("writing files", sum(sizes), size_text) as wait:
        for each, size in zip(chosen, sizes, strict=True):
            written.append(_write_file(each, recipe, place))
            wait.step(os.path.basename(each.file.path), size)
    return tuple(written)


def _expected(kept: Kept, recipe: Recipe) -> int:
    if kept.kind not in {"library", "program"} or kept.file.link is not None:
        return kept.file.size
    return expected_size(str(kept.file.source), kept.file.size, recipe.wish)


def _package_names(sdk: InstalledSdk, selection: Selection, recipe: Recipe) -> set[str]:
    """Return the names of the packages of the closure.

    The closure has packages with a kept file that is more than their module, and packages that these or the
    applications require.
    """
    own = {each.file.distribution for each in selection.kept if each.kind != "module"}
    own |= {package.name for package in sdk.packages if package.name in ("rocm", "rocm-sdk-core")}
    extras = ["rocm[libraries]"] if "rocm-sdk-libraries" in own else []
    return own | required(sdk.packages, [*own - {DEVELOPMENT}, *extras, *recipe.requires])


def _write_file(kept: Kept, recipe: Recipe, place: Path) -> Written:
    """Write a file of the closure, with the GPU code that stays, below `place`.

    Raise PackagingError if the file cannot be rewritten.
    """
    target = place / kept.file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    if kept.file.link is not None:
        target.symlink_to(kept.file.link)
        return Written(kept, 0)
    with open_input(str(kept.file.source)) as source:
        known = kept.file.recorded_digest(source.facts)
        try:
            made = write_tree_file(source._replace(sha256=known), str(target), recipe.wish, may_link=recipe.may_link)
        except RocmSdkError as error:
            raise PackagingError(f"{source.path}: {error.message}", error.fix or "") from error
    remark = made.left.detail if made.left is not None else None
    dropped = made.rewritten.dropped if made.rewritten is not None else ()
    has_none = made.left is not None and made.left.code == _WITHOUT_CODE
    digest = kept.file.row.digest if known is not None and made.rewritten is None else ""
    return Written(kept, made.size, dropped, remark, digest, has_none)


def expected_size(path: str, size: int, wish: NewCode) -> int:
    """Return the bytes of a library or program of this size without the code that no GPU of the wish runs.

    A file that cannot be read counts with all its bytes.
    """
    if not wish.gpus:
        return size
    try:
        code = device_code(path)
    except (OSError, RocmSdkError):  # writing the file will show the fault
        return size
    whole = sum(target.size for target in code.targets)
    if whole == 0:
        return size
    used = sum(target.size for target in code.targets if _is_kept(target.target, wish))
    return size - round(code.stored_size * (1 - used / whole))


def _is_kept(target: str, wish: NewCode) -> bool:
    """Return whether code for a target stays; code for an unknown target stays."""
    try:
        return any(compatibility(target, gpu, unofficial=wish.unofficial).fit != "none" for gpu in wish.gpus)
    except RocmSdkError:
        return True
