"""The wish for a build."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from rocm_sdk.terminal.output import fix_of_error
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.code.patchelf import Shape
from rocm_sdk_build.packages.version import check_version

_NONCE = re.compile(r"[A-Za-z0-9_]*")


class Wish(NamedTuple):
    """The wish for a build: the input, the output, and the options."""

    artifacts: Sequence[Path]
    output: Path  # the working directory, which gets a directory `dist`
    version: str  # "": the version that the build of the artifacts states
    nonce: str = ""
    linux_families: str | None = None
    windows_families: str | None = None
    deflate: bool = True
    devel_compression: str = "none"  # compression of the development tree's archive: a key of DEVEL_ARCHIVES
    is_checked: bool = True  # the packages are installed and tested before they appear
    records_pages: bool = False  # core carries a page list, which the test of the packages records
    jobs: int = 0  # threads that compress; 0: one for each processor
    size_limit: int | None = 100_000_000  # limit of the index in bytes for a file: PyPI's
    platform_tag: str | None = None  # the tag of all wheels; None: each has the tag of its files
    makes_packages: bool = True  # False: directories with the content of the packages
    keeps_stack: bool = False  # libraries may ask for an executable stack
    splits_debug: bool = False  # debug information goes into packages of its own
    needs_profiler: bool = True  # there must be files for rocm-profiler
    loader: Path | None = None  # the wheel of rocm-sdk-loader, which lies beside the packages then
    brings_loader: bool = False  # without `loader`: the running loader's wheel lies beside a selector
    dist: Path | None = None  # directory in which the packages appear, if not in `output / "dist"`
    written: Path | None = None  # a directory of input that this run has written itself
    shape: Shape = Shape.RPATH
    key: str = ""  # a text in the comment of the wheels, see `wheel_key`
    only: Sequence[str] = ()  # short names of the packages that are made; (): all
    is_strict: bool = False  # each file of the artifacts must be in a package, or a rule must leave it
    is_whole: bool = False  # the packages are always made together, so each knows the others' libraries

    @property
    def names(self) -> str:
        """The names of the artifacts, for messages."""
        return ", ".join(map(str, self.artifacts))


def check_names(wish: Wish) -> None:
    """Raise PackagingError for an invalid version or nonce, and for a loader that is not the loader's wheel."""
    if wish.version:
        check_version(wish.version)
    if wish.loader is not None and not (is_loader(wish.loader) and zipfile.is_zipfile(wish.loader)):
        raise PackagingError(f"--loader {wish.loader}: is not a wheel of rocm-sdk-loader")
    if not _NONCE.fullmatch(wish.nonce):
        raise PackagingError(f"--version-suffix {wish.nonce!r}: names of directories end with letters, digits and `_`")


def refuse_output_inside(roots: Iterable[Path], output: Path) -> None:
    """Raise PackagingError for an output in one of the directories that are packaged."""
    place = Path(os.path.realpath(output))  # Path.resolve refuses a link to itself
    for root in map(Path.resolve, roots):
        if root == place or root in place.parents:
            raise PackagingError(
                f"{output}: is in {root}, which is packaged: the next build would package its packages",
                "--output DIR outside of it",
            )


def is_loader(path: Path) -> bool:
    """Return whether a file has the name of a wheel of rocm-sdk-loader."""
    try:
        return parse_wheel_filename(path.name)[0] == "rocm-sdk-loader"
    except InvalidWheelFilename:
        return False


@contextmanager
def naming_output(wish: Wish) -> Iterator[None]:
    """Yield to a block, and turn an error of the system that names no file into an error that names the output."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        what = f"{wish.output}: the packages cannot be written there: {error.strerror}"
        raise PackagingError(what, fix_of_error(error) or "") from error
