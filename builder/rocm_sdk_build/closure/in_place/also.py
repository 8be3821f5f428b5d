"""The other distributions that become smaller with the SDK: frameworks with GPU code of their own."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from rocm_sdk.errors import RocmSdkError
from rocm_sdk.fit.code.candidate import may_have_code
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.record import read_record, record_text, with_new_digests, without_files
from rocm_sdk_build.closure.choosing.selection import Kept, LeftOut
from rocm_sdk_build.closure.source_sdk import InstalledSdk, SdkPackage, package_of
from rocm_sdk_build.closure.writing.site import Recipe, Written, write_file
from rocm_sdk_build.errors import PackagingError, WrongUsageError
from rocm_sdk_build.files.text_files import write_text
from rocm_sdk_build.inputs.data_selection import select_files

from .changes import Changes

_FIX = "pip list names what is installed"


class Also(NamedTuple):
    """The result of a distribution: the files with GPU code, and the files that go."""

    files: tuple[Written, ...]
    left_out: tuple[LeftOut, ...]
    changes: Changes


def find_others(names: tuple[str, ...], site: str, sdk: InstalledSdk) -> tuple[SdkPackage, ...]:
    """Return the distributions of these names in a directory.

    Raise WrongUsageError for a distribution that is not there or is of the SDK.
    """
    asked = {canonicalize_name(name): name for name in names}
    return tuple(_find(name, shlex.join(["--also", asked[name]]), site, sdk) for name in asked)


def make_smaller(package: SdkPackage, site: str, recipe: Recipe, place: Path) -> Also:
    """Write new files of a distribution into the new directory `place`; return the result.

    Raise PackagingError or OSError if a file cannot be rewritten, read or written.
    """
    place.mkdir()
    files = {path: file for path, file in package.files.items() if file.link is None}
    regular = tuple(sorted(path for path, file in files.items() if str(file.source) == os.path.join(site, path)))
    try:
        choice = select_files(Path(site), regular, recipe.wish.gpus, recipe.wish.unofficial)
    except RocmSdkError as error:
        raise PackagingError(f"{package.name}: {error.message}", error.fix or "") from error
    candidates = [file for path, file in files.items() if path not in choice.left_out and may_have_code(file.source)]
    written = tuple(write_file(Kept(file, "library", f"of {package.name}"), recipe, place) for file in candidates)
    rewritten = [each for each in written if each.is_rewritten]
    left_out = tuple(LeftOut(files[path], f"{package.name}: for other GPUs") for path in choice.left_out)
    links = (path for path in package.files if path not in files and _target_of(site, path) in choice.left_out)
    removed = frozenset({*choice.left_out, *links})
    new = {each.kept.file.path: place / each.kept.file.path for each in rewritten}
    if new or removed:
        record = os.path.relpath(package.distribution.record, site)
        new[record] = _write_record(package, site, place, Changes(new, removed))
    return Also(tuple(written), left_out, Changes(new, removed))


def _find(name: str, option: str, site: str, sdk: InstalledSdk) -> SdkPackage:
    if name in {package.name for package in sdk.packages}:
        raise WrongUsageError(f"{option}: it is a part of the SDK, which is made smaller anyway", "leave it out")
    for info in sorted(Path(site).glob("*.dist-info")):
        if canonicalize_name(info.name.removesuffix(".dist-info").rpartition("-")[0]) == name:
            found = Distribution(str(info))
            if found.fault is not None:
                raise PackagingError(f"{info}: {found.fault}", f"install {name} again")
            return package_of(site, found)
    raise WrongUsageError(f"{option}: {site} has no distribution of this name", _FIX)


def _target_of(site: str, link: str) -> str:
    return os.path.relpath(os.path.realpath(os.path.join(site, link)), site)


def _write_record(package: SdkPackage, site: str, place: Path, changes: Changes) -> Path:
    """Write RECORD with the new digests, and without the files that go; return its path."""
    record = place / "RECORD"
    rows = read_record(package.distribution.record).rows
    rows = without_files(rows, site, {os.path.join(site, path): None for path in changes.removed})
    files = {os.path.join(site, path): str(file) for path, file in changes.new.items()}
    write_text(record, record_text(with_new_digests(rows, site, files)))
    return record
