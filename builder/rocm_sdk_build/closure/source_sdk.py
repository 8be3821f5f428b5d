"""The installed SDK from which a closure is made: its distributions, and the files that their RECORDs list.

A row of RECORD is used only if it leads to a regular file inside the directory, or to a relative link. A link of an
installer (uv's --link-mode symlink) is used only if the file behind it is the file of RECORD.
"""

from __future__ import annotations

import base64
import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from pathlib import Path
from typing import NamedTuple

from rocm_sdk.installed.directory_walk import DEPTH_LIMIT
from rocm_sdk.installed.distributions import Distribution
from rocm_sdk.installed.record import RecordedFile, digest_text
from rocm_sdk.installed.view import current
from rocm_sdk_build.base.digest import sha256_of
from rocm_sdk_build.base.errors import PackagingError
from rocm_sdk_build.inputs.file_kind import Facts, Kind, look_at

# The distribution of the development tree, which has links to files of packages, and the start of its directory's name.
DEVELOPMENT, _DEVELOPMENT_TREE = "rocm-sdk-devel", "_rocm_sdk_devel"
_SHA256 = re.compile(r"sha256=([\w-]{43})", re.ASCII)


class SdkFile(NamedTuple):
    """A file of a distribution.

    `path` is relative to `site`, the directory of the packages; `source` is the place of the file. `link` is the text
    of a relative link, else None. `size` is in bytes, and 0 for a link. `row` is the row of RECORD, and `record` the
    state of RECORD when it was read.
    """

    path: str
    site: str
    source: Path
    distribution: str
    size: int
    link: str | None
    row: RecordedFile
    record: os.stat_result | None

    @property
    def package(self) -> str:
        """The top-level directory of the path."""
        return self.path.partition("/")[0]

    @property
    def place(self) -> str:
        """The path below the package's directory."""
        return self.path.partition("/")[2]

    def recorded_digest(self, now: os.stat_result) -> str | None:
        """Return the SHA-256 that RECORD has, in hexadecimal digits, or None if the file may have changed since.

        The file is unchanged if it has the size in RECORD, and its times show that it was written, and otherwise
        changed, before RECORD was: installers write RECORD last. `now` are the facts of the file. A file that was
        copied with its times, or that got another name since, as a hard link of uv's cache does in a second
        environment, counts as a file that may have changed.
        """
        digest, record = _SHA256.fullmatch(self.row.digest), self.record
        if digest is None or record is None or now.st_size != self.row.size:
            return None
        if max(now.st_mtime_ns, now.st_ctime_ns) >= min(record.st_mtime_ns, record.st_ctime_ns):
            return None
        return base64.urlsafe_b64decode(f"{digest[1]}=").hex()


class SdkPackage(NamedTuple):
    """A distribution of the SDK, and its files that are not metadata, by path."""

    distribution: Distribution
    files: dict[str, SdkFile]
    scripts: tuple[str, ...]  # rows of RECORD that lead to commands of the environment

    @property
    def name(self) -> str:
        """The normalised name of the distribution: "rocm-sdk-core"."""
        return self.distribution.name


class InstalledSdk:
    """The SDK of this environment, or of ROCM_SDK_ROOT."""

    def __init__(self) -> None:
        """Find the SDK and its files.

        Raise PackageNotInstalledError if there is no SDK, and PackagingError for an SDK that was not installed as
        packages.
        """
        self._installed = current()
        directories = self._installed.directories
        self.sites = tuple(dict.fromkeys(map(os.path.dirname, directories)))
        self.packages = tuple(self._packages())
        self.files = {path: file for package in self.packages for path, file in package.files.items()}
        self._facts: dict[str, Facts] = {}
        tops = {file.package for file in self.files.values()}
        if missing := [each for each in directories if os.path.basename(each) not in tops]:
            raise PackagingError(
                f"{missing[0]}: no RECORD lists its files", "make packages of this ROCm: rocm-sdk-build prefix"
            )

    @property
    def version(self) -> str | None:
        """The version of ROCm, or None if the SDK does not state it."""
        return self._installed.sdk.facts()["version"]

    @cached_property
    def by_source(self) -> dict[str, SdkFile]:
        """The files by their real paths; of several links to one file the file itself."""
        found: dict[str, SdkFile] = {}
        for file in sorted(self.files.values(), key=lambda each: (each.link is None, each.path)):
            found[os.path.realpath(file.source)] = file
        return found

    def facts(self, file: SdkFile) -> Facts:
        """Return the facts of a file; the errors are the same as for look_at."""
        if file.path not in self._facts:
            self._facts[file.path] = Facts(Kind.DATA) if file.link is not None else look_at(file.source)
        return self._facts[file.path]

    def _packages(self) -> Iterator[SdkPackage]:
        for site in self.sites:
            for distribution in self._installed.distributions_in(site):
                if distribution.fault is not None and distribution.has_sdk_files:
                    raise PackagingError(
                        f"{distribution.directory}: {distribution.fault}", "rocm-sdk test says how to repair it"
                    )
                if distribution.has_sdk_files or distribution.name == "rocm":
                    yield _package_of(site, distribution)


def _package_of(site: str, distribution: Distribution) -> SdkPackage:
    """Return the package of a distribution.

    Raise PackagingError for a RECORD that names anything but files of a package.
    """
    own = f"{os.path.basename(distribution.directory)}/"
    files: dict[str, SdkFile] = {}
    scripts = []
    leaves = cache(partial(_leaves, site))
    for row in distribution.files:
        if row.path.count("/") > DEPTH_LIMIT:
            what = (
                f"{distribution.record}: lists {row.path[:60]!r}..., which is more than {DEPTH_LIMIT} directories deep"
            )
            raise PackagingError(what, "install the package again")
        if row.path.startswith((own, _DEVELOPMENT_TREE)) or row.path.endswith(".pyc"):
            continue
        if row.path.startswith("../") or row.path.startswith("bin/"):
            scripts.append(row.path)
        elif (file := _file(site, row, distribution, leaves)) is not None:
            files[file.path] = file
    return SdkPackage(distribution, files, tuple(scripts))


def _file(site: str, row: RecordedFile, owner: Distribution, leaves: Callable[[str], bool]) -> SdkFile | None:
    """Return the file of a row; None for a directory, and for an absent file, which `rocm-sdk test` reports.

    `leaves` says whether a directory is a link, as _leaves does. Raise PackagingError for a row that leads elsewhere.
    """
    path, distribution = row.path, owner.name
    if os.path.isabs(path) or "\0" in path:
        raise PackagingError(f"{distribution}: RECORD lists {path!r}, which is not a file of a package")
    source = Path(site, path)
    if leaves(os.path.dirname(path)):
        raise PackagingError(f"{source}: a directory of its path is a symbolic link", "install the package again")
    try:
        facts = source.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(facts.st_mode):  # a directory of the development tree, listed so that pip removes it
        return None
    if stat.S_ISREG(facts.st_mode):
        return SdkFile(path, site, source, distribution, facts.st_size, None, row, owner.record_facts)
    if not stat.S_ISLNK(facts.st_mode):
        raise PackagingError(f"{source}: is neither a file nor a link", "install the package again")
    text = str(source.readlink())
    if not os.path.isabs(text):
        if os.path.normpath(os.path.join(os.path.dirname(path), text)).startswith("../"):
            raise PackagingError(f"{source}: the link leads out of the packages", "install the package again")
        return SdkFile(path, site, source, distribution, 0, text, row, owner.record_facts)
    real = Path(os.path.realpath(source))
    if not real.is_file() or not row.digest or digest_text(sha256_of(real)) != row.digest:
        what = f"{source}: the file behind the link is not the one of RECORD"
        raise PackagingError(what, "install the package again")
    return SdkFile(path, site, real, distribution, real.stat().st_size, None, row, owner.record_facts)


def _leaves(site: str, directory: str) -> bool:
    """Return whether a directory of a package, or one above it, is a link."""
    if not directory:
        return False
    return os.path.realpath(os.path.join(site, directory)) != os.path.join(os.path.realpath(site), directory)
